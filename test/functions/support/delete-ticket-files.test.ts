import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { deleteTicketFiles } from '../../../functions/support/delete-ticket-files.ts';
import { createMemoryStore, type ObjectStore } from '../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../infra/local/s3/server.ts';
import { keptKey, pendingKey } from '../../../shared/tickets/ticket-files.ts';
import { bucketName } from '../../support/assembly/assembly.ts';
import { startCheckedEndpoint } from '../../support/emulators/checked-endpoint.ts';

const ticket = { organization: 'org_1', ticket: 'tkt_1' };

let bucket: string;
let objects: ObjectStore;
let s3: S3Emulator;
let endpoint: Awaited<ReturnType<typeof startCheckedEndpoint>>;
let client: S3Client;
beforeEach(async () => {
  for (const { key } of await objects.list(bucket)) await objects.delete(bucket, key);
});
beforeAll(async () => {
  bucket = await bucketName('TicketFiles');
  objects = createMemoryStore();
  s3 = await startS3(new Set([bucket]), objects);
  endpoint = await startCheckedEndpoint(s3.url, 'support');
  client = new S3Client({ endpoint: endpoint.url, region: 'us-east-1', credentials: endpoint.credentials });
});
afterAll(async () => {
  client.destroy();
  await endpoint.close();
  await s3.close();
});

const store = (key: string): Promise<void> => objects.put(bucket, key, Buffer.from('x'));
const keys = async (): Promise<string[]> => (await objects.list(bucket)).map(({ key }) => key).sort();

test('deletes all files that a ticket keeps, and no others, and can be repeated', async () => {
  const others = [
    pendingKey({ ...ticket, attachment: 'att_1' }),
    keptKey({ ...ticket, ticket: 'tkt_10', attachment: 'att_1' }),
    keptKey({ ...ticket, organization: 'org_2', attachment: 'att_1' }),
  ];
  for (let i = 0; i < 25; i++) await store(keptKey({ ...ticket, attachment: `att_${i}` }));
  for (const key of others) await store(key);
  expect(await deleteTicketFiles(client, bucket, ticket)).toBe(true);
  expect(await keys()).toEqual([...others].sort());
  expect(await deleteTicketFiles(client, bucket, ticket)).toBe(true);
});

test('deletes at most 1,000 files at once, and says that there are more', async () => {
  for (let i = 0; i < 1_001; i++) await store(keptKey({ ...ticket, attachment: `att_${i}` }));
  expect(await deleteTicketFiles(client, bucket, ticket)).toBe(false);
  expect(await keys()).toHaveLength(1);
  expect(await deleteTicketFiles(client, bucket, ticket)).toBe(true);
  expect(await keys()).toEqual([]);
});
