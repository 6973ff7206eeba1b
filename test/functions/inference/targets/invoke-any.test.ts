import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ClientClosed } from '../../../../functions/inference/targets/client-closed.ts';
import { invokeAny } from '../../../../functions/inference/targets/invoke-any.ts';
import { createTargetHealth, type TargetHealth } from '../../../../functions/inference/targets/target-health.ts';
import type { Target } from '../../../../shared/models/model.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import { BrokenAtWork, RefusedByModel, UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import type { Invocation, Invoke } from '../../../../shared/upstream/invocation.ts';

beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const one: Target = { endpoint: 'one', weight: 1 };
const two: Target = { endpoint: 'two', weight: 1, container_model: 'inner' };
const chunksOf = (content: string): UpstreamChunk[] => [{ choices: [{ index: 0, delta: { content } }] }];

const setUp = (
  upstreams: Record<string, (invocation: Invocation) => AsyncGenerator<UpstreamChunk[]>>,
  targets: [Target, ...Target[]] = [one, two],
  health: TargetHealth = createTargetHealth(Date.now),
) => {
  const tried: string[] = [];
  const signal = new AbortController();
  const invoke: Invoke = (invocation) => (upstreams[invocation.target.endpoint] as Invoke)(invocation);
  const answer = invokeAny(invoke, health, {
    ids: {},
    targets,
    bodyFor: ({ container_model = '' }) => container_model,
    choices: 1,
    signal,
    onTarget: ({ endpoint }) => tried.push(endpoint),
  });
  return { tried, answer, signal };
};
const failing = (error: Error, ...batches: UpstreamChunk[][]) =>
  async function* ({ signal }: Invocation) {
    yield* batches;
    signal.abort();
    throw error;
  };
const answering = async function* ({ body }: Invocation) {
  yield chunksOf(body);
};

describe('a model with several targets', () => {
  test.each(['upstream_error', 'no_capacity', 'model_not_ready'] as const)(
    'tries the next target if the first fails with %s before its first chunk',
    async (code) => {
      const { tried, answer, signal } = setUp({ one: failing(new UpstreamFailed(code, 'x')), two: answering });
      expect(await Array.fromAsync(answer)).toEqual([chunksOf('inner')]);
      expect(tried).toEqual(['one', 'two']);
      expect(signal.signal.aborted).toBe(false);
    },
  );

  test.each([
    ['it took too long', new UpstreamFailed('upstream_timeout', 'x')],
    ['the connection broke during processing', new BrokenAtWork(new Error('ECONNRESET'))],
    ['the request itself was rejected', new RefusedByModel('No.')],
    ['the error is our own', new TypeError('x')],
  ])('tries no other target if %s', async (_, error) => {
    const { tried, answer } = setUp({ one: failing(error), two: answering });
    await expect(Array.fromAsync(answer)).rejects.toBe(error);
    expect(tried).toEqual(['one']);
  });

  test('tries no other target once the answer has begun', async () => {
    const error = new UpstreamFailed('upstream_error', 'x');
    const { tried, answer } = setUp({ one: failing(error, chunksOf('a')), two: answering });
    expect((await answer.next()).value).toEqual(chunksOf('a'));
    await expect(answer.next()).rejects.toBe(error);
    expect(tried).toEqual(['one']);
  });

  test('tries failing targets in order, at most four', async () => {
    const error = new UpstreamFailed('upstream_error', 'fourth');
    const down = failing(new UpstreamFailed('upstream_error', 'down'));
    const more = ['three', 'four', 'five'].map((endpoint): Target => ({ endpoint, weight: 1 }));
    const third = setUp({ one: down, two: down, three: answering }, [one, two, ...more]);
    expect((await Array.fromAsync(third.answer)).length).toBeGreaterThan(0);
    expect(third.tried).toEqual(['one', 'two', 'three']);
    const none = setUp({ one: down, two: down, three: down, four: failing(error), five: answering }, [one, two, ...more]);
    await expect(Array.fromAsync(none.answer)).rejects.toBe(error);
    expect(none.tried).toEqual(['one', 'two', 'three', 'four']);
  });

  test('is aborted at once if the request was already aborted', async () => {
    const seen: boolean[] = [];
    const { answer, signal } = setUp({
      one: async function* ({ signal: own }) {
        seen.push(own.signal.aborted);
        yield chunksOf('a');
      },
      two: answering,
    });
    signal.abort();
    await Array.fromAsync(answer);
    expect(seen).toEqual([true]);
  });

  test('is aborted on any target, and tries no other target then', async () => {
    const silent = async function* ({ signal }: Invocation): AsyncGenerator<UpstreamChunk[]> {
      await new Promise((_, reject) =>
        signal.signal.addEventListener('abort', () => reject(new UpstreamFailed('upstream_error', 'aborted'))),
      );
    };
    const { tried, answer, signal } = setUp({ one: silent, two: answering });
    const next = answer.next();
    signal.abort();
    await expect(next).rejects.toMatchObject({ detail: 'aborted' });
    expect(tried).toEqual(['one']);
  });
});

describe('the health of a target', () => {
  const hanging = failing(new UpstreamFailed('upstream_timeout', 'x'));
  const orderOf = (health: TargetHealth): string[] => health.order([one, two]).map(({ endpoint }) => endpoint);

  test.each([
    ['takes too long', new UpstreamFailed('upstream_timeout', 'x'), ['two', 'one']],
    ['fails', new UpstreamFailed('upstream_error', 'x'), ['two', 'one']],
    ['is not ready', new UpstreamFailed('model_not_ready', 'x'), ['two', 'one']],
    ['breaks during processing', new BrokenAtWork(new Error('ECONNRESET')), ['two', 'one']],
    ['is busy', new UpstreamFailed('no_capacity', 'x'), ['one', 'two']],
    ['rejects the request', new RefusedByModel('No.'), ['one', 'two']],
  ])('is remembered if it %s', async (_, error, expected) => {
    const health = createTargetHealth(Date.now);
    await Array.fromAsync(setUp({ one: failing(error), two: answering }, [one, two], health).answer).catch(() => undefined);
    expect(orderOf(health)).toEqual(expected);
  });

  test('is remembered of the last target that is tried, and forgotten when it answers', async () => {
    const health = createTargetHealth(Date.now);
    const down = failing(new UpstreamFailed('upstream_error', 'down'));
    await expect(Array.fromAsync(setUp({ two: down, one: hanging }, [two, one], health).answer)).rejects.toThrow();
    await Array.fromAsync(setUp({ two: answering, one: hanging }, [two, one], health).answer);
    expect(orderOf(health)).toEqual(['two', 'one']);
    await Array.fromAsync(setUp({ one: answering }, [one, two], health).answer);
    expect(orderOf(health)).toEqual(['one', 'two']);
  });

  test.each([
    ['not change if the caller leaves', new ClientClosed(), ['one', 'two']],
    ['change if the time is up', undefined, ['two', 'one']],
  ])('does %s before the first chunk', async (_, reason, expected) => {
    const health = createTargetHealth(Date.now);
    const silent = async function* ({ signal }: Invocation): AsyncGenerator<UpstreamChunk[]> {
      await new Promise((_, reject) =>
        signal.signal.addEventListener('abort', () => reject(new UpstreamFailed('upstream_error', 'aborted'))),
      );
    };
    const { answer, signal } = setUp({ one: silent, two: answering }, [one, two], health);
    const next = answer.next();
    signal.abort(reason);
    await expect(next).rejects.toThrow();
    expect(orderOf(health)).toEqual(expected);
  });
});
