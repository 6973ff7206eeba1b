import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { seededRandom } from '../../../../infra/local/sagemaker/seeded-random.ts';
import type { Inventory } from '../../../../shared/models/inventory.ts';
import { createInventory } from '../../../../shared/models/inventory.ts';
import { type Model, Model as ModelSchema } from '../../../../shared/models/model.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { toUpstreamError } from '../../../../shared/upstream/errors.ts';
import type { Invocation, Invoke } from '../../../../shared/upstream/invocation.ts';
import { makeCaller } from '../../../support/fixtures/callers.ts';
import { read, startTestPipeline, type TestPipeline, text } from '../../../support/fixtures/pipeline.ts';
import { sweepNow } from '../../../support/fixtures/sweep-now.ts';
import { sized } from '../../../support/sized.ts';
import { FAILURES } from './fallback-fixtures.ts';

const KILLS = sized(15, 10_000);
const REQUESTS_OF_A_KEY = sized(50, 150);
const AT_ONCE = 10;
const SWEPT_AFTER_MS = 12 * MINUTE_MS;
const TIMEOUT_MS = sized(300_000, 7_200_000);
const MODELS = ['a', 'b', 'c', 'd'];
const NEVER = new Promise<never>(() => undefined);

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await startTestPipeline();
});
afterAll(() => pipeline.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  // The timers of requests whose process was killed must not keep this one alive.
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const start = globalThis[name] as typeof setTimeout;
    jest.spyOn(globalThis, name).mockImplementation(((...call: Parameters<typeof start>) => start(...call).unref()) as never);
  }
});
afterEach(() => {
  jest.restoreAllMocks();
});

const random = seededRandom(20_261_126);
const upTo = (most: number): number => Math.floor(random() * (most + 1));
const oneOf = <Value>(values: readonly Value[]): Value => values[upTo(values.length - 1)] as Value;

// Each change of a price has a version of its own, in force at once.
const createChangingPrices = () => {
  let versions = 0;
  const nanosOf = new Map<string, bigint>();
  const models = new Map<string, Model>();
  const change = (name: string): void => {
    const nanos = 1 + upTo(99);
    const version = `v${++versions}`;
    nanosOf.set(version, BigInt(nanos));
    const prices = [{ version, effective_at: 0, prompt_nanos: nanos * 1_000_000, completion_nanos: nanos * 1_000_000 }];
    const sizes = { context_length: 1_000, max_output_tokens: 100, default_output_tokens: 50 };
    models.set(name, ModelSchema.parse({ name, status: 'published', created: 0, targets: [{ endpoint: name }], prices, ...sizes }));
  };
  for (const name of MODELS) change(name);
  // A clock that jumps refreshes the inventory with every read.
  let nowMs = 0;
  const inventory: Inventory = createInventory({ list: async () => new Map(models) }, 'serverless', () => (nowMs += MINUTE_MS));
  return { change: () => change(oneOf(MODELS)), nanosOf, inventory };
};

type Kill = 'at the model' | 'before the event' | 'before the release';

interface Sent {
  kill: Kill | undefined;
  /** The tokens of the answer that was delivered, and the model that gave it. */
  answered?: { model: string; tokens: number };
}

const run = async (prices: ReturnType<typeof createChangingPrices>, killsLeft: number) => {
  const sent = new Map<string, Sent>();
  const killed = new Map<string, () => void>();
  const sentBy = (id: string): Sent => sent.get(id) as Sent;
  const die = (id: string): Promise<never> => {
    killed.get(id)?.();
    return NEVER;
  };

  const invoke: Invoke = async function* ({ body, target: { endpoint } }: Invocation) {
    const { request_id: id } = JSON.parse(body) as { request_id: string };
    const own = sentBy(id);
    if (random() < 0.3) prices.change();
    if (random() < 0.5) throw toUpstreamError(Object.assign(new Error(), oneOf(Object.values(FAILURES))));
    if (own.kill === 'at the model') await die(id);
    const prompt_tokens = 1 + upTo(20);
    const completion_tokens = 1 + upTo(20);
    yield text('Hello');
    if (random() < 0.3) prices.change();
    own.answered = { model: endpoint, tokens: prompt_tokens + completion_tokens };
    yield [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, { choices: [], usage: { prompt_tokens, completion_tokens } }];
  };
  const { database, limiters } = pipeline;
  const { usage } = database;
  const caller = makeCaller(limiters, Date.now);
  const { eventOf, serveEvent, events, inFlight, keyId } = await pipeline.setUp(
    invoke,
    {
      modelsOf: () => prices.inventory,
      usage: {
        ...usage,
        putIfAbsent: (event, shards) =>
          sentBy(event.request_id).kill === 'before the event' ? die(event.request_id) : usage.putIfAbsent(event, shards),
      },
      keys: {
        ...caller,
        store: {
          ...limiters,
          end: (ending) => (sentBy(ending.requestId).kill === 'before the release' ? die(ending.requestId) : limiters.end(ending)),
        },
      },
    },
    { total_budget_nanos: 1_000_000_000n },
  );

  const send = async (kill: Kill | undefined): Promise<void> => {
    const [model, ...models] = MODELS.toSorted(() => random() - 0.5).slice(0, 1 + upTo(3));
    const stream = random() < 0.5;
    const event = eventOf({ model, models, stream });
    sent.set(event.requestId, { kill });
    const death = new Promise<void>((resolve) => killed.set(event.requestId, resolve));
    const answer = async (): Promise<void> => {
      const reply = await serveEvent(event).catch(() => undefined);
      if (reply && typeof reply.body !== 'string') await read(reply);
    };
    await Promise.race([answer(), death]);
  };
  let kills = 0;
  for (let i = 0; i < REQUESTS_OF_A_KEY; i += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, () => {
        const kill =
          kills < killsLeft && random() < 0.5 ? oneOf<Kill>(['at the model', 'before the event', 'before the release']) : undefined;
        if (kill) kills++;
        return send(kill);
      }),
    );
  await sweepNow({
    limiters: database.limiters,
    usage,
    now: () => Date.now() + SWEPT_AFTER_MS,
    maxInFlightMs: SWEPT_AFTER_MS - MINUTE_MS,
    hasTime: () => true,
    database: database.database,
  });
  return { sent, kills, events: await events(), inFlight: await inFlight(), item: await database.limiters.whole(keyId) };
};

test(
  `requests over several models cost exactly what answered, after ${KILLS} kills and failures`,
  async () => {
    const prices = createChangingPrices();
    for (let kills = 0; kills < KILLS; ) {
      const { sent, kills: more, events, inFlight, item } = await run(prices, KILLS - kills);
      kills += Math.max(1, more);
      expect(inFlight).toBe(0);
      expect(events.map(({ request_id }) => request_id)).toEqual([...sent.keys()].sort());
      let costNanos = 0n;
      for (const { request_id, outcome, model, price_version, cost_nanos, attempts = [], fallback } of events) {
        const { kill, answered } = sent.get(request_id) as Sent;
        const isLost = outcome === 'orphaned';
        expect(isLost).toBe(isLost && kill !== undefined && kill !== 'before the release');
        const isCharged = answered !== undefined && !isLost;
        if (isCharged) expect([model, fallback ?? 0]).toEqual([answered.model, attempts.length]);
        expect(cost_nanos).toBe(isCharged ? BigInt(answered.tokens) * (prices.nanosOf.get(price_version ?? '') as bigint) : 0n);
        costNanos += cost_nanos;
      }
      expect(BigInt(item?.spent ?? 0)).toBe(costNanos);
    }
  },
  TIMEOUT_MS,
);
