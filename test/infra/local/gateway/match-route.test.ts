import { describe, expect, test } from '@jest/globals';
import type { Route } from '../../../../infra/assembly/local-app.ts';
import { matchRoute } from '../../../../infra/local/gateway/match-route.ts';

const route = (method: string, resourcePath: string): Route => ({
  resourceId: resourcePath,
  resourcePath,
  method,
  functionArn: 'f',
  transferMode: 'BUFFERED',
  timeoutMs: 1,
});

const routes = [
  route('ANY', '/{proxy+}'),
  route('ANY', '/'),
  route('ANY', '/v1/{kind}/list'),
  route('ANY', '/v1/models'),
  route('POST', '/v1/models'),
  route('GET', '/v1/{kind}'),
  route('GET', '/v1/models/{id}'),
];

describe('matching a route', () => {
  test.each([
    ['GET', '/', 'ANY /', null],
    ['POST', '/v1/models', 'POST /v1/models', null],
    ['DELETE', '/v1/models', 'ANY /v1/models', null],
    ['GET', '/v1/models/', 'ANY /v1/models', null],
    ['GET', '/v1/things', 'GET /v1/{kind}', { kind: 'things' }],
    ['GET', '/v1/models/a%2Fb', 'GET /v1/models/{id}', { id: 'a%2Fb' }],
    ['GET', '/v1/models/list', 'GET /v1/models/{id}', { id: 'list' }],
    ['GET', '/v1/things/list', 'ANY /v1/{kind}/list', { kind: 'things' }],
    ['GET', '/v1/things/other', 'ANY /{proxy+}', { proxy: 'v1/things/other' }],
    ['PUT', '/x/y/z', 'ANY /{proxy+}', { proxy: 'x/y/z' }],
  ])('%s %s → %s', (method, path, expected, pathParameters) => {
    const match = matchRoute(routes, method, path);
    expect(`${match?.route.method} ${match?.route.resourcePath}`).toBe(expected);
    expect(match?.pathParameters).toEqual(pathParameters);
  });

  test('matches nothing if the best resource lacks the method', () => {
    expect(matchRoute(routes, 'POST', '/v1/things')).toBeUndefined();
  });

  test('does not match a greedy parameter without a segment', () => {
    expect(matchRoute([route('ANY', '/{proxy+}')], 'GET', '/')).toBeUndefined();
  });
});
