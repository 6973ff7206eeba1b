import { beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import type { TestRun } from '../../support/clients/local-run.ts';
import { ALWAYS_PUBLISHED, ESCAPED, publishedModels } from './run.ts';

let run: TestRun;
let client: OpenAI;
beforeAll(async () => {
  run = await publishedModels.start();
  client = new OpenAI({ apiKey: run.api_key, baseURL: `${run.base_url}/v1`, maxRetries: 0 });
});

const get = (path: string, init: RequestInit = {}): Promise<Response> => fetch(run.base_url + path, init);
const withKey = (secret: string): RequestInit => ({ headers: { authorization: `Bearer ${secret}` } });

describe('GET /v1/models', () => {
  test('lists the models for the OpenAI client, which retrieves each by name, whatever its characters', async () => {
    const names: string[] = [];
    for await (const { id } of client.models.list()) names.push(id);
    expect(names).toEqual(expect.arrayContaining([ESCAPED, 'sluice-tiny', 'soon']));
    expect(names).not.toContain('hidden');
    for (const name of names) expect(await client.models.retrieve(name)).toMatchObject({ id: name, object: 'model' });
  });

  test('accepts a name with unescaped slashes', async () => {
    const response = await get('/v1/models/acme/llama%203:8b%25');
    expect(await response.json()).toMatchObject({ id: ESCAPED, pricing: { prompt: '0.00000005', completion: '0.000000123456789' } });
  });

  test('returns 404 for a model that is not published', async () => {
    await expect(client.models.retrieve('hidden')).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  });

  test('returns 304 when If-None-Match has the current ETag', async () => {
    for (const path of ['/v1/models', '/v1/models/sluice-tiny', '/openapi.json', '/docs']) {
      const first = await get(path);
      const again = await get(path, { headers: { 'if-none-match': first.headers.get('etag') as string } });
      expect([path, again.status, await again.text(), again.headers.get('etag')]).toEqual([path, 304, '', first.headers.get('etag')]);
    }
  });
});

describe('GET /health', () => {
  test('lists which models are available', async () => {
    expect(await (await get('/health')).json()).toEqual({
      status: 'ok',
      models: { ...Object.fromEntries(ALWAYS_PUBLISHED.map((name) => [name, 'available'])), soon: 'unavailable' },
    });
  });
});

describe('GET /v1/key', () => {
  test('returns what is left of the limits after a request and does not count against them', async () => {
    const { secret, key_id } = await run.createKey({
      requests_per_minute: 10,
      tokens_per_minute: 100_000,
      concurrency: 4,
      models: ['sluice-tiny'],
    });
    const answer = await new OpenAI({ apiKey: secret, baseURL: `${run.base_url}/v1` }).chat.completions.create({
      model: 'sluice-tiny',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 5,
    });
    for (let attempt = 0; attempt < 12; attempt++) {
      const response = await get('/v1/key', withKey(secret));
      expect([response.status, response.headers.get('cache-control'), response.headers.get('etag')]).toEqual([200, 'no-store', null]);
      expect(await response.json()).toMatchObject({
        id: key_id,
        scope: 'serverless',
        models: ['sluice-tiny'],
        requests_per_minute: { limit: 10, remaining: 9 },
        tokens_per_minute: { limit: 100_000, remaining: 100_000 - (answer.usage?.total_tokens ?? 0) },
        concurrency: { limit: 4, in_flight: 0 },
      });
    }
  });

  test('returns the same 401 for an invalid key as every other route', async () => {
    const response = await get('/v1/key', withKey('sk-nonsense'));
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({
      error: expect.stringContaining('not valid'),
      code: 'invalid_api_key',
      request_id: response.headers.get('x-request-id'),
    });
  });
});

describe('GET /docs', () => {
  test('serves every file of the page, compressed and cached forever', async () => {
    const page = await (await get('/docs')).text();
    const links = [...page.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, link]) => `/${link}`);
    expect(links).toHaveLength(2);
    for (const link of links) {
      const response = await get(link);
      expect(response.headers.get('content-encoding')).toBe('gzip');
      expect(response.headers.get('cache-control')).toContain('immutable');
      expect((await response.text()).length).toBeGreaterThan(100_000);
      const plain = await get(link, { headers: { 'accept-encoding': 'identity' } });
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(await plain.text()).toContain('Swagger UI');
    }
  });

  test.each(['base_url', 'ondemand_url', 'control_url'] as const)('is where a browser gets that opens %s', async (host) => {
    const response = await fetch(run[host] ?? '', { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect([response.status, response.url, response.redirected]).toEqual([200, `${run[host]}/docs`, true]);
    expect((await fetch(run[host] ?? '')).status).toBe(404);
  });

  test('redirects a trailing slash, so that relative links work', async () => {
    const response = await get('/docs/');
    expect([response.status, response.url]).toEqual([200, `${run.base_url}/docs`]);
  });
});

describe('HTTP methods', () => {
  test.each([
    ['/v1/models', 'GET, HEAD, OPTIONS'],
    ['/v1/models/a/b', 'GET, HEAD, OPTIONS'],
    ['/v1/key', 'GET, HEAD, OPTIONS'],
    ['/health', 'GET, HEAD, OPTIONS'],
    ['/version', 'GET, HEAD, OPTIONS'],
    ['/openapi.json', 'GET, HEAD, OPTIONS'],
    ['/docs', 'GET, HEAD, OPTIONS'],
    ['/docs/x.js', 'GET, HEAD, OPTIONS'],
    ['/v1/chat/completions', 'POST, OPTIONS'],
    ['/v1/completions', 'POST, OPTIONS'],
    ['/v1/responses', 'POST, OPTIONS'],
    ['/tokenize', 'POST, OPTIONS'],
    ['/detokenize', 'POST, OPTIONS'],
  ])('are allowed at %s if they are %s; any other returns 405 with Allow', async (path, allow) => {
    for (const method of ['PUT', 'PATCH', ...(allow.startsWith('GET') ? ['POST'] : ['GET', 'HEAD'])]) {
      const response = await get(path, { method });
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, allow]);
    }
    const preflight = await get(path, { method: 'OPTIONS' });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, allow]);
  });

  test('include HEAD, which returns the ETag of GET without a body', async () => {
    for (const path of ['/v1/models', '/v1/models/sluice-tiny', '/openapi.json', '/docs', '/health', '/version']) {
      const [head, whole] = [await get(path, { method: 'HEAD' }), await get(path)];
      expect([path, head.status, await head.text(), head.headers.get('etag')]).toEqual([path, 200, '', whole.headers.get('etag')]);
    }
  });
});
