import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { affinityOf } from '../../../../functions/inference/targets/order-targets.ts';
import { createTargetHealth } from '../../../../functions/inference/targets/target-health.ts';
import { createDeployments } from '../../../../shared/models/deployments.ts';
import type { Tokenizer } from '../../../../shared/tokens/tokenizer.ts';
import { UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import type { Invocation, Invoke } from '../../../../shared/upstream/invocation.ts';
import { wide } from '../../../support/fixtures/callers.ts';
import { answers, noTokenizer, startTestPipeline, type TestPipeline } from '../../../support/fixtures/pipeline.ts';
import { sized } from '../../../support/sized.ts';

const WEIGHTS = { light: 1, middle: 2, heavy: 3 } as const;
const USERS = sized(300, 1_000);
// Enough to see where users go, once it is known how they spread.
const SOME = sized(100, USERS);
const AT_A_TIME = 50;

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await startTestPipeline();
  await pipeline.database.models.put(wide.org, {
    name: 'm',
    status: 'published',
    created: 0,
    context_length: 1_000,
    max_output_tokens: 100,
    default_output_tokens: 50,
    targets: [
      { endpoint: 'light', weight: WEIGHTS.light },
      { endpoint: 'middle', weight: WEIGHTS.middle, prefix_aware: true },
      { endpoint: 'heavy', weight: WEIGHTS.heavy },
    ],
    prices: [{ version: 'p1', effective_at: 0, prompt_nanos: 1_000_000, completion_nanos: 2_000_000 }],
  });
});
afterAll(async () => {
  await pipeline.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

// The same users in every run.
const users = Array.from({ length: USERS }, (_, i) =>
  createHash('sha256')
    .update(`user ${i}`)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5'),
);

// `dead` targets fail before their first chunk; `received` has the invocations.
const start = async () => {
  const dead = new Set<string>();
  const received: Invocation[] = [];
  const invoke: Invoke = (invocation) => {
    received.push(invocation);
    if (dead.has(invocation.target.endpoint)) throw new UpstreamFailed('upstream_error', 'dead');
    return answers(invocation);
  };
  const failing: Invoke = async function* (invocation) {
    yield* invoke(invocation);
  };
  let nowMs = 0;
  const change = {
    health: createTargetHealth(() => nowMs),
    host: { scope: 'on_demand' as const },
    modelsOf: createDeployments(pipeline.database.models, Date.now),
  };
  const limits = { scope: 'on_demand' as const, concurrency: 1_000, requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000 };
  const { call } = await pipeline.setUp(failing, change, limits);
  const ask = async (count = SOME): Promise<Map<string, string>> => {
    received.length = 0;
    for (let from = 0; from < count; from += AT_A_TIME)
      await Promise.all(users.slice(from, Math.min(from + AT_A_TIME, count)).map((user) => call({}, 600_000, { 'x-user-id': user })));
    // The last target tried for a user is the one that answered.
    return new Map(received.map(({ affinity = '', target }) => [affinity, target.endpoint]));
  };
  // Ends the time in which a failed target is tried last.
  const wait = (): void => {
    nowMs += 3_600_000;
  };
  const invocationsOf = (endpoint: string): number => received.filter(({ target }) => target.endpoint === endpoint).length;
  return { ask, dead, wait, invocationsOf };
};

describe('users', () => {
  test(`spread over three targets by weight, move only while their target fails, and return: ${USERS} users`, async () => {
    const { ask, dead, wait } = await start();
    const all = await ask(USERS);
    const affinities = users.map((user) => affinityOf(wide.org, user));
    expect([...all.keys()].sort()).toEqual(affinities.toSorted());
    const total = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);
    for (const [endpoint, weight] of Object.entries(WEIGHTS)) {
      const share = [...all.values()].filter((target) => target === endpoint).length / USERS;
      expect(share / (weight / total)).toBeGreaterThan(0.8);
      expect(share / (weight / total)).toBeLessThan(1.2);
    }
    const known = affinities.slice(0, SOME);
    const first = new Map(known.map((affinity) => [affinity, all.get(affinity)]));
    expect(await ask()).toEqual(first);
    dead.add('middle');
    const moved = await ask();
    for (const user of known) {
      if (first.get(user) === 'middle') expect(moved.get(user)).not.toBe('middle');
      else expect(moved.get(user)).toBe(first.get(user));
    }
    // Users who moved are on both remaining targets.
    expect(new Set(known.filter((user) => first.get(user) === 'middle').map((user) => moved.get(user)))).toEqual(
      new Set(['light', 'heavy']),
    );
    dead.add('light');
    expect(new Set((await ask()).values())).toEqual(new Set(['heavy']));
    dead.clear();
    wait();
    expect(await ask()).toEqual(first);
    // Within the endpoint's limit.
    expect(affinities.every((affinity) => affinity.length <= 64)).toBe(true);
  });
});

describe('a target that fails', () => {
  test('is not invoked for a while, and then by one request at a time until it answers', async () => {
    const { ask, dead, wait, invocationsOf } = await start();
    dead.add('heavy');
    await ask();
    // The first requests at once, before any of them had failed.
    expect(invocationsOf('heavy')).toBeLessThanOrEqual(AT_A_TIME);
    await ask();
    expect(invocationsOf('heavy')).toBe(0);
    wait();
    await ask();
    expect(invocationsOf('heavy')).toBe(1);
    dead.clear();
    wait();
    await ask();
    expect(invocationsOf('heavy')).toBeGreaterThan(1);
  });
});

describe('the tokenizer', () => {
  test('gets the organization whose deployment it counts for, and none for a shared model', async () => {
    const counted: unknown[] = [];
    const fit: Tokenizer['fit'] = async ({ organization }) => {
      counted.push(organization);
      return { prompt_tokens: 990, kept: null };
    };
    const tokenizer = { ...noTokenizer, fit };
    const sizes = { context_length: 1_000, max_output_tokens: 100, default_output_tokens: 50 };
    const prices = [{ version: 'p1', effective_at: 0, prompt_nanos: 1_000_000, completion_nanos: 2_000_000 }];
    const model = { name: 'long', status: 'published' as const, created: 0, ...sizes, prices, tokenizer: { tokenizer: 'k' } };
    for (const pool of [wide.org, 'serverless'])
      await pipeline.database.models.put(pool, { ...model, targets: [{ endpoint: 'light', weight: 1 }] });
    const body = { model: 'long', messages: [{ role: 'user', content: 'x'.repeat(960) }] };
    const host = { scope: 'on_demand' as const };
    const onDemand = { tokenizer, host, modelsOf: createDeployments(pipeline.database.models, Date.now) };
    await (await pipeline.setUp(answers, onDemand, host)).call(body, 600_000, { 'x-user-id': users[0] as string });
    await (await pipeline.setUp(answers, { tokenizer })).call(body);
    expect(counted).toEqual([wide.org, undefined]);
  });
});
