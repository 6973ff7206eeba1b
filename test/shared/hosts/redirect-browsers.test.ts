import { describe, expect, test } from '@jest/globals';
import { redirectBrowsers } from '../../../shared/hosts/redirect-browsers.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { type Handle, route } from '../../../shared/http/router.ts';
import { eventOf } from '../../support/emulators/api-event.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const page: Handle = async () => ({ statusCode: 200, headers: {}, body: 'page' });
const serve = redirectBrowsers(route({ '/docs': { GET: page } }));

const open = (url: string, path = '/', method = 'GET', accept = BROWSER) => {
  const { pathname } = new URL(url);
  return serve({ ...eventOf(path, { method, headers: { Accept: accept } }), requestContext: { path: pathname } } as ApiEvent);
};

describe('the root of a host', () => {
  test.each([
    ['https://api.example.com', 'https://api.example.com/docs'],
    ['https://api.example.com/live/', 'https://api.example.com/live/docs'],
    ['https://api.example.com/live', 'https://api.example.com/live/docs'],
    ['https://example.com/a/b', 'https://example.com/a/b/docs'],
  ])('redirects a browser at %s to the reference', async (url, reference) => {
    for (const method of ['GET', 'HEAD']) {
      const { statusCode, headers } = await open(url, '/', method);
      expect([statusCode, new URL(headers.location ?? '', url).href, headers.vary]).toEqual([302, reference, 'accept']);
    }
  });

  test.each([
    ['GET', 'application/json'],
    ['GET', '*/*'],
    ['POST', BROWSER],
    ['OPTIONS', BROWSER],
  ])('is a 404 for %s with Accept: %s', async (method, accept) => {
    await expect(open('https://api.example.com/', '/', method, accept)).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });
});

test('serves other paths of a host to browsers as to all callers', async () => {
  expect(await open('https://api.example.com/docs', '/docs')).toMatchObject({ statusCode: 200, body: 'page' });
  await expect(open('https://api.example.com/nothing', '/nothing')).rejects.toMatchObject({ status: 404 });
});
