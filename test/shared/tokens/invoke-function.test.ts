import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ServiceUnavailable } from '../../../shared/http/errors.ts';
import { FunctionError, FunctionUnavailable } from '../../../shared/tokens/function-errors.ts';
import { createInvokeFunction, type InvokeFunction, lambdaEndpoint } from '../../../shared/tokens/invoke-function.ts';
import { type Received, startFakeLambda } from '../../support/fake-lambda.ts';

let lambda: Awaited<ReturnType<typeof startFakeLambda>>;
let invoke: InvokeFunction;
beforeAll(async () => {
  lambda = await startFakeLambda();
  invoke = createInvokeFunction();
});
afterAll(() => lambda.close());

const failing = async (): Promise<Error> => {
  const error = await invoke('f', {}).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(FunctionUnavailable);
  expect(error).toBeInstanceOf(ServiceUnavailable);
  return (error as FunctionUnavailable).cause as Error;
};

test.each([
  'us-east-1',
  'eu-central-1',
  'us-gov-west-1',
  'cn-north-1',
  'cn-northwest-1',
  'eusc-de-east-1',
  'us-iso-east-1',
  'us-isob-east-1',
  'us-isof-south-1',
  'eu-isoe-west-1',
])("uses the endpoint of AWS's own client in %s", (Region) => {
  const { url } = new LambdaClient({ region: Region }).config.endpointProvider({ Region, UseFIPS: false, UseDualStack: false });
  expect(new URL(lambdaEndpoint(Region)).host).toBe(url.host);
});

describe('an invocation', () => {
  test('posts the event and returns the result', async () => {
    lambda.answers((response) => response.end('{"answer":"é"}'));
    expect(await invoke('my-function', { question: '漢' })).toEqual({ answer: 'é' });
    expect(lambda.received).toMatchObject([
      { method: 'POST', path: '/2015-03-31/functions/my-function/invocations', body: '{"question":"漢"}' },
    ]);
  });

  test('is a 413 without a retry and is not sent if the event exceeds Lambda’s limit', async () => {
    lambda.answers((response) => response.end('1'));
    await expect(invoke('f', 'x'.repeat(6 * 1024 * 1024))).rejects.toMatchObject({ status: 413, code: 'request_too_large' });
    expect(lambda.received).toEqual([]);
  });

  test('accepts an ARN instead of a name', async () => {
    lambda.answers((response) => response.end('1'));
    expect(await invoke('arn:aws:lambda:us-east-1:1:function:f', {})).toBe(1);
    expect(lambda.received[0]?.path).toBe('/2015-03-31/functions/arn%3Aaws%3Alambda%3Aus-east-1%3A1%3Afunction%3Af/invocations');
  });

  test("has the same signature as one of AWS's own client", async () => {
    lambda.answers((response) => response.end('1'));
    await invoke('arn:aws:lambda:us-east-1:1:function:f', { a: 1 });
    const { method, path, headers, body } = lambda.received[0] as Received;
    const [, credential, signedHeaders = '', signature] =
      /^AWS4-HMAC-SHA256 Credential=(.*), SignedHeaders=(.*), Signature=(.*)$/.exec(headers.authorization ?? '') ?? [];
    expect(credential).toMatch(/^AKID\/\d{8}\/us-east-1\/lambda\/aws4_request$/);
    expect(signedHeaders.split(';')).toEqual(expect.arrayContaining(['host', 'x-amz-date', 'x-amz-security-token']));
    const date = String(headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
    const client = new LambdaClient({ region: 'us-east-1' });
    const signer = await client.config.signer();
    const { hostname } = new URL('http://127.0.0.1');
    const names = signedHeaders.split(';').filter((name) => name !== 'x-amz-date' && name !== 'x-amz-security-token');
    const again = await signer.sign(
      {
        method,
        protocol: 'http:',
        hostname,
        path,
        headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])),
        body,
      },
      { signingDate: new Date(date), signingRegion: 'us-east-1', signingService: 'lambda' },
    );
    expect(again.headers.authorization).toContain(`Signature=${signature}`);
    client.destroy();
  });

  test('reuses its connection', async () => {
    lambda.answers((response) => response.end('1'));
    await invoke('f', {});
    lambda.sockets.clear();
    for (let i = 0; i < 3; i++) await invoke('f', {});
    expect(lambda.sockets.size).toBe(1);
  });
});

describe('a failure is a 503 whose cause is for the log:', () => {
  test('an error that the function threw, which is not retried', async () => {
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
  ])('a %d, after %d attempts', async (status, attempts) => {
    lambda.answers((response) => response.writeHead(status).end('{"message":"no"}'));
    expect((await failing()).message).toBe(`Lambda answered ${status} to an invocation of f: {"message":"no"}`);
    expect(lambda.received).toHaveLength(attempts);
  });

  test('a result that is not JSON', async () => {
    lambda.answers((response) => response.end('<html>'));
    await failing();
  });

  test('a connection that breaks twice', async () => {
    lambda.answers((response) => response.destroy());
    await failing();
    expect(lambda.received).toHaveLength(2);
  });

  test('an endpoint that refuses connections', async () => {
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
])('%s has no effect if the second attempt succeeds', async (_name, fail) => {
  lambda.answers((response, attempt) => (attempt === 1 ? fail(response as never) : response.end('"well"')));
  expect(await invoke('f', {})).toBe('well');
});
