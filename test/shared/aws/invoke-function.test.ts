import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FunctionError, FunctionUnavailable, PayloadTooLarge } from '../../../shared/aws/function-errors.ts';
import {
  createInvokeFunction as createDirect,
  createInvokeLater as createDirectLater,
  type InvokeFunction,
  type InvokeLater,
} from '../../../shared/aws/invoke-function.ts';
import { createSdkInvokeFunction, createSdkInvokeLater } from '../../../shared/aws/sdk-invoke-function.ts';
import { ServiceUnavailable } from '../../../shared/http/errors.ts';
import { startFakeLambda, temporaryCredentials } from '../../support/emulators/fake-lambda.ts';

let lambda: Awaited<ReturnType<typeof startFakeLambda>>;
beforeAll(async () => {
  lambda = await startFakeLambda();
});
afterAll(() => lambda.close());

describe.each([
  ['direct', createDirect, createDirectLater],
  ['sdk', createSdkInvokeFunction, createSdkInvokeLater],
] as const)('the %s client', (_client, createInvokeFunction, createInvokeLater) => {
  let invoke: InvokeFunction;
  beforeAll(() => {
    invoke = createInvokeFunction();
  });

  const failing = async (): Promise<Error> => {
    const error = await invoke('f', {}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FunctionUnavailable);
    expect(error).toBeInstanceOf(ServiceUnavailable);
    return (error as FunctionUnavailable).cause as Error;
  };

  describe('an invocation', () => {
    test('posts the event and returns the result', async () => {
      lambda.answers((response) => response.end('{"answer":"é"}'));
      expect(await invoke('my-function', { question: '漢' })).toEqual({ answer: 'é' });
      expect(lambda.received).toMatchObject([
        { method: 'POST', path: '/2015-03-31/functions/my-function/invocations', body: '{"question":"漢"}' },
      ]);
    });

    test('is not sent if the event exceeds Lambda’s limit', async () => {
      lambda.answers((response) => response.end('1'));
      await expect(invoke('f', 'x'.repeat(6 * 1024 * 1024))).rejects.toBeInstanceOf(PayloadTooLarge);
      expect(lambda.received).toEqual([]);
    });

    test('accepts an ARN instead of a name', async () => {
      lambda.answers((response) => response.end('1'));
      expect(await invoke('arn:aws:lambda:us-east-1:1:function:f', {})).toBe(1);
      expect(lambda.received[0]?.path).toBe('/2015-03-31/functions/arn%3Aaws%3Alambda%3Aus-east-1%3A1%3Afunction%3Af/invocations');
    });

    test('is signed with the credentials of the environment', async () => {
      lambda.answers((response) => response.end('1'));
      await invoke('f', {});
      expect(lambda.received[0]?.headers).toMatchObject({
        authorization: expect.stringMatching(
          new RegExp(`^AWS4-HMAC-SHA256 Credential=${temporaryCredentials.accessKeyId}/\\d{8}/us-east-1/lambda/aws4_request, `),
        ),
        'x-amz-security-token': temporaryCredentials.sessionToken,
      });
    });

    test('reuses its connection', async () => {
      lambda.answers((response) => response.end('1'));
      await invoke('f', {});
      lambda.sockets.clear();
      for (let i = 0; i < 3; i++) await invoke('f', {});
      expect(lambda.sockets.size).toBe(1);
    });
  });

  describe('a failure', () => {
    test('is a 503 for an error that the function threw, which is not retried', async () => {
      lambda.answers((response) =>
        response.writeHead(200, { 'X-Amz-Function-Error': 'Unhandled' }).end('{"errorType":"RangeError","errorMessage":"too far"}'),
      );
      const cause = await failing();
      expect(cause).toBeInstanceOf(FunctionError);
      expect(cause.message).toBe('The function f failed: RangeError: too far');
      expect(lambda.received).toHaveLength(1);
    });

    test.each([
      [404, 1],
      [403, 1],
      [413, 1],
      [429, 2],
      [500, 2],
      [503, 2],
    ])('is a 503 for a status %d, after %d attempts', async (status, attempts) => {
      lambda.answers((response) => response.writeHead(status).end('{"message":"no"}'));
      expect((await failing()).message).toBe(`Lambda answered ${status} to an invocation of f: no`);
      expect(lambda.received).toHaveLength(attempts);
    });

    test('is a 503 for a result that is not JSON', async () => {
      lambda.answers((response) => response.end('<html>'));
      await failing();
    });

    test('is a 503 for a connection that breaks twice', async () => {
      lambda.answers((response) => response.destroy());
      await failing();
      expect(lambda.received).toHaveLength(2);
    });

    test('is a 503 for an endpoint that refuses connections', async () => {
      const before = process.env.AWS_ENDPOINT_URL_LAMBDA;
      process.env.AWS_ENDPOINT_URL_LAMBDA = 'http://127.0.0.1:1';
      const error = await createInvokeFunction()('f', {}).catch((thrown: unknown) => thrown);
      process.env.AWS_ENDPOINT_URL_LAMBDA = before;
      expect(error).toBeInstanceOf(FunctionUnavailable);
    });
  });

  test.each([
    ['a broken connection', (response: { destroy(): unknown }) => response.destroy()],
    [
      'a truncated response',
      (response: { writeHead(status: number, headers: object): { write(text: string, then: () => void): unknown }; destroy(): unknown }) =>
        response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy()),
    ],
    ['throttling', (response: { writeHead(status: number): { end(text: string): unknown } }) => response.writeHead(429).end('{}')],
  ])('succeeds at the second attempt after %s', async (_name, fail) => {
    lambda.answers((response, attempt) => (attempt === 1 ? fail(response as never) : response.end('"well"')));
    expect(await invoke('f', {})).toBe('well');
  });

  describe('an invocation that nobody waits for', () => {
    let invokeLater: InvokeLater;
    beforeAll(() => {
      invokeLater = createInvokeLater();
    });
    const ACCEPTED = 202;

    test('asks Lambda to queue the event', async () => {
      lambda.answers((response) => response.writeHead(ACCEPTED).end());
      await expect(invokeLater('my-function', { reconcile: 'dep_1' })).resolves.toBeUndefined();
      expect(lambda.received).toMatchObject([
        {
          method: 'POST',
          path: '/2015-03-31/functions/my-function/invocations',
          headers: { 'x-amz-invocation-type': 'Event' },
          body: '{"reconcile":"dep_1"}',
        },
      ]);
    });

    test('is sent once more if Lambda is throttled, and fails with Lambda’s words', async () => {
      lambda.answers((response) => response.writeHead(429).end('{"message":"Rate Exceeded."}'));
      const error = await invokeLater('f', {}).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(FunctionUnavailable);
      expect((error as Error).cause).toMatchObject({ message: 'Lambda answered 429 to an invocation of f: Rate Exceeded.' });
      expect(lambda.received).toHaveLength(2);
    });

    test('is not sent if the event exceeds Lambda’s limit of 1 MB', async () => {
      lambda.answers((response) => response.writeHead(ACCEPTED).end());
      await expect(invokeLater('f', 'x'.repeat(1024 * 1024))).rejects.toBeInstanceOf(PayloadTooLarge);
      expect(lambda.received).toEqual([]);
    });
  });
});
