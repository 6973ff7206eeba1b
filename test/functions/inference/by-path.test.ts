import { expect, test } from '@jest/globals';
import { byPath } from '../../../functions/inference/by-path.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';

const clock = { getRemainingTimeInMillis: () => 1_000 };
const answered = async (name: string) => ({ statusCode: 200, headers: {}, body: name });
const routes = byPath({ '/tokenize': () => answered('tokens'), '/v1/completions': () => answered('completion') });
const serve = async (resource: string, path: string): Promise<unknown> => (await routes({ resource, path } as ApiEvent, clock)).body;

test.each([
  ['/tokenize', '/tokenize', 'tokens'],
  ['/v1/completions', '/v1/completions', 'completion'],
  ['/tokenize', '/tokenize/', 'tokens'],
  ['/v1/completions', '/base/path/v1/completions', 'completion'],
])('the resource %s is its route, also where the path is %s', async (resource, path, expected) => {
  expect(await serve(resource, path)).toBe(expected);
});

test.each(['/other', '/constructor'])('a resource that is no route, as %s, is our own mistake', (resource) => {
  expect(() => routes({ resource, path: '/tokenize' } as ApiEvent, clock)).toThrow(`The resource ${resource}`);
});
