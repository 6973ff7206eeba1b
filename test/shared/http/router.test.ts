import { describe, expect, test } from '@jest/globals';
import { absentPaths } from '../../../shared/hosts/inference-routes.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import type { ApiError } from '../../../shared/http/errors.ts';
import { type Handle, NotFound, route } from '../../../shared/http/router.ts';
import { eventOf } from '../../support/emulators/api-event.ts';

const echo =
  (name: string): Handle =>
  async ({ pathParameters }) => ({ statusCode: 200, headers: {}, body: JSON.stringify([name, pathParameters]) });

const serve = route({
  '/posted': { POST: 'elsewhere' },
  '/models': { GET: echo('list') },
  '/models/{model+}': { GET: echo('model') },
  '/things/{id}': { GET: echo('thing'), DELETE: echo('delete') },
  '/things/{id}/parts': { GET: echo('parts') },
});
const answer = async (path: string, method = 'GET'): Promise<unknown> => JSON.parse((await serve(eventOf(path, { method }))).body);

describe('a path', () => {
  test.each([
    ['/models', ['list', {}]],
    ['/models/', ['list', {}]],
    ['/models//', ['list', {}]],
    ['/models/a', ['model', { model: 'a' }]],
    ['/models/a/b/c', ['model', { model: 'a/b/c' }]],
    ['/models/a%2Fb%20c', ['model', { model: 'a/b c' }]],
    ['/models/100%', ['model', { model: '100%' }]],
    ['/things/x', ['thing', { id: 'x' }]],
    ['/things/x%2Fy/', ['thing', { id: 'x/y' }]],
    ['/things/x/parts', ['parts', { id: 'x' }]],
  ])('%s is routed with its parameters decoded', async (path, expected) => {
    expect(await answer(path)).toEqual(expected);
  });

  test.each(['/', '/model', '/things', '/things/', '/things/x/y', '/things//parts', '/things/x/parts/y', '/__proto__', '/constructor'])(
    '%s is a 404',
    async (path) => {
      await expect(answer(path)).rejects.toMatchObject({ status: 404, code: 'not_found' });
    },
  );
});

describe('a path is routed with', () => {
  test.each([
    ['a base path of a custom domain', '/base', '/{proxy+}', { proxy: 'things/x%2Fy/parts' }],
    ['a base path that is a route itself', '/models', '/{proxy+}', { proxy: 'things/x%2Fy/parts' }],
    ['a resource further down', '', '/things/{proxy+}', { proxy: 'x%2Fy/parts' }],
    ['a resource without parameters', '/base', '/things/x%2Fy/parts', null],
  ])('%s', async (_, base, resource, pathParameters) => {
    const event = { ...eventOf('/things/x%2Fy/parts', { base }), resource, pathParameters } as ApiEvent;
    expect(JSON.parse((await serve(event)).body)).toEqual(['parts', { id: 'x/y' }]);
  });

  test('names the path in an error as the caller sent it', async () => {
    await expect(serve(eventOf('/nothing', { base: '/base' }))).rejects.toMatchObject({
      message: expect.stringContaining('no route GET /base/nothing.'),
    });
  });
});

test('parses a path of 10,000 slashes in linear time', async () => {
  const before = process.cpuUsage();
  for (const path of [`/models${'/'.repeat(10_000)}`, `/models${'/'.repeat(10_000)}x`]) await serve(eventOf(path)).catch(() => undefined);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(5_000);
});

test('leaves the sender that a handler has authenticated on the event, for the log line of its error', async () => {
  const sender = { key_id: 'key_1', org_id: 'org_1' };
  const host = route({
    '/things/{id}': {
      GET: async (event) => {
        event.sender = sender;
        throw new NotFound('GET', '/things/x');
      },
    },
  });
  const event = eventOf('/things/x');
  await expect(host(event)).rejects.toThrow(NotFound);
  expect(event.sender).toEqual(sender);
});

describe('a method', () => {
  test('is a 405 that lists the supported ones if the path does not support it', async () => {
    await expect(answer('/things/x', 'POST')).rejects.toMatchObject({ status: 405, headers: { allow: 'GET, DELETE, HEAD, OPTIONS' } });
    await expect(answer('/posted')).rejects.toMatchObject({ status: 405, headers: { allow: 'POST, OPTIONS' } });
    await expect(answer('/posted', 'HEAD')).rejects.toMatchObject({ status: 405 });
    await expect(answer('/models', 'constructor')).rejects.toMatchObject({ status: 405 });
  });

  test('is a 404 if another function serves it at a different path', async () => {
    await expect(answer('/posted//', 'POST')).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('no route POST /posted//'),
    });
  });

  test('is answered like GET if it is HEAD', async () => {
    expect(await answer('/models/a', 'HEAD')).toEqual(['model', { model: 'a' }]);
  });

  test('tells browsers what they may send if it is OPTIONS', async () => {
    expect(await serve(eventOf('/things/x', { method: 'OPTIONS' }))).toMatchObject({
      statusCode: 204,
      headers: { 'access-control-allow-methods': 'GET, DELETE, HEAD, OPTIONS', allow: 'GET, DELETE, HEAD, OPTIONS' },
    });
  });
});

test.each(['GET', 'POST', 'DELETE'])(
  'a path that is no route of the host is a 404 for %s, although it looks like an id',
  async (method) => {
    const host = route({ '/v1/responses': { POST: 'elsewhere' }, '/v1/responses/{id}': { GET: echo('response') } }, absentPaths);
    await expect(host(eventOf('/v1/responses/resp_1', { method: 'POST' }))).rejects.toMatchObject({ status: 405 });
    for (const path of ['/v1/responses/compact', '/v1/responses/input_tokens'])
      await expect(host(eventOf(path, { method }))).rejects.toMatchObject({
        status: 404,
        code: 'not_found',
        message: `This host has no route ${method} ${path}. GET /docs lists its routes.`,
      });
  },
);

describe('the 404 of a wrong base URL', () => {
  const host = route({
    '/v1/models': { GET: echo('list') },
    '/v1/models/{model+}': { GET: echo('model') },
    '/v1/chat/completions': { POST: 'elsewhere' },
    '/v1/responses': { POST: 'elsewhere' },
    '/v1/messages': { POST: 'elsewhere' },
    '/v1/messages/count_tokens': { POST: 'elsewhere' },
    '/v1/rerank': { POST: 'elsewhere' },
    '/v2/rerank': { POST: 'elsewhere' },
    '/tokenize': { POST: 'elsewhere' },
    '/v1/responses/{id}': { GET: echo('response') },
  });
  const messageOf = async (path: string, method: string): Promise<string> => {
    const error = await host(eventOf(path, { method })).then(
      () => undefined,
      (thrown: ApiError) => thrown,
    );
    expect(error).toMatchObject({ status: 404, code: 'not_found' });
    return error?.message ?? '';
  };

  test.each([
    ['without /v1', 'POST', '/chat/completions', '/v1/chat/completions'],
    ['with two /v1', 'POST', '/v1/v1/chat/completions', '/v1/chat/completions'],
    ['with a slash too many', 'POST', '//v1/chat/completions', '/v1/chat/completions'],
    ['with a slash at the end', 'POST', '/v1//chat/completions', '/v1/chat/completions'],
    ['with the path of the route', 'POST', '/v1/chat/completions/chat/completions', '/v1/chat/completions'],
    ['with the path of another route', 'POST', '/v1/chat/completions/responses', '/v1/responses'],
    ['of another API', 'POST', '/openai/deployments/chat/completions', '/v1/chat/completions'],
    ['for one resource', 'GET', '/responses/resp_1', '/v1/responses/resp_1'],
    ['for a list', 'GET', '/v1/v1/models', '/v1/models'],
    ['without /v1', 'POST', '/messages', '/v1/messages'],
  ])('names the route that was meant, %s: %s %s', async (_, method, path, meant) => {
    const message = await messageOf(path, method);
    expect(message).toContain(`Did you mean ${method} ${meant}?`);
    expect(message).toContain('it must end with /v1 once');
  });

  test.each([
    ['/v1/v1/messages', '/v1/messages'],
    ['/v1/v1/messages/count_tokens', '/v1/messages/count_tokens'],
    ['/v1/chat/completions/v1/messages', '/v1/messages'],
    ['/v1/v2/rerank', '/v2/rerank'],
    ['/v1/tokenize', '/tokenize'],
  ])('says that clients which add /v1 themselves need no path: POST %s', async (path, meant) => {
    expect(await messageOf(path, 'POST')).toMatch(`Did you mean POST ${meant}? If you set the base URL of a client, it must have no path.`);
  });

  test.each([
    ['POST', '/v1/embeddings'],
    ['GET', '/chat/completions'],
    ['POST', '/nothing'],
    ['POST', `/${'a/'.repeat(2_000)}chat/completions`],
    ['GET', '/'],
  ])('names no other route for %s %s', async (method, path) => {
    const message = await messageOf(path, method);
    expect(message).toContain('GET /docs lists its routes.');
    expect(message).not.toContain('Did you mean');
  });
});
