import { CopyObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMemoryStore } from '../../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../../infra/local/s3/server.ts';

const Bucket = 'files';
let emulator: S3Emulator;
let client: S3Client;

beforeAll(async () => {
  emulator = await startS3(new Set([Bucket, 'others']), createMemoryStore());
  client = new S3Client({
    endpoint: emulator.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
});
afterAll(async () => {
  client.destroy();
  await emulator.close();
});

const put = (Key: string, Body: string) =>
  client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'text/html', ContentDisposition: 'inline' }));
const headersOf = async (bucket: string, Key: string) => {
  const { ContentType, ContentDisposition, Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key }));
  return [ContentType, ContentDisposition, await Body?.transformToString()];
};

test('an object is copied with its own headers, also to another bucket', async () => {
  const { ETag } = await put('a ä/1', 'text');
  const { CopyObjectResult } = await client.send(
    new CopyObjectCommand({ Bucket: 'others', Key: 'b', CopySource: `${Bucket}/${encodeURIComponent('a ä')}/1` }),
  );
  expect(CopyObjectResult).toMatchObject({ ETag, LastModified: expect.any(Date) });
  expect(await headersOf('others', 'b')).toEqual(['text/html', 'inline', 'text']);
});

test('an object is copied with the headers of the request, if that says so', async () => {
  await put('replaced', 'text');
  const headers = { ContentType: 'application/octet-stream', ContentDisposition: 'attachment' };
  await client.send(
    new CopyObjectCommand({ Bucket, Key: 'c', CopySource: `/${Bucket}/replaced`, MetadataDirective: 'REPLACE', ...headers }),
  );
  expect(await headersOf(Bucket, 'c')).toEqual(['application/octet-stream', 'attachment', 'text']);
});

test('a copy depends on what its source is, and on whether there is an object already', async () => {
  const { ETag } = await put('first', '1');
  await put('second', '2');
  const copy = (fields: object) => client.send(new CopyObjectCommand({ Bucket, Key: 'd', CopySource: `${Bucket}/second`, ...fields }));
  const failed = { name: 'PreconditionFailed', $metadata: { httpStatusCode: 412 } };
  await expect(copy({ CopySourceIfMatch: ETag })).rejects.toMatchObject(failed);
  await copy({ IfNoneMatch: '*' });
  await expect(copy({ CopySource: `${Bucket}/first`, IfNoneMatch: '*' })).rejects.toMatchObject(failed);
  expect((await headersOf(Bucket, 'd'))[2]).toBe('2');
});

test('a copy without a source returns the same errors as S3', async () => {
  const copy = (CopySource: string) => client.send(new CopyObjectCommand({ Bucket, Key: 'e', CopySource }));
  await expect(copy(`${Bucket}/gone`)).rejects.toMatchObject({ name: 'NoSuchKey' });
  await expect(copy('gone/gone')).rejects.toMatchObject({ name: 'NoSuchBucket' });
  await expect(copy('nothing')).rejects.toMatchObject({ name: 'InvalidURI' });
  await expect(copy(`${Bucket}/%zz`)).rejects.toMatchObject({ name: 'InvalidURI' });
});
