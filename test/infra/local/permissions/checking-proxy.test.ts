import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Role } from '../../../../infra/assembly/interpret-roles.ts';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import { createCheck, type Use } from '../../../../infra/local/permissions/check.ts';
import { type CheckingProxy, startCheckingProxy } from '../../../../infra/local/permissions/checking-proxy.ts';
import { fixtureFunction } from '../fixtures.ts';

const TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/keys';
const COMPONENTS = 'arn:aws:sagemaker:us-east-1:000000000000:inference-component/';
const BY_SCALING = { StringEquals: { 'aws:CalledViaLast': ['application-autoscaling.amazonaws.com'] } };
const ROLE = 'arn:aws:iam::000000000000:role/test';
const fn = fixtureFunction('buffered', { roleArn: ROLE });
const role: Role = {
  title: 'stack/Role',
  arn: ROLE,
  statements: [
    { Effect: 'Allow', Action: ['dynamodb:GetItem'], Resource: [TABLE], Condition: {} },
    { Effect: 'Allow', Action: ['application-autoscaling:RegisterScalableTarget'], Resource: ['*'], Condition: {} },
    { Effect: 'Allow', Action: ['sagemaker:DescribeEndpoint'], Resource: ['*'], Condition: BY_SCALING },
    { Effect: 'Allow', Action: ['sagemaker:DescribeInferenceComponent'], Resource: ['*'], Condition: {} },
    { Effect: 'Allow', Action: ['sagemaker:UpdateInferenceComponentRuntimeConfig'], Resource: [`${COMPONENTS}sluice-*`], Condition: {} },
  ],
  unexercised: [],
};

let emulator: Server;
let proxy: CheckingProxy;
let uses: Use[];
let received: string[];
beforeEach(async () => {
  uses = [];
  received = [];
  emulator = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push(`${request.method} ${request.url} ${Buffer.concat(chunks)}`);
    if (request.url === '/broken') return void response.destroy();
    response.writeHead(201, { 'x-kept': 'yes' });
    response.write('first ');
    setImmediate(() => response.end('second'));
  });
  const check = createCheck({ functions: [fn], roles: [role], tagsOf: () => Promise.resolve({}), report: (use) => uses.push(use) });
  proxy = await startCheckingProxy(await listen(emulator, 0), check);
});
afterEach(async () => {
  await proxy.close();
  await closeServer(emulator);
});

const signedBy = (accessKeyId: string, service = 'dynamodb'): string =>
  `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20261122/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=00`;

const call = (operation: string, authorization: string | undefined, path = '/'): Promise<Response> =>
  fetch(proxy.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      ...(authorization && { authorization }),
    },
    body: '{"TableName":"keys"}',
  });

const BY_FUNCTION = signedBy('function.test-buffered');

describe('a call of a function', () => {
  test('reaches the emulator if its role allows it; and each use of the permission is reported', async () => {
    for (let times = 0; times < 2; times += 1) {
      const reply = await call('GetItem', BY_FUNCTION, '/a?b=c');
      expect([reply.status, reply.headers.get('x-kept'), await reply.text()]).toEqual([201, 'yes', 'first second']);
    }
    expect(received).toEqual(Array(2).fill('POST /a?b=c {"TableName":"keys"}'));
    const use = { kind: 'used', role: 'stack/Role', action: 'dynamodb:GetItem', resource: TABLE };
    expect(uses).toEqual([use, use]);
  });

  test('is denied as on AWS if its role does not allow it, and does not reach the emulator', async () => {
    const reply = await call('PutItem', BY_FUNCTION);
    const message = `stack/Role is not authorized to perform dynamodb:PutItem on ${TABLE}: no policy allows it`;
    expect([reply.status, await reply.json()]).toEqual([400, { __type: 'AccessDeniedException', message }]);
    expect(received).toEqual([]);
    expect(uses).toMatchObject([{ kind: 'denied', function: 'buffered', action: 'dynamodb:PutItem', resource: TABLE }]);
  });

  test('is denied if the check does not know its operation or service', async () => {
    expect((await call('ExecuteStatement', BY_FUNCTION)).status).toBe(400);
    expect((await call('GetItem', signedBy('function.test-buffered', 'kinesis'))).status).toBe(400);
    expect(uses).toMatchObject(
      [
        { kind: 'denied', why: /ExecuteStatement/ },
        { kind: 'denied', why: /kinesis/ },
      ].map(({ kind, why }) => ({ kind, why: expect.stringMatching(why) })),
    );
  });

  test('is denied in the words of a service that acts for its caller, with all that the caller may not do', async () => {
    const reply = await fetch(proxy.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': 'AnyScaleFrontendService.RegisterScalableTarget',
        authorization: signedBy('function.test-buffered', 'application-autoscaling'),
      },
      body: JSON.stringify({ ServiceNamespace: 'sagemaker', ScalableDimension: 'sagemaker:inference-component:DesiredCopyCount' }),
    });
    const missing = 'sagemaker:DescribeEndpointConfig, sagemaker:UpdateInferenceComponentRuntimeConfig';
    expect([reply.status, await reply.json()]).toEqual([
      400,
      { __type: 'ValidationException', message: `User is missing the following permissions: ${missing}` },
    ]);
    expect(received).toEqual([]);
    expect(uses.filter(({ kind }) => kind === 'denied').map(({ action }) => action)).toEqual(missing.split(', '));
  });

  test('is denied with a 403 in XML by S3', async () => {
    const url = `${proxy.url}/files/a?X-Amz-Credential=function.test-buffered%2F20261122%2Fus-east-1%2Fs3%2Faws4_request`;
    const reply = await fetch(url);
    expect([reply.status, await reply.text()]).toEqual([403, expect.stringContaining('<Code>AccessDenied</Code>')]);
  });

  test('loses its connection if the emulator does', async () => {
    await expect(call('GetItem', BY_FUNCTION, '/broken')).rejects.toThrow();
  });
});

test.each([
  ['another key', signedBy('local')],
  ['nobody', undefined],
])('a call that is signed by %s is not checked', async (_, authorization) => {
  expect((await call('DeleteTable', authorization)).status).toBe(201);
  expect(uses).toEqual([]);
});
