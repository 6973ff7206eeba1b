import { createServer, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import { requestTimeMs } from '../../../shared/ids/request-id.ts';
import type { NewModel } from '../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { MINUTE_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { killFunction, settleCrashes } from '../../support/faults/settle-crashes.ts';
import type { LoggedWrite } from '../../support/faults/write-log.ts';
import { createKey } from '../../support/fixtures/create-key.ts';
import { type Caller, createEveryKindOfKey } from '../../support/fixtures/every-kind-of-key.ts';
import { limitProject } from '../../support/fixtures/limit-organization.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { sized } from '../../support/sized.ts';

const MODELS = ['first', 'second', 'third'] as const;
const INFERENCE = 'inference';
// Each environment is a process, and all of them are killed at once.
const ENVIRONMENTS = '3';
const ROUNDS_OF_A_POINT = sized(1, 15);
// A point of the end user's key is only met by a request that gets so far.
const MAX_ATTEMPTS = 20;
const REQUESTS_OF_A_USER = 3;
const USERS_OF_LAST_KEY = 2;
const GRANTED = 1_000_000_000n;
const LIMITS_OF_A_USER = { requestsPerMinute: 4, tokensPerMinute: 10_000, concurrency: 2, monthlyBudgetNanos: 250_000n };
// Prices change so often, with as many versions as a model can have.
const PRICES = 100;
const PRICE_MS = sized(1, 6) * SECOND_MS;
const MAX_TRIES = 200;
const RESTART_MS = 50;
const TIMEOUT_MS = sized(300_000, 1_800_000);

// A request's process is killed at each of them.
const POINTS = [
  'before its admission',
  'after its key has admitted it',
  'after its end user has admitted it',
  'after its organization has admitted it',
  'during the first model',
  'between the models',
  'during a fallback',
  'in the answer of a fallback',
  'before its event',
  'after its event',
  'after its first release',
] as const;
type Point = (typeof POINTS)[number];

const random = seededRandom(20_261_127);

// Kills the processes as soon as any request reaches the point.
const createKiller = (state: () => string) => {
  let armed: Point | undefined;
  const kills = new Map<Point, number>(POINTS.map((point) => [point, 0]));
  return {
    kills,
    isArmed: (): boolean => armed !== undefined,
    arm: (point: Point): void => {
      armed = point;
    },
    /** True if this has killed them. */
    reach: (point: Point): boolean => {
      if (armed !== point) return false;
      armed = undefined;
      kills.set(point, (kills.get(point) ?? 0) + 1);
      return killFunction(state(), INFERENCE) > 0;
    },
  };
};
type Killer = ReturnType<typeof createKiller>;

const pointOf = (write: LoggedWrite, when: 'before' | 'after'): Point | undefined => {
  if (write.kind === 'event') return when === 'before' ? 'before its event' : 'after its event';
  const { kind, limiterId } = write;
  const owner = limiterId.includes('@') ? 'end user' : limiterId.startsWith('org_') ? 'organization' : 'key';
  if (when === 'before') return kind === 'admitted' && owner === 'key' ? 'before its admission' : undefined;
  if (kind === 'released') return owner === 'key' ? undefined : 'after its first release';
  return kind === 'admitted' && !limiterId.startsWith('prj_') ? `after its ${owner} has admitted it` : undefined;
};

interface Answered {
  model: (typeof MODELS)[number];
  tokens: bigint;
}

const upTo = (most: number): number => Math.floor(random() * (most + 1));

// The first model always fails, the second one sometimes, and the third one never.
const startFailingContainer = async (killer: Killer) => {
  const answered = new Map<string, Answered>();
  const send = (response: ServerResponse, status: number, body: object): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const fail = (response: ServerResponse): void => {
    response.once('finish', () => killer.reach('between the models'));
    send(response, 500, { error: { message: 'Out of memory.', type: 'InternalServerError', param: null, code: 500 } });
  };
  const write = (response: ServerResponse, chunk: object): void => void response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  const answer = (response: ServerResponse, model: Answered['model'], requestId: string): void => {
    const usage = { prompt_tokens: 1 + upTo(900), completion_tokens: 1 + upTo(5) };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    write(response, { choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }] });
    killer.reach('in the answer of a fallback');
    answered.set(requestId, { model, tokens: BigInt(usage.prompt_tokens + usage.completion_tokens) });
    write(response, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    write(response, { choices: [], usage });
    response.end('data: [DONE]\n\n');
  };
  const server: Server = createServer(async (incoming, response) => {
    if (incoming.method === 'GET') return send(response, 200, { object: 'list', data: [{ id: 'any', object: 'model' }] });
    const { model, request_id: requestId } = (await json(incoming)) as { model: Answered['model']; request_id: string };
    killer.reach(model === 'first' ? 'during the first model' : 'during a fallback');
    if (model === 'first' || (model === 'second' && random() < 0.3)) fail(response);
    else answer(response, model, requestId);
  });
  return { url: await listen(server, 0), answered, close: () => closeServer(server) };
};

const createPrices = () => {
  const nanosOf = new Map<string, bigint>();
  const start = Date.now();
  const pricesOf = (model: string): NewModel['prices'] => {
    const [first, ...others] = Array.from({ length: PRICES }, (_, i) => {
      const nanos = 1 + upTo(99);
      const version = `${model} ${i}`;
      nanosOf.set(version, BigInt(nanos));
      const nanosPerMillion = nanos * 1_000_000;
      return {
        version,
        effective_at: i === 0 ? 0 : start + i * PRICE_MS,
        prompt_nanos: nanosPerMillion,
        completion_nanos: nanosPerMillion,
      };
    });
    return [first as NonNullable<typeof first>, ...others];
  };
  return { nanosOf, pricesOf };
};

let database: TestDatabase;
let proxy: FaultProxy;
let container: Awaited<ReturnType<typeof startFailingContainer>>;
let run: TestRun;
const killer = createKiller(() => run.state);
const { nanosOf, pricesOf } = createPrices();
beforeAll(async () => {
  database = await startTestDatabase();
  const { Keys: keysTable = '', Usage: usageTable = '' } = database.tables;
  const breaksAt = (write: LoggedWrite, when: 'before' | 'after'): boolean => {
    const point = pointOf(write, when);
    return point !== undefined && killer.reach(point);
  };
  proxy = await startFaultProxy(database.url, { random, keysTable, usageTable, breaksAt });
  container = await startFailingContainer(killer);
  process.env.DYNAMODB_ENDPOINT = proxy.url;
  try {
    run = await startTestRun('--environments', ENVIRONMENTS, '--container', container.url);
  } finally {
    delete process.env.DYNAMODB_ENDPOINT;
  }
  const tiny = await run.models.get(SERVERLESS_POOL, run.model);
  if (!tiny) throw new Error('The local run has no model.');
  const [target] = tiny.targets;
  const sizes = { context_length: 1_000, max_output_tokens: 100, default_output_tokens: 50 };
  for (const name of MODELS) {
    const model = { name, status: 'published', created: 0, dialect: 'vllm', ...sizes } as const;
    await run.models.put(SERVERLESS_POOL, { ...model, targets: [{ ...target, container_model: name }], prices: pricesOf(name) });
  }
});
afterAll(async () => {
  await run.close();
  await container.close();
  await proxy.close();
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

type Ending = { status: number; code?: string; param?: string } | 'cut';

const ask = async ({ secret }: Caller, user: string): Promise<Ending> => {
  const stream = random() < 0.5;
  const [model, ...models] = MODELS;
  const body = { model, models, user, stream, max_tokens: 6, messages: [{ role: 'user', content: 'Hello' }] };
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  try {
    const response = await fetch(`${run.base_url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (response.status === 200) return stream && !text.includes('[DONE]') ? 'cut' : { status: 200 };
    return { status: response.status, ...(JSON.parse(text) as { error: { code: string; param: string } }).error };
  } catch {
    return 'cut';
  }
};

const isNoProcess = (ending: Ending): boolean => ending !== 'cut' && ending.status === 503;

// Until processes have been started again. A 503 is also the reply of one that was killed.
const askOnceServing = async (caller: Caller, user: string): Promise<Ending> => {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ending = await ask(caller, user);
    if (!isNoProcess(ending)) return ending;
    await delay(RESTART_MS);
  }
  throw new Error(`${run.base_url} was not serving in ${MAX_TRIES} tries.`);
};

// Its requests have all limiters: its own, an end user's, a project's and a prepaid organization's.
const createLimitedKey = async (organization: string): Promise<Caller> => {
  const { limiters } = database;
  const project_id = newId('project');
  await limitProject(limiters, project_id, organization, { month: GRANTED });
  const limits = { requests_per_minute: 24_000, tokens_per_minute: 10_000_000, concurrency: 12 };
  const fields = { org: organization, scope: 'serverless', project_id, per_user: LIMITS_OF_A_USER, ...limits } as const;
  const { key_id: keyId, secret } = await createKey(limiters, fields);
  return { secret, keyId, shards: 1, organization };
};

// Each limiter of an end user admitted at most what its limits allow, in the order of its writes.
const expectLimitsOfUsers = (): void => {
  const inFlight = new Map<string, Set<string>>();
  const counted = new Map<string, Set<string>>();
  for (const write of proxy.writes()) {
    if (write.kind === 'event' || !write.limiterId.includes('@')) continue;
    const { kind, limiterId, requestId } = write;
    const now = inFlight.get(limiterId) ?? new Set();
    const all = counted.get(limiterId) ?? new Set();
    if (kind === 'admitted') for (const ids of [now, all]) ids.add(requestId);
    else now.delete(requestId);
    if (kind === 'undone') all.delete(requestId);
    inFlight.set(limiterId, now);
    counted.set(limiterId, all);
    expect(now.size).toBeLessThanOrEqual(LIMITS_OF_A_USER.concurrency);
  }
  // The users of each point but the one before any admission, where all can be killed; and those of the last key.
  expect(counted.size).toBeGreaterThanOrEqual(ROUNDS_OF_A_POINT * (POINTS.length - 1) + USERS_OF_LAST_KEY);
  for (const ids of counted.values()) {
    const times = [...ids].map(requestTimeMs);
    for (const start of times)
      expect(times.filter((time) => time >= start && time < start + MINUTE_MS).length).toBeLessThanOrEqual(
        LIMITS_OF_A_USER.requestsPerMinute,
      );
  }
};

test(
  'requests with fallbacks are counted and charged exactly after kills at each of their steps',
  async () => {
    const { database: stored, limiters, tables } = database;
    const callers: Caller[] = [];
    const endings: Ending[] = [];
    const oneKill = async (point: Point, others: readonly Caller[]): Promise<void> => {
      // Requests that were killed before still fill the limits of the other keys like this one.
      const limited = await createLimitedKey((others.at(-1) as Caller).organization);
      callers.push(limited);
      killer.arm(point);
      for (let attempt = 0; attempt < MAX_ATTEMPTS && killer.isArmed(); attempt++) {
        const together = [others[upTo(others.length - 1)] as Caller, ...Array<Caller>(REQUESTS_OF_A_USER).fill(limited)];
        endings.push(...(await Promise.all(together.map((caller) => askOnceServing(caller, `user ${attempt}`)))));
      }
      expect({ point, isArmed: killer.isArmed() }).toEqual({ point, isArmed: false });
    };
    for (let round = 0; round < ROUNDS_OF_A_POINT; round++) {
      const others = await createEveryKindOfKey({ database: stored, limiters, accountsTable: tables.Accounts as string }, GRANTED);
      callers.push(...others);
      for (const point of POINTS.toSorted(() => random() - 0.5)) await oneKill(point, others);
    }
    for (const kills of killer.kills.values()) expect(kills).toBe(ROUNDS_OF_A_POINT);

    // Each caller got its whole reply, the limit that it met, or a broken connection.
    expect(endings.filter((ending) => ending !== 'cut' && ![200, 429].includes(ending.status))).toEqual([]);
    for (const ending of endings) if (ending !== 'cut' && ending.status === 429) expect(ending.param).toBe('user');
    expect(endings.filter((ending) => ending !== 'cut' && ending.status === 200).length).toBeGreaterThan(POINTS.length);
    // Requests that were killed are held until the sweep, and no longer.
    const last = callers.at(-1) as Caller;
    for (let held = 0; held < LIMITS_OF_A_USER.concurrency; held++) {
      await askOnceServing(last, 'another');
      killer.arm('during a fallback');
      await ask(last, 'held');
      expect(killer.isArmed()).toBe(false);
    }
    expect(await askOnceServing(last, 'held')).toMatchObject({ status: 429, param: 'user' });
    expectLimitsOfUsers();
    const events = await settleCrashes({ database, proxy, callers, granted: GRANTED });
    // Processes remember for some seconds that a user was rejected.
    killFunction(run.state, INFERENCE);
    expect(await askOnceServing(last, 'held')).toEqual({ status: 200 });

    const outcomes = Map.groupBy(events, ({ outcome }) => outcome);
    expect([...outcomes.keys()].toSorted()).toEqual(['completed', 'orphaned']);
    for (const { request_id, model, price_version, cost_nanos, fallback, attempts = [] } of outcomes.get('completed') ?? []) {
      const { tokens, ...answer } = container.answered.get(request_id) as Answered;
      expect({ model }).toEqual(answer);
      expect(cost_nanos).toBe(tokens * (nanosOf.get(price_version ?? '') as bigint));
      const index = MODELS.indexOf(answer.model);
      expect([fallback, attempts.map((attempt) => attempt.model)]).toEqual([index, MODELS.slice(0, index)]);
    }
    for (const { cost_nanos } of outcomes.get('orphaned') ?? []) expect(cost_nanos).toBe(0n);
    expect(events.filter(({ is_capped }) => is_capped)).toEqual([]);
    const versions = new Set(events.flatMap(({ price_version }) => price_version ?? []));
    expect(versions.size).toBeGreaterThan(MODELS.length);
  },
  TIMEOUT_MS,
);
