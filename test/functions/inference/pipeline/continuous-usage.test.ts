import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Model } from '../../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import type { Invoke } from '../../../../shared/upstream/invocation.ts';
import { answers, read, startTestPipeline, type TestPipeline } from '../../../support/fixtures/pipeline.ts';

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await startTestPipeline();
  const model = (await pipeline.database.models.list(SERVERLESS_POOL)).get('m') as Model;
  await pipeline.database.models.put(SERVERLESS_POOL, { ...model, name: 'counting', continuous_usage: true });
});
afterAll(() => pipeline.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const counted = (content: string, completion_tokens: number): UpstreamChunk[] => [
  { choices: [{ index: 0, delta: { content } }], usage: { prompt_tokens: 18, completion_tokens } },
];
const breakingAfter = (...batches: UpstreamChunk[][]): Invoke =>
  async function* () {
    yield* batches;
    throw new Error('The connection broke.');
  };

describe('a runtime', () => {
  test('counts with every chunk if its model says so, and the answer has one choice', async () => {
    const sent: unknown[] = [];
    const invoke: Invoke = async function* (invocation) {
      sent.push((JSON.parse(invocation.body) as { stream_options: unknown }).stream_options);
      yield* answers(invocation);
    };
    const { call } = await pipeline.setUp(invoke);
    for (const body of [{ model: 'counting' }, { model: 'counting', n: 2 }, { model: 'm' }]) await call(body);
    expect(sent).toEqual([{ include_usage: true, continuous_usage_stats: true }, { include_usage: true }, { include_usage: true }]);
  });
});

describe('a stream that broke off', () => {
  test('is billed by the last count of the runtime', async () => {
    const { call, events } = await pipeline.setUp(breakingAfter(counted('', 0), counted('Hello', 2), counted(' there', 4)));
    await read(await call({ model: 'counting', stream: true }));
    expect(await events()).toEqual([
      expect.objectContaining({ outcome: 'upstream_failed', source: 'runtime', prompt_tokens: 18, completion_tokens: 4, cost_nanos: 26n }),
    ]);
  });

  test('is not billed by the count of one of its choices, which a runtime sent without being asked', async () => {
    const choice = (index: number, content: string, completion_tokens: number): UpstreamChunk[] => [
      { choices: [{ index, delta: { content } }], usage: { prompt_tokens: 1, completion_tokens } },
    ];
    const { call, events } = await pipeline.setUp(breakingAfter(choice(0, 'Hello', 1), choice(1, 'Greetings', 2)));
    await read(await call({ model: 'm', n: 2, stream: true }));
    const [event] = await events();
    expect(event).toMatchObject({ source: 'estimated', completion_tokens: 4 });
    expect(event?.prompt_tokens).toBeGreaterThan(1);
  });

  test('costs nothing before its first word, even if the runtime has counted the prompt', async () => {
    const { call, events } = await pipeline.setUp(breakingAfter(counted('', 0)));
    await read(await call({ model: 'counting', stream: true }));
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'upstream_failed', prompt_tokens: 0, cost_nanos: 0n })]);
  });
});
