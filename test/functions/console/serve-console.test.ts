import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { createConsole } from '../../../functions/console/serve-console.ts';
import { interpret } from '../../../infra/assembly/interpret.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import { assemblyDir } from '../../support/assembly/assembly.ts';
import { eventOf } from '../../support/emulators/api-event.ts';

const { functions } = interpret(await readAssembly(assemblyDir()));
const { folder } = functions.find(({ shortName }) => shortName === 'console') as { folder: string };
const serve = createConsole({ folder: path.join(folder, 'console'), origins: ['https://api.example.com'] });

const get = (requested: string, headers: Record<string, string> = {}) => {
  const [, , ...rest] = requested.split('/');
  return serve({ ...eventOf(requested, { headers }), pathParameters: { path: rest.join('/').replace(/\/$/, '') } });
};

// As a browser resolves it.
const assetsOf = async (requested: string): Promise<string[]> => {
  const { body } = await get(requested);
  const [, base = ''] = /<base href="([^"]*)">/.exec(body) ?? [];
  const links = [...body.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, link]) => link as string);
  return links.map((link) => new URL(link, new URL(base, `https://host.example/live${requested}`)).pathname);
};

describe('the page', () => {
  test.each(['/console', '/console/', '/console/api-keys', '/console/api-keys/', '/console/models/acme/qwen-2.5', '/console/a/b/c/'])(
    'finds its assets from %s, below the path of a stage too',
    async (requested) => {
      expect(await assetsOf(requested)).toEqual([
        expect.stringMatching(/^\/live\/console\/assets\/console-[0-9A-Z]{8}\.css$/),
        expect.stringMatching(/^\/live\/console\/assets\/console-[0-9A-Z]{8}\.js$/),
      ]);
    },
  );

  test('runs only scripts of this host, calls only the hosts of this service, and is in no frame', async () => {
    const { statusCode, headers } = await get('/console/');
    expect(statusCode).toBe(200);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self' https://api.example.com; base-uri 'self'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cross-origin-opener-policy': 'same-origin' });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  test('is asked for again at each visit, and sent only if it changed', async () => {
    const { headers } = await get('/console/');
    expect(headers['cache-control']).toBe('no-cache');
    expect(await get('/console/', { 'if-none-match': headers.etag as string })).toMatchObject({ statusCode: 304, body: '' });
  });
});

describe('an asset', () => {
  test('can be kept forever, because its name has the hash of its content', async () => {
    const [, script = ''] = await assetsOf('/console/');
    const reply = await get(script.replace('/live', ''), { 'accept-encoding': 'gzip' });
    expect(reply).toMatchObject({ statusCode: 200, isBase64Encoded: true });
    expect(reply.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
    });
    expect(gunzipSync(Buffer.from(reply.body, 'base64')).toString()).toContain('createRoot');
  });

  test.each(['console-00000000.js', 'index.html', '..%2Findex.mjs', '../index.mjs'])(
    'is a 404 and no page if this release has no %s',
    async (name) => {
      await expect(get(`/console/assets/${name}`)).rejects.toMatchObject({ status: 404 });
    },
  );
});
