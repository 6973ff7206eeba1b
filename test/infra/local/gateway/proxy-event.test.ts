import { describe, expect, test } from '@jest/globals';
import type { RestApi, Route } from '../../../../infra/assembly/local-app.ts';
import { proxyEvent, type ReceivedRequest } from '../../../../infra/local/gateway/proxy-event.ts';

const route: Route = {
  resourceId: 'res1',
  resourcePath: '/v1/{proxy+}',
  method: 'ANY',
  functionArn: 'f',
  transferMode: 'BUFFERED',
  timeoutMs: 1,
};
const api: RestApi = {
  id: 'abc123',
  stackName: 's',
  stage: 'live',
  stageVariables: null,
  binaryMediaTypes: ['*/*'],
  routes: [route],
  gatewayResponses: new Map(),
};
const ids = { requestId: 'r-1', extendedRequestId: 'e-1' };
const received: ReceivedRequest = {
  method: 'POST',
  target: '/v1/a%20b?q=1&q=2&e=%C3%A9',
  httpVersion: '1.1',
  rawHeaders: ['Host', 'localhost:4000', 'X-One', 'a', 'x-one', 'b', 'User-Agent', 'test', 'Connection', 'keep-alive'],
  sourceIp: '127.0.0.1',
  port: 4000,
  body: Buffer.from([0xff, 0x00]),
  receivedAt: new Date('2026-11-20T21:30:05.123Z'),
};
const eventOf = (changes: Partial<ReceivedRequest> = {}, apiChanges: Partial<RestApi> = {}) =>
  proxyEvent({ ...api, ...apiChanges }, { route, pathParameters: { proxy: 'a%20b' } }, { ...received, ...changes }, ids);

describe('the event of a proxy integration', () => {
  test('has the path and resource without the stage, and the stage in its context', () => {
    expect(eventOf()).toMatchObject({
      resource: '/v1/{proxy+}',
      path: '/v1/a%20b',
      httpMethod: 'POST',
      pathParameters: { proxy: 'a%20b' },
      stageVariables: null,
      requestContext: {
        resourceId: 'res1',
        resourcePath: '/v1/{proxy+}',
        path: '/live/v1/a%20b',
        stage: 'live',
        accountId: '000000000000',
        apiId: 'abc123',
        domainName: 'localhost:4000',
        protocol: 'HTTP/1.1',
        requestId: 'r-1',
        extendedRequestId: 'e-1',
        requestTime: '20/Nov/2026:21:30:05 +0000',
        requestTimeEpoch: 1_795_210_205_123,
        identity: { sourceIp: '127.0.0.1', userAgent: 'test', apiKey: null },
      },
    });
  });

  test("has headers in the caller's letter case: the last value in one map, all values in the other", () => {
    const event = eventOf();
    expect(event.headers).toMatchObject({
      Host: 'localhost:4000',
      'X-One': 'b',
      'X-Forwarded-For': '127.0.0.1',
      'X-Forwarded-Port': '4000',
    });
    expect(event.multiValueHeaders).toMatchObject({ 'X-One': ['a', 'b'], 'User-Agent': ['test'] });
    expect(event.headers).not.toHaveProperty('Connection');
    expect(event.headers['X-Amzn-Trace-Id']).toMatch(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/);
  });

  test("appends the caller's address to X-Forwarded-For", () => {
    expect(eventOf({ rawHeaders: ['X-Forwarded-For', '203.0.113.9'] }).headers['X-Forwarded-For']).toBe('203.0.113.9, 127.0.0.1');
  });

  test('has decoded query parameters, or null for none', () => {
    expect(eventOf()).toMatchObject({
      queryStringParameters: { q: '2', e: 'é' },
      multiValueQueryStringParameters: { q: ['1', '2'], e: ['é'] },
    });
    expect(eventOf({ target: '/v1/x' })).toMatchObject({ queryStringParameters: null, multiValueQueryStringParameters: null });
  });

  test('has the body as base64 for a binary media type, otherwise as text, and null without a body', () => {
    expect(eventOf()).toMatchObject({ body: '/wA=', isBase64Encoded: true });
    expect(eventOf({ body: Buffer.from('é') }, { binaryMediaTypes: ['image/png'] })).toMatchObject({ body: 'é', isBase64Encoded: false });
    expect(eventOf({ body: Buffer.alloc(0) })).toMatchObject({ body: null, isBase64Encoded: false });
  });
});
