import { describe, expect, test } from '@jest/globals';
import { type Handle, route } from '../../../functions/catalog/router.ts';
import { eventOf } from './fixtures.ts';

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
    ['/models/a', ['model', { model: 'a' }]],
    ['/models/a/b/c', ['model', { model: 'a/b/c' }]],
    ['/models/a%2Fb%20c', ['model', { model: 'a/b c' }]],
    ['/models/100%', ['model', { model: '100%' }]],
    ['/things/x', ['thing', { id: 'x' }]],
    ['/things/x%2Fy/', ['thing', { id: 'x/y' }]],
    ['/things/x/parts', ['parts', { id: 'x' }]],
  ])('%s goes to its route with its parameters decoded', async (path, expected) => {
    expect(await answer(path)).toEqual(expected);
  });

  test.each(['/', '/model', '/things', '/things/', '/things/x/y', '/things//parts', '/things/x/parts/y', '/__proto__', '/constructor'])(
    '%s is a 404',
    async (path) => {
      await expect(answer(path)).rejects.toMatchObject({ status: 404, code: 'not_found' });
    },
  );
});

describe('a method', () => {
  test('that the path does not take is a 405 that names those it takes', async () => {
    await expect(answer('/things/x', 'POST')).rejects.toMatchObject({ status: 405, headers: { allow: 'GET, DELETE, HEAD, OPTIONS' } });
    await expect(answer('/posted')).rejects.toMatchObject({ status: 405, headers: { allow: 'POST, OPTIONS' } });
    await expect(answer('/posted', 'HEAD')).rejects.toMatchObject({ status: 405 });
    await expect(answer('/models', 'constructor')).rejects.toMatchObject({ status: 405 });
  });

  test('HEAD is answered as GET is', async () => {
    expect(await answer('/models/a', 'HEAD')).toEqual(['model', { model: 'a' }]);
  });

  test('OPTIONS tells browsers what they may send', async () => {
    expect(await serve(eventOf('/things/x', { method: 'OPTIONS' }))).toMatchObject({
      statusCode: 204,
      headers: { 'access-control-allow-methods': 'GET, DELETE, HEAD, OPTIONS', allow: 'GET, DELETE, HEAD, OPTIONS' },
    });
  });
});
