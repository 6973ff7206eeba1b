import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SizeChanged, storedGzip, storedGzipBytes } from '../../../../functions/deployments/adapters/stored-gzip.ts';
import { tar, tarBytes } from '../../../../functions/deployments/adapters/tar.ts';

async function* chunksOf(content: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) {
    yield content.subarray(at, at + size);
    at += size;
  }
  yield content.subarray(at);
}

const written = async (content: AsyncIterable<Uint8Array>): Promise<Buffer> => Buffer.concat(await Array.fromAsync(content));

test('a gzip file has its content and the size that was said, whatever the chunks are', async () => {
  const content = fc.integer({ min: 0, max: 200_000 }).map((bytes) => Buffer.alloc(bytes, 'sluice'));
  const sizes = fc.array(fc.integer({ min: 0, max: 90_000 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(content, sizes, async (bytes, chunks) => {
      const file = await written(storedGzip(chunksOf(bytes, chunks), bytes.length));
      expect(file).toHaveLength(storedGzipBytes(bytes.length));
      expect(gunzipSync(file).equals(bytes)).toBe(true);
    }),
    {
      numRuns: 60,
      examples: [
        [Buffer.alloc(65_535), []],
        [Buffer.alloc(65_536), [1]],
        [Buffer.alloc(131_070), [65_535]],
      ],
    },
  );
});

test.each([-1, 1])('a content of another size is no gzip file (%i byte)', async (more) => {
  const content = Buffer.alloc(1_000);
  await expect(written(storedGzip(chunksOf(content, []), content.length + more))).rejects.toThrow(SizeChanged);
});

test('tar unpacks an archive', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'adapter-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const contents = { 'adapter_config.json': Buffer.from('{"r":8}'), 'adapter_model.safetensors': Buffer.alloc(70_000, 'weights') };
  const files = Object.entries(contents).map(([name, content]) => ({ name, bytes: content.length, content: chunksOf(content, [100]) }));
  const size = tarBytes(files);
  await writeFile(path.join(folder, 'adapter.tar.gz'), await written(storedGzip(tar(files), size)));
  await promisify(execFile)('tar', ['-xzf', 'adapter.tar.gz'], { cwd: folder });
  for (const [name, content] of Object.entries(contents)) expect((await readFile(path.join(folder, name))).equals(content)).toBe(true);
});
