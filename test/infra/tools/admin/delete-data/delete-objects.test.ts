import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMemoryStore, type ObjectStore } from '../../../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../../../infra/local/s3/server.ts';
import { deleteObjects } from '../../../../../infra/tools/admin/delete-data/delete-objects.ts';

const bucket = 'weights';
// More than a page of S3 has.
const MANY = 2_003;

let objects: ObjectStore;
let s3: S3Emulator;
let client: S3Client;
beforeAll(async () => {
  objects = createMemoryStore();
  s3 = await startS3(new Set([bucket]), objects);
  client = new S3Client({ endpoint: s3.url, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
});
afterAll(async () => {
  client.destroy();
  await s3.close();
});

test('deletes all objects under a prefix, on all pages, and no others; only counts them in a dry run', async () => {
  for (let i = 0; i < MANY; i++) await objects.put(bucket, `org_1/${i}`, Buffer.from('x'));
  await objects.put(bucket, 'org_10/other', Buffer.from('x'));
  const under = { bucket, prefix: 'org_1/' };
  expect(await deleteObjects(client, under, false)).toBe(MANY);
  expect(await objects.list(bucket)).toHaveLength(MANY + 1);
  expect(await deleteObjects(client, under, true)).toBe(MANY);
  expect((await objects.list(bucket)).map(({ key }) => key)).toEqual(['org_10/other']);
  expect(await deleteObjects(client, under, true)).toBe(0);
});
