import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from '@jest/globals';
import { createFileStore, createMemoryStore, type ObjectStore } from '../../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../../infra/local/s3/server.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const Bucket = 'my-bucket';
const folder = temporaryFolder();
const emulators: S3Emulator[] = [];

const start = async (store: ObjectStore): Promise<S3Client> => {
  const emulator = await startS3(new Set([Bucket]), store);
  emulators.push(emulator);
  // As in a function: only the endpoint is configured, and it is an IP address.
  return new S3Client({
    endpoint: emulator.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
};
const read = async (client: S3Client, Key: string): Promise<string> =>
  (await (await client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString()) ?? '';

afterAll(async () => {
  await Promise.all(emulators.map(({ close }) => close()));
  await folder[Symbol.asyncDispose]();
});

describe.each([
  ['in memory', () => createMemoryStore()],
  ['in files', () => createFileStore(path.join(folder.path, 'objects'))],
])('an emulator that stores objects %s', (_name, createStore) => {
  test('returns stored objects, with any key, and the latest version', async () => {
    const client = await start(createStore());
    const keys = ['a', 'sha256/1/tokenizer.json', 'é & <x>?#%', '../../escaped', '..', '/', 'a//b', 'k'.repeat(1_024)];
    for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: `content of ${Key}` }));
    for (const key of keys) expect(await read(client, key)).toBe(`content of ${key}`);
    await client.send(new PutObjectCommand({ Bucket, Key: 'a', Body: Buffer.from([0, 255]) }));
    const { Body, ContentLength, ETag } = await client.send(new GetObjectCommand({ Bucket, Key: 'a' }));
    expect(await Body?.transformToByteArray()).toEqual(new Uint8Array([0, 255]));
    expect([ContentLength, ETag]).toEqual([2, expect.stringMatching(/^"[0-9a-f]{32}"$/)]);
  });

  test('returns the size of an object without its content', async () => {
    const client = await start(createStore());
    await client.send(new PutObjectCommand({ Bucket, Key: 'sized', Body: '12345' }));
    expect((await client.send(new HeadObjectCommand({ Bucket, Key: 'sized' }))).ContentLength).toBe(5);
    await expect(client.send(new HeadObjectCommand({ Bucket, Key: 'gone' }))).rejects.toMatchObject({ name: 'NotFound' });
  });

  test('stores an object only if there is none, if the request says so', async () => {
    const client = await start(createStore());
    const put = (Body: string) => client.send(new PutObjectCommand({ Bucket, Key: 'once', Body, IfNoneMatch: '*' }));
    await put('first');
    await expect(put('second')).rejects.toMatchObject({ name: 'PreconditionFailed', $metadata: { httpStatusCode: 412 } });
    expect(await read(client, 'once')).toBe('first');
  });

  test('lists the objects under a prefix page by page, in the order of their keys’ bytes', async () => {
    const client = await start(createStore());
    const keys = ['org_1/é & <x>.bin', 'org_1/a/model.safetensors', 'org_1/a', 'org_1/Z', 'org_1/b', 'org_10/other', 'z'];
    for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    const pages: (string | undefined)[][] = [];
    for await (const { Contents = [] } of paginateListObjectsV2({ client, pageSize: 2 }, { Bucket, Prefix: 'org_1/' }))
      pages.push(Contents.map(({ Key }) => Key));
    expect(pages).toEqual([['org_1/Z', 'org_1/a'], ['org_1/a/model.safetensors', 'org_1/b'], ['org_1/é & <x>.bin']]);
    const { KeyCount, IsTruncated, Contents } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'org_10/', MaxKeys: 1 }));
    expect({ KeyCount, IsTruncated }).toEqual({ KeyCount: 1, IsTruncated: false });
    expect(Contents).toEqual([
      expect.objectContaining({ Size: 12, LastModified: expect.any(Date), ETag: expect.stringMatching(/^"[0-9a-f]{32}"$/) }),
    ]);
    const none = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'nothing/', MaxKeys: 1 }));
    expect([none.KeyCount, none.Contents]).toEqual([0, undefined]);
  });

  test('lists one version of each object, as for a bucket that keeps none, and deletes it', async () => {
    const client = await start(createStore());
    const keys = ['versions/a', 'versions/é & <x>.bin', 'versions0'];
    for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    const list = async () => (await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: 'versions/' }))).Versions ?? [];
    const found = await list();
    expect(found).toEqual(
      keys.slice(0, 2).map((Key) => expect.objectContaining({ Key, VersionId: 'null', IsLatest: true, LastModified: expect.any(Date) })),
    );
    const [{ Key, VersionId } = {}] = found;
    await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
    expect((await list()).map((version) => version.Key)).toEqual([keys[1]]);
    const folders = new ListObjectVersionsCommand({ Bucket, Delimiter: '/' });
    await expect(client.send(folders)).rejects.toMatchObject({ name: 'NotImplemented' });
  });

  test('returns the same errors as S3', async () => {
    const client = await start(createStore());
    await expect(read(client, 'gone')).rejects.toMatchObject({ name: 'NoSuchKey', $metadata: { httpStatusCode: 404 } });
    await expect(client.send(new GetObjectCommand({ Bucket: 'other', Key: 'a' }))).rejects.toMatchObject({ name: 'NoSuchBucket' });
    await expect(read(client, 'k'.repeat(1_025))).rejects.toMatchObject({ name: 'KeyTooLongError' });
    const folders = new ListObjectsV2Command({ Bucket, Delimiter: '/' });
    await expect(client.send(folders)).rejects.toMatchObject({ name: 'NotImplemented' });
    await expect(client.send(new ListObjectsV2Command({ Bucket: 'other' }))).rejects.toMatchObject({ name: 'NoSuchBucket' });
  });
});

test('a body in signed chunks, as SDKs send streams, is rejected and not stored', async () => {
  await start(createMemoryStore());
  const url = `${emulators.at(-1)?.url}/${Bucket}/chunked`;
  expect((await fetch(url, { method: 'PUT', headers: { 'content-encoding': 'aws-chunked' }, body: '1\r\na\r\n0\r\n' })).status).toBe(501);
  expect((await fetch(url, { headers: { authorization: 'signed' } })).status).toBe(404);
});

test('objects in files survive a restart, and no file is outside the folder', async () => {
  await using home = temporaryFolder();
  const objects = path.join(home.path, 'objects');
  await (await start(createFileStore(objects))).send(new PutObjectCommand({ Bucket, Key: '../../out', Body: 'in' }));
  expect(await read(await start(createFileStore(objects)), '../../out')).toBe('in');
  expect(readdirSync(home.path)).toEqual(['objects']);
  const files = readdirSync(objects, { recursive: true }).filter((name) => statSync(path.join(objects, String(name))).isFile());
  // The content and the key.
  expect(files).toHaveLength(2);
});
