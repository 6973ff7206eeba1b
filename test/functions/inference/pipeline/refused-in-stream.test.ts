import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { payloadPart } from '../../../../infra/local/sagemaker/frames.ts';
import { createInvoke } from '../../../../shared/upstream/invoke.ts';
import { type FakeAws, startFakeAws } from '../../../support/emulators/fake-aws.ts';
import { read, startTestPipeline, type TestPipeline } from '../../../support/fixtures/pipeline.ts';

let pipeline: TestPipeline;
let sagemaker: FakeAws;
beforeAll(async () => {
  pipeline = await startTestPipeline();
  sagemaker = await startFakeAws();
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: sagemaker.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
  });
});
afterAll(async () => {
  await sagemaker.close();
  await pipeline.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const REFUSAL = { error: { message: 'logit_bias is out of the vocabulary', type: 'BadRequestError', param: 'logit_bias', code: 400 } };
const role = { choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] };
const word = { choices: [{ index: 0, delta: { content: 'Hello' } }] };

// The runtime sends its rejection with the status 200.
const sends = (...events: readonly object[]): void =>
  sagemaker.answers((response) =>
    response.end(
      Buffer.concat(
        [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => payloadPart(Buffer.from(`data: ${data}\n\n`))),
      ),
    ),
  );

describe('a rejection by the model in its stream', () => {
  test.each([true, false])('is a 400 before the first word, costs nothing, and tries no other target (stream: %s)', async (stream) => {
    sends(REFUSAL);
    const { call, events, inFlight } = await pipeline.setUp(createInvoke());
    await expect(call({ model: 'counted', stream })).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param: 'logit_bias',
      message: 'logit_bias is out of the vocabulary',
    });
    expect(sagemaker.received).toHaveLength(1);
    expect(await events()).toEqual([
      expect.objectContaining({ outcome: 'upstream_failed', prompt_tokens: 0, completion_tokens: 0, cost_nanos: 0n }),
    ]);
    expect(await inFlight()).toBe(0);
  });

  test('ends the stream with the same error after the role, and costs nothing', async () => {
    sends(role, REFUSAL);
    const { call, events } = await pipeline.setUp(createInvoke());
    expect(await read(await call({ stream: true }))).toMatch(/"type":"invalid_request_error","param":"logit_bias".*\n\n$/);
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'upstream_failed', cost_nanos: 0n })]);
  });

  test('is a failure of the model after the first word, and what was delivered is charged', async () => {
    sends(word, REFUSAL);
    const { call, events } = await pipeline.setUp(createInvoke());
    expect(await read(await call({ stream: true }))).toMatch(/"code":"upstream_error".*\n\n$/);
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'upstream_failed', completion_tokens: 2 })]);
  });
});
