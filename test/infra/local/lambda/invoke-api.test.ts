import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createFunctionSet, type FunctionSet } from '../../../../infra/local/lambda/function-set.ts';
import { InvocationFailed } from '../../../../infra/local/lambda/invocation.ts';
import { type InvokeApi, startInvokeApi } from '../../../../infra/local/lambda/invoke-api.ts';
import { createProcessList } from '../../../../infra/local/processes/process-list.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { fixtureFunction } from '../fixtures.ts';

const folder = temporaryFolder();
const processes = createProcessList();
const fn = fixtureFunction('buffered', { timeoutMs: 1_500 });
let functions: FunctionSet;
let api: InvokeApi;
let client: LambdaClient;

beforeAll(async () => {
  functions = createFunctionSet({
    functions: [fn],
    endpoints: {
      dynamodbUrl: 'http://d',
      sagemakerUrl: 'http://s',
      s3Url: 'http://o',
      lambdaUrl: 'http://l',
      sqsUrl: 'http://q',
      cognitoUrl: null,
    },
    logFolder: folder.path,
    environments: 1,
    processes,
    onChange: () => undefined,
    log: () => undefined,
  });
  await functions.ready;
  api = await startInvokeApi(functions.start);
  client = new LambdaClient({
    endpoint: api.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
});
afterAll(async () => {
  client.destroy();
  await api.close();
  await functions.close();
  processes.close();
  await folder[Symbol.asyncDispose]();
});

const invoke = (event: object | string | undefined, FunctionName = fn.name) =>
  client.send(new InvokeCommand({ FunctionName, ...(event && { Payload: typeof event === 'string' ? event : JSON.stringify(event) }) }));
const result = async (...parameters: Parameters<typeof invoke>): Promise<unknown> =>
  JSON.parse((await invoke(...parameters)).Payload?.transformToString() ?? '');

describe('Invoke', () => {
  test.each([fn.name, fn.arn, fn.shortName])('runs the function %s and returns its result', async (name) => {
    expect(await result({ action: 'environment' }, name)).toMatchObject({
      GREETING: 'hello',
      AWS_ENDPOINT_URL_S3: 'http://o',
      AWS_ENDPOINT_URL_LAMBDA: 'http://l',
    });
    expect((await invoke({ action: 'pid' }, name)).StatusCode).toBe(200);
  });

  test('returns null for a function without a result, and passes an empty event without a payload', async () => {
    expect(await result({ action: 'nothing' })).toBeNull();
    expect(await result(undefined)).toMatchObject({ body: expect.stringContaining('"event":{}') });
  });

  test('returns the error of a function in a 200 response', async () => {
    const failed = await invoke({ action: 'fail' });
    expect([failed.StatusCode, failed.FunctionError]).toEqual([200, 'Unhandled']);
    expect(JSON.parse(failed.Payload?.transformToString() ?? '')).toEqual({ errorType: 'RangeError', errorMessage: 'out of range' });
  });

  test.each([
    ['a function that crashes', { action: 'die' }, 'Runtime.ExitError'],
    ['a function that times out', { action: 'overlap', ms: 60_000 }, 'Sandbox.Timedout'],
    ['a function whose result is too long', { action: 'too_long' }, 'Error'],
  ])('returns the error of %s in a 200 response', async (_name, event, errorType) => {
    const failed = await invoke(event);
    expect(failed.FunctionError).toBe('Unhandled');
    expect(JSON.parse(failed.Payload?.transformToString() ?? '')).toMatchObject({ errorType });
  });

  test('rejects invalid requests as Lambda does', async () => {
    await expect(invoke({}, 'nowhere')).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: 'Function not found: nowhere',
    });
    await expect(invoke('{')).rejects.toMatchObject({ name: 'InvalidRequestContentException' });
    await expect(invoke(`"${'x'.repeat(6_291_556)}"`)).rejects.toMatchObject({ name: 'RequestTooLargeException' });
    const later = new InvokeCommand({ FunctionName: fn.name, InvocationType: 'Event' });
    await expect(client.send(later)).rejects.toThrow('with RequestResponse only, not Event');
  });
});

test('invocations without a free process are throttled', async () => {
  const throttled = await startInvokeApi(async () => {
    throw new InvocationFailed('f', 'throttled', 'Rate Exceeded');
  });
  const other = new LambdaClient({
    endpoint: throttled.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  await expect(other.send(new InvokeCommand({ FunctionName: 'f' }))).rejects.toMatchObject({
    name: 'TooManyRequestsException',
    $metadata: { httpStatusCode: 429 },
  });
  other.destroy();
  await throttled.close();
});
