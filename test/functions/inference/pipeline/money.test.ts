import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Invoke } from '../../../../shared/upstream/invoke.ts';
import { answers, read, startTestPipeline, type TestPipeline, text } from '../../../support/pipeline.ts';

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await startTestPipeline();
});
afterAll(async () => {
  await pipeline.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

/** A runtime that reports any count. */
const counting = (prompt_tokens: number, completion_tokens: number): Invoke =>
  async function* () {
    yield text('Hello');
    yield [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, { choices: [], usage: { prompt_tokens, completion_tokens } }];
  };

const BUDGET = { day_budget_nanos: 10_000n, total_budget_nanos: 10_000n };
const spentBy = async (keyId: string): Promise<bigint> => BigInt((await pipeline.database.limiters.get(keyId))?.spent ?? 0);

test('a request of a key with a budget is charged its cost, and the rest of the hold is released', async () => {
  const { call, events, keyId } = await pipeline.setUp(answers, {}, BUDGET);
  await call({});
  // 7 prompt tokens and 2 completion tokens at 1 and 2 nano-dollars each.
  expect(await events()).toEqual([expect.objectContaining({ cost_nanos: 11n })]);
  expect((await events())[0]).not.toHaveProperty('is_capped');
  expect(await spentBy(keyId)).toBe(11n);
});

test('a runtime that counts more tokens than possible can’t exceed a budget: the charge is capped at the hold', async () => {
  const { call, events, keyId } = await pipeline.setUp(counting(1_000_000, 1_000_000), {}, BUDGET);
  await call({ max_tokens: 10 });
  const [event] = await events();
  // At most the window of 1,000 tokens, and an answer of 10 tokens.
  expect(event).toMatchObject({ cost_nanos: 1_020n, is_capped: true, prompt_tokens: 1_000_000 });
  expect(await spentBy(keyId)).toBe(1_020n);
});

test('without a budget the runtime’s count is charged', async () => {
  const { call, events } = await pipeline.setUp(counting(1_000_000, 1_000_000));
  await call({ max_tokens: 10 });
  expect(await events()).toEqual([expect.objectContaining({ cost_nanos: 3_000_000n })]);
});

test('a stream that broke off is charged for what was delivered, and no more than the hold', async () => {
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

test('a request that exceeds the budget is a 429, and no model is invoked', async () => {
  let invocations = 0;
  const invoke: Invoke = (invocation) => {
    invocations++;
    return answers(invocation);
  };
  const { call, events } = await pipeline.setUp(invoke, {}, { total_budget_nanos: 100n });
  await expect(call({ max_tokens: 10 })).rejects.toMatchObject({
    status: 429,
    code: 'insufficient_quota',
    message: expect.stringContaining('$0.00000102'),
    headers: { 'x-should-retry': 'false' },
  });
  expect(invocations).toBe(0);
  expect(await events()).toEqual([]);
});
