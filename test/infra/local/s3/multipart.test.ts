import path from 'node:path';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, describe, expect, test } from '@jest/globals';
import { createFileStore, createMemoryStore, type ObjectStore } from '../../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../../infra/local/s3/server.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const Bucket = 'my-bucket';
const Key = 'exports/one.csv';
const MIB = 1024 * 1024;
const folder = temporaryFolder();
const emulators: S3Emulator[] = [];
let nowMs = Date.now();

const start = async (store: ObjectStore): Promise<S3Client> => {
  const emulator = await startS3(new Set([Bucket]), store, () => nowMs);
  emulators.push(emulator);
  return new S3Client({
    endpoint: emulator.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
};

afterAll(async () => {
  await Promise.all(emulators.map(({ close }) => close()));
  await folder[Symbol.asyncDispose]();
});

const create = async (client: S3Client, headers: { ContentType?: string } = {}): Promise<string> =>
  (await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...headers }))).UploadId as string;
const upload = async (client: S3Client, UploadId: string, PartNumber: number, Body: Buffer) => {
  const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
  return { ETag, PartNumber };
};
const complete = (client: S3Client, UploadId: string, Parts: { ETag?: string | undefined; PartNumber: number }[]) =>
  client.send(
    new CompleteMultipartUploadCommand({
      Bucket,
      Key,
      UploadId,
      MultipartUpload: { Parts: Parts.map(({ ETag, PartNumber }) => ({ PartNumber, ...(ETag !== undefined && { ETag }) })) },
    }),
  );

describe.each([
  ['in memory', () => createMemoryStore()],
  ['in files', () => createFileStore(path.join(folder.path, 'objects'))],
])('multipart uploads to an emulator that stores objects %s', (_name, createStore) => {
  test('join the last version of each part in order, and keep the content type', async () => {
    const client = await start(createStore());
    const id = await create(client, { ContentType: 'text/csv' });
    await upload(client, id, 1, Buffer.alloc(5 * MIB, 'x'));
    const first = await upload(client, id, 1, Buffer.alloc(5 * MIB, 'a'));
    const second = await upload(client, id, 2, Buffer.from('b'));
    await expect(client.send(new HeadObjectCommand({ Bucket, Key }))).rejects.toMatchObject({ name: 'NotFound' });
    expect((await complete(client, id, [first, second])).ETag).toMatch(/^"[0-9a-f]{32}-2"$/);
    const { Body, ContentType } = await client.send(new GetObjectCommand({ Bucket, Key }));
    expect(ContentType).toBe('text/csv');
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(Buffer.from(`${'a'.repeat(5 * MIB)}b`))).toBe(true);
    await expect(complete(client, id, [first, second])).rejects.toMatchObject({ name: 'NoSuchUpload' });
  });

  test('objects keep their content type and disposition, and can be deleted', async () => {
    const client = await start(createStore());
    const headers = { ContentType: 'application/pdf', ContentDisposition: 'inline; filename="a.pdf"' };
    await client.send(new PutObjectCommand({ Bucket, Key, Body: 'pdf', ...headers }));
    expect(await client.send(new HeadObjectCommand({ Bucket, Key }))).toMatchObject(headers);
    await client.send(new PutObjectCommand({ Bucket, Key, Body: 'plain' }));
    expect((await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentType).toBe('application/octet-stream');
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
    await expect(client.send(new HeadObjectCommand({ Bucket, Key }))).rejects.toMatchObject({ name: 'NotFound' });
  });
});

test('an upload with a small, missing or disordered part is not completed, and an aborted one is gone', async () => {
  const client = await start(createMemoryStore());
  const id = await create(client);
  const small = await upload(client, id, 1, Buffer.from('a'));
  const last = await upload(client, id, 2, Buffer.from('b'));
  await expect(complete(client, id, [small, last])).rejects.toMatchObject({ name: 'EntityTooSmall' });
  await expect(complete(client, id, [last, small])).rejects.toMatchObject({ name: 'InvalidPartOrder' });
  await expect(complete(client, id, [{ ...last, PartNumber: 3 }])).rejects.toMatchObject({ name: 'InvalidPart' });
  await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId: id }));
  await expect(upload(client, id, 1, Buffer.from('a'))).rejects.toMatchObject({ name: 'NoSuchUpload' });
  await expect(client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId: id }))).rejects.toMatchObject({ name: 'NoSuchUpload' });
});

test('a signed URL reads an object with the file name that was asked for, until it expires', async () => {
  const client = await start(createMemoryStore());
  await client.send(new PutObjectCommand({ Bucket, Key, Body: 'content' }));
  const ResponseContentDisposition = 'attachment; filename="usage.csv"';
  const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key, ResponseContentDisposition }), { expiresIn: 300 });
  nowMs = Date.now();
  const found = await fetch(url);
  expect([found.status, await found.text(), found.headers.get('content-disposition')]).toEqual([
    200,
    'content',
    ResponseContentDisposition,
  ]);
  nowMs = Date.now() + 301_000;
  const expired = await fetch(url);
  expect([expired.status, await expired.text()]).toEqual([403, expect.stringContaining('Request has expired')]);
});

test('a read without a signature, or with an incomplete one, is refused', async () => {
  const client = await start(createMemoryStore());
  await client.send(new PutObjectCommand({ Bucket, Key, Body: 'content' }));
  const url = new URL(await getSignedUrl(client, new GetObjectCommand({ Bucket, Key })));
  expect((await fetch(`${url.origin}${url.pathname}`)).status).toBe(403);
  url.searchParams.delete('X-Amz-Signature');
  expect((await fetch(url)).status).toBe(400);
});
