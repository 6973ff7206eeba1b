import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BrokenAtWork, RefusedByModel, UpstreamFailed } from '../../../shared/upstream/errors.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';
import { createWholeInvoke } from '../../../shared/upstream/invoke.ts';
import { createSdkWholeInvoke } from '../../../shared/upstream/sdk-invoke.ts';
import { MAX_WHOLE_REPLY_BYTES } from '../../../shared/upstream/whole-answer.ts';
import { type Answer, type FakeAws, startFakeAws } from '../../support/emulators/fake-aws.ts';

let sagemaker: FakeAws;
beforeAll(async () => {
  sagemaker = await startFakeAws();
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: sagemaker.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
  });
});
afterAll(() => sagemaker.close());

const target = { endpoint: 'e', component: 'c', weight: 1 };

const ask = async (
  invoke: Invoke,
  signal = new AbortController(),
  onHead = () => undefined,
): Promise<{ body?: string; error?: unknown }> => {
  try {
    const batches = await Array.fromAsync(invoke({ target, body: '{"input":"a"}', choices: 1, signal, onHead }));
    return {
      body: batches
        .flat()
        .map(({ body }) => body?.toString())
        .join('|'),
    };
  } catch (error) {
    return { error };
  }
};

const modelError =
  (status: number, message: string): Answer =>
  (response) => {
    response.writeHead(424, { 'x-amzn-errortype': 'ModelError', 'content-type': 'application/json' });
    response.end(JSON.stringify({ OriginalStatusCode: status, OriginalMessage: message, Message: message }));
  };

describe.each([
  ['direct', createWholeInvoke],
  ['sdk', createSdkWholeInvoke],
] as const)('the %s client for whole replies', (client, create) => {
  test('calls the plain operation of the component, and returns the body as the only chunk', async () => {
    sagemaker.answers((response) => response.end('{"data":[]}'));
    let heads = 0;
    expect(await ask(create(), undefined, () => void heads++)).toEqual({ body: '{"data":[]}' });
    const [sent] = sagemaker.received;
    expect([sent?.path, sent?.body, sent?.headers['x-amzn-sagemaker-inference-component'], heads]).toEqual([
      '/endpoints/e/invocations',
      '{"input":"a"}',
      'c',
      1,
    ]);
  });

  test('keeps its connection, and leaves a request that it has completed alone', async () => {
    const invoke = create();
    const signal = new AbortController();
    sagemaker.answers((response) => response.end('{}'));
    for (let i = 0; i < 3; i++) await ask(invoke, signal);
    expect([sagemaker.received.length, sagemaker.sockets.size, signal.signal.aborted]).toEqual([3, 1, false]);
  });

  test.each([
    ['a rejected request', modelError(400, '{"error":{"message":"input is wrong"}}'), RefusedByModel, 'invalid_value'],
    ['a busy container', modelError(429, 'busy'), UpstreamFailed, 'no_capacity'],
    ['a broken container', modelError(500, 'Traceback'), UpstreamFailed, 'upstream_error'],
    [
      'a container that took longer than 60 s',
      modelError(0, 'Your invocation timed out while waiting for a response from container primary.'),
      UpstreamFailed,
      'upstream_timeout',
    ],
  ])('throws the error for %s', async (_, answer, type, code) => {
    sagemaker.answers(answer);
    const { error } = await ask(create());
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ code });
    expect(sagemaker.received).toHaveLength(1);
  });

  test('sends an invocation once more if its connection broke at once, and never after the head', async () => {
    sagemaker.answers((response, attempt) => (attempt === 1 ? response.destroy() : response.end('{}')));
    expect(await ask(create())).toEqual({ body: '{}' });
    expect(sagemaker.received).toHaveLength(2);
    sagemaker.answers((response) => response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()));
    expect((await ask(create())).error).toBeInstanceOf(client === 'direct' ? BrokenAtWork : UpstreamFailed);
    expect(sagemaker.received).toHaveLength(1);
  });

  test('rejects a reply that is larger than SageMaker sends', async () => {
    sagemaker.answers((response) => response.end(Buffer.alloc(MAX_WHOLE_REPLY_BYTES + 1)));
    expect((await ask(create())).error).toBeInstanceOf(UpstreamFailed);
  });

  test('ends an aborted invocation, and does not send it again', async () => {
    const signal = new AbortController();
    sagemaker.answers(() => setImmediate(() => signal.abort()));
    expect((await ask(create(), signal)).error).toBeInstanceOf(UpstreamFailed);
    expect(sagemaker.received).toHaveLength(1);
  });
});
