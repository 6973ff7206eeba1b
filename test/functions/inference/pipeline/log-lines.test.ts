import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import type { Invoke } from '../../../../shared/upstream/invocation.ts';
import { read, startTestPipeline, type TestPipeline } from '../../../support/fixtures/pipeline.ts';

let pipeline: TestPipeline;
let lines: Record<string, unknown>[];
beforeAll(async () => {
  pipeline = await startTestPipeline();
});
afterAll(() => pipeline.close());
beforeEach(() => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(JSON.parse(String(line))) > 0);
});

const line = (message: string) => lines.find((each) => each.message === message);

const answers: Invoke = async function* () {
  yield [{ choices: [{ index: 0, delta: { content: 'Hello' } }] }];
  yield [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 7, completion_tokens: 2 } }];
};

const breaks: Invoke = async function* () {
  yield [{ choices: [{ index: 0, delta: { content: 'Hello' } }] }];
  throw new UpstreamFailed('upstream_error', 'the container stopped');
};

describe('the line request', () => {
  test('has its cost as a number, of which CloudWatch can make a metric', async () => {
    const { call } = await pipeline.setUp(answers);
    await call({});
    expect(line('request')).toMatchObject({ outcome: 'completed', cost_nanos: 11, admission_round_trips: expect.any(Number) });
    expect(line('request')).not.toHaveProperty('error_code');
  });
});

describe('the line stream_broken', () => {
  test('has the error’s status and code and the key of a stream that breaks off after its status was sent', async () => {
    const { call } = await pipeline.setUp(breaks);
    await read(await call({ stream: true }));
    const { request_id, key_id, org_id } = line('request') ?? {};
    expect(key_id).toEqual(expect.any(String));
    expect(line('stream_broken')).toMatchObject({ status: 503, code: 'upstream_error', request_id, key_id, org_id });
  });

  test('is missing for a stream that ends well, and for a failed answer without a stream', async () => {
    const well = await pipeline.setUp(answers);
    await read(await well.call({ stream: true }));
    const broken = await pipeline.setUp(breaks);
    await expect(broken.call({})).rejects.toMatchObject({ code: 'upstream_error' });
    expect(line('stream_broken')).toBeUndefined();
  });
});
