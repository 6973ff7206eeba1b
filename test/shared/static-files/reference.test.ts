import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { interpret } from '../../../infra/assembly/interpret.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import type { Reply } from '../../../shared/http/reply.ts';
import { createReference } from '../../../shared/static-files/reference.ts';
import { assemblyDir } from '../../support/assembly/assembly.ts';
import { eventOf } from '../../support/emulators/api-event.ts';

// Lambda's limit.
const MAX_REPLY_BYTES = 6 * 1024 * 1024;

const { functions } = interpret(await readAssembly(assemblyDir()));
const { folder } = functions.find(({ shortName }) => shortName === 'catalog') as { folder: string };
const { document, page, viewerFile } = createReference(path.join(folder, 'reference'));

const bytesOf = ({ body, headers }: Reply): Buffer => {
  const bytes = Buffer.from(body, 'base64');
  return headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
};
const compressed = { headers: { 'Accept-Encoding': 'br;q=1.0, gzip;q=0.8' } };
const fileOf = (file: string, options: Parameters<typeof eventOf>[1] = {}) => ({
  ...eventOf(`/docs/${file}`, options),
  pathParameters: { file },
});

test('sends the document compressed to clients that accept gzip, plain to others, each with its own ETag', async () => {
  const [small, plain] = [await document(eventOf('/openapi.json', compressed)), await document(eventOf('/openapi.json'))];
  expect(small).toMatchObject({ statusCode: 200, isBase64Encoded: true, headers: { 'content-encoding': 'gzip', vary: 'accept-encoding' } });
  expect(plain.headers).not.toHaveProperty('content-encoding');
  expect(bytesOf(small)).toEqual(bytesOf(plain));
  expect(JSON.parse(bytesOf(plain).toString())).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
  expect(small.headers.etag).not.toBe(plain.headers.etag);
  for (const refusing of ['identity', 'gzip;q=0', 'gzip; q=0.0', 'x-gzip'])
    expect((await document(eventOf('/openapi.json', { headers: { 'accept-encoding': refusing } }))).headers.etag).toBe(plain.headers.etag);
});

test('replies 304 to clients that have the document', async () => {
  const { headers } = await document(eventOf('/openapi.json'));
  const again = await document(eventOf('/openapi.json', { headers: { 'if-none-match': headers.etag as string } }));
  expect(again).toMatchObject({ statusCode: 304, body: '', headers: { 'cache-control': 'public, max-age=300' } });
});

describe('the page', () => {
  test('loads only files of this host, with relative paths', async () => {
    const reply = await page(eventOf('/docs'));
    expect(reply.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self';/),
    });
    const links = [
      ...bytesOf(reply)
        .toString()
        .matchAll(/(?:src|href)="([^"]+)"/g),
    ].map(([, link]) => link as string);
    expect(links.filter((link) => !/^(?:docs\/viewer\.[0-9a-f]{12}\.(?:js|css)|openapi\.json|data:,)$/.test(link))).toEqual([]);
    for (const link of links.filter((found) => found.startsWith('docs/'))) {
      const file = await viewerFile(fileOf(link.slice('docs/'.length)));
      expect(file).toMatchObject({ statusCode: 200, headers: { 'cache-control': 'public, max-age=31536000, immutable' } });
      expect(JSON.stringify(file).length).toBeLessThan(MAX_REPLY_BYTES);
    }
  });

  test('redirects a trailing slash, so that its relative links work', async () => {
    expect(await page(eventOf('/docs/'))).toMatchObject({ statusCode: 308, headers: { location: '../docs' } });
  });

  test.each(['docs.html', 'openapi.json', 'viewer.js', '../index.mjs', '..%2Findex.mjs', '/etc/passwd', ''])(
    'does not serve the file %j',
    async (file) => {
      await expect(viewerFile(fileOf(file))).rejects.toMatchObject({ status: 404, code: 'not_found' });
    },
  );
});
