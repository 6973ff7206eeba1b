import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { countedNanosAt, type LimiterItem } from '../../../../shared/admission/item/limiter-item.ts';
import { createDeployments } from '../../../../shared/models/deployments.ts';
import { costNanos, type Price } from '../../../../shared/prices/price.ts';
import type { Invoke } from '../../../../shared/upstream/invocation.ts';
import { limitOrganization } from '../../../support/fixtures/limit-organization.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { answers, noTokenizer, read, startTestPipeline, type TestPipeline, text } from '../../../support/fixtures/pipeline.ts';
import { sized } from '../../../support/sized.ts';

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await startTestPipeline();
});
afterAll(async () => {
  await pipeline.close();
});
let logged: ReturnType<typeof jest.spyOn>;
beforeEach(() => {
  logged = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const counting = (prompt_tokens: number, completion_tokens: number): Invoke =>
  async function* () {
    yield text('Hello');
    yield [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, { choices: [], usage: { prompt_tokens, completion_tokens } }];
  };

const BUDGET = { day_budget_nanos: 10_000n, total_budget_nanos: 10_000n };
const spentBy = async (keyId: string): Promise<bigint> => BigInt((await pipeline.database.limiters.get(keyId))?.spent ?? 0);

describe('a request of a key with a budget', () => {
  test('is charged its cost, and releases the rest of the hold', async () => {
    const { call, events, keyId } = await pipeline.setUp(answers, {}, BUDGET);
    await call({});
    // 7 prompt tokens and 2 completion tokens at 1 and 2 nano-dollars each.
    expect(await events()).toEqual([expect.objectContaining({ cost_nanos: 11n })]);
    expect((await events())[0]).not.toHaveProperty('is_capped');
    expect(await spentBy(keyId)).toBe(11n);
  });
});

describe('a runtime that counts more tokens than the request can have used', () => {
  const counted = { completion_tokens: 2, source: 'estimated', is_overcounted: true };

  test.each([
    ['with a budget', BUDGET],
    ['without limits on money', {}],
  ])('is not believed: its request is charged by our own count, %s', async (_, limits) => {
    const { call, events, keyId } = await pipeline.setUp(counting(1e15, 1e15), {}, limits);
    const reply = await call({ max_tokens: 10 });
    // 20 bytes of prompt and 5 of output, at 1 and 2 nano-dollars a token.
    expect(await events()).toEqual([expect.objectContaining({ ...counted, prompt_tokens: 5, cost_nanos: 9n })]);
    expect((await events())[0]).not.toHaveProperty('is_capped');
    expect(JSON.parse(reply.body as string)).toMatchObject({ usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } });
    expect(await spentBy(keyId)).toBe(9n);
    const line = (logged.mock.calls as unknown[][])
      .map(([written]) => String(written))
      .findLast((written) => written.includes('"message":"request"'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ is_overcounted: true, source: 'estimated' });
  });

  test('is not believed in a stream either, and its tokens don’t block the key', async () => {
    const { call, events } = await pipeline.setUp(counting(7, 1e6), {}, { tokens_per_minute: 100 });
    for (let i = 0; i < 3; i++) expect(await read(await call({ stream: true, max_tokens: 20 }))).toContain('[DONE]');
    expect(await events()).toHaveLength(3);
    for (const event of await events()) expect(event).toMatchObject({ ...counted, prompt_tokens: 7 });
  });

  test('is counted by the model’s own tokenizer', async () => {
    const tokenizer = { ...noTokenizer, count: async () => ({ prompt_tokens: 8, text_tokens: [3] }) };
    const { call, events } = await pipeline.setUp(counting(3_001, 1), { tokenizer });
    await call({ model: 'counted', max_tokens: 10 });
    expect(await events()).toEqual([expect.objectContaining({ ...counted, prompt_tokens: 8, completion_tokens: 3, cost_nanos: 14n })]);
  });

  test('may count choices × max_tokens, and every byte of the prompt', async () => {
    const { call, events } = await pipeline.setUp(counting(1_000, 20));
    await call({ max_tokens: 10, n: 2, temperature: 1 });
    expect(await events()).toEqual([expect.objectContaining({ prompt_tokens: 1_000, completion_tokens: 20, source: 'runtime' })]);
    expect((await events())[0]).not.toHaveProperty('is_overcounted');
  });
});

describe('a first budget that is set while a request is in flight', () => {
  // The test decides when the model answers.
  const waiting = () => {
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const invoke: Invoke = async function* (invocation) {
      begun.resolve();
      await released.promise;
      yield* answers(invocation);
    };
    return { invoke, begun: begun.promise, release: () => released.resolve() };
  };

  test('counts the request when it ends, although that exceeds a key’s budget', async () => {
    const { invoke, begun, release } = waiting();
    const { call, keyId } = await pipeline.setUp(invoke);
    const reply = call({});
    await begun;
    await pipeline.database.limiters.configure(keyId, { bud_t: 10 });
    expect(await spentBy(keyId)).toBe(0n);
    release();
    expect((await reply).statusCode).toBe(200);
    expect(await spentBy(keyId)).toBe(11n);
    await expect(call({ max_tokens: 1 })).rejects.toMatchObject({ status: 429, code: 'insufficient_quota' });
  });

  test('does not count the request if it is among the first limits of an organization', async () => {
    const { invoke, begun, release } = waiting();
    const { limiters } = pipeline.database;
    const org = newId('organization');
    const { call } = await pipeline.setUp(invoke, {}, { org });
    const reply = call({});
    await begun;
    await limitOrganization(limiters, org, { budgets: { month: 100_000n } });
    release();
    expect((await reply).statusCode).toBe(200);
    expect(countedNanosAt((await limiters.get(org)) as LimiterItem, Date.now()).month).toBe(0n);
    await call({});
    expect(countedNanosAt((await limiters.get(org)) as LimiterItem, Date.now()).month).toBe(11n);
  });
});

describe('a stream that broke off', () => {
  test('is charged for what was delivered, and no more than the hold', async () => {
    const breaking: Invoke = async function* () {
      yield text('x'.repeat(400));
      throw new Error('The connection broke.');
    };
    const { call, events, keyId } = await pipeline.setUp(breaking, {}, BUDGET);
    expect(await read(await call({ stream: true, max_tokens: 10 }))).toContain('error');
    const [event] = await events();
    expect(event).toMatchObject({ outcome: 'upstream_failed', source: 'estimated', error_code: expect.any(String) });
    expect(event?.cost_nanos).toBe(await spentBy(keyId));
    expect(event?.cost_nanos).toBeGreaterThan(0n);
  });
});

describe('a request that exceeds the budget', () => {
  test('is a 429, and invokes no model', async () => {
    let invocations = 0;
    const invoke: Invoke = (invocation) => {
      invocations++;
      return answers(invocation);
    };
    const { call, events } = await pipeline.setUp(invoke, {}, { total_budget_nanos: 100n });
    await expect(call({ max_tokens: 10 })).rejects.toMatchObject({
      status: 429,
      code: 'insufficient_quota',
      message: expect.stringContaining('cost up to 0.00000102 in your billing currency, which'),
      headers: { 'x-should-retry': 'false' },
    });
    expect(invocations).toBe(0);
    expect(await events()).toEqual([]);
  });
});

describe('a request through an adapter with a surcharge', () => {
  const FROM_MS = 1_800_000_000_000;
  const USER = { 'x-user-id': '6f9619ff-8b86-4d01-b42d-00cf4fc964ff' };
  const Surcharge = fc.record({ prompt_nanos: fc.nat(5_000_000), completion_nanos: fc.nat(9_000_000) });
  const Request = fc.record({
    // Around the millisecond in which the second surcharge begins.
    offsetMs: fc.constantFrom(-2, -1, 0, 1, 2),
    max_tokens: fc.integer({ min: 2, max: 50 }),
    waits: fc.boolean(),
  });
  const Case = fc.record({
    surcharges: fc.tuple(Surcharge, Surcharge),
    budget: fc.integer({ min: 1, max: 20_000 }),
    requests: fc.array(Request, { minLength: 1, maxLength: 8 }),
  });
  type Case = typeof Case extends fc.Arbitrary<infer Value> ? Value : never;

  const publish = async (organization: string, surcharges: Case['surcharges']): Promise<[Price, Price]> => {
    const [before, after] = surcharges;
    const is_surcharge = true as const;
    const prices: [Price, Price] = [
      { version: 'before', effective_at: FROM_MS - 10, is_surcharge, ...before },
      { version: 'after', effective_at: FROM_MS, is_surcharge, ...after },
    ];
    const free = { version: 'free', effective_at: 0, prompt_nanos: 0, completion_nanos: 0 };
    await pipeline.database.models.put(organization, {
      ...{ name: 'legal', status: 'published', created: 0, context_length: 1_000, max_output_tokens: 100, default_output_tokens: 50 },
      targets: [{ endpoint: 'e', component: 'e-legal', container_model: 'e-legal' }],
      prices: [free, ...prices],
      deployment: { id: 'dep_1', is_ready: true },
    });
    return prices;
  };

  // The whole window and all tokens of the answer are held, as of a model without a tokenizer.
  const holdOf = (price: Price, max_tokens: number): bigint => costNanos(price, { promptTokens: 1_000, completionTokens: max_tokens });

  test('is held and charged at the price of its arrival, never beyond the budget, as a model of it says', async () => {
    const property = fc.asyncProperty(Case, async ({ surcharges, budget, requests }) => {
      const org = newId('organization');
      const [before, after] = await publish(org, surcharges);
      const gate = Promise.withResolvers<void>();
      const begun: (() => void)[] = [];
      const invoke: Invoke = async function* (invocation) {
        const started = begun.shift();
        started?.();
        if (started) await gate.promise;
        yield* answers(invocation);
      };
      const change = { host: { scope: 'on_demand' as const }, modelsOf: createDeployments(pipeline.database.models, Date.now) };
      const limits = { org, scope: 'on_demand' as const, total_budget_nanos: BigInt(budget), tokens_per_minute: 1_000_000_000 };
      const { eventOf, serveEvent, events, keyId } = await pipeline.setUp(invoke, change, limits);
      const running: Promise<unknown>[] = [];
      const charged: string[] = [];
      let left = BigInt(budget);
      for (const { offsetMs, max_tokens, waits } of requests) {
        const price = offsetMs < 0 ? before : after;
        const hold = holdOf(price, max_tokens);
        const cost = costNanos(price, { promptTokens: 7, completionTokens: 2 });
        const event = { ...eventOf({ model: 'legal', max_tokens }, USER), receivedAtMs: FROM_MS + offsetMs };
        if (hold > left) {
          await expect(serveEvent(event)).rejects.toMatchObject({ status: 429 });
          continue;
        }
        charged.push(`${price.version} ${cost}`);
        if (waits) {
          const started = new Promise<void>((resolve) => begun.push(resolve));
          running.push(serveEvent(event));
          await started;
        } else await serveEvent(event);
        left -= waits ? hold : cost;
      }
      gate.resolve();
      await Promise.all(running);
      const stored = await events();
      expect(stored.map(({ price_version, cost_nanos }) => `${price_version} ${cost_nanos}`).sort()).toEqual(charged.toSorted());
      const sum = stored.reduce((total, { cost_nanos }) => total + cost_nanos, 0n);
      expect([await spentBy(keyId), sum <= BigInt(budget)]).toEqual([sum, true]);
    });
    await fc.assert(property, { seed: 20_261_127, numRuns: sized(20, 1_000) });
  });
});
