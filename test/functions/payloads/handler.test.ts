import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { createMemoryStore } from '../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../infra/local/s3/server.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { type Exchange, writeExchange } from '../../../shared/payload-log/exchange.ts';
import { createPayloadPlaces, type PayloadPlaces } from '../../../shared/payload-log/payload-places.ts';
import { PATTERNS } from '../../../shared/payload-log/settings.ts';
import { createPayloadLogStore } from '../../../shared/payload-log/settings-store.ts';
import { unredactedKeyOf } from '../../../shared/payload-log/waiting-payloads.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newId } from '../../support/fixtures/new-id.ts';

const BUCKET = 'payloads';
const NOW = Date.UTC(2026, 10, 24, 12);

let database: TestDatabase;
let s3: S3Emulator;
const objects = createMemoryStore();
let waiting: PayloadPlaces;
let handler: (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
let organization: string;
let lines: string[];

beforeAll(async () => {
  database = await startTestDatabase();
  s3 = await startS3(new Set([BUCKET]), objects);
  const table = database.tables.Observability as string;
  waiting = createPayloadPlaces(database.database, table);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_S3: s3.url,
    AWS_ENDPOINT_URL_DYNAMODB: database.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    OBSERVABILITY_TABLE: table,
    PAYLOADS_BUCKET: BUCKET,
  });
  ({ handler } = (await import('../../../functions/payloads/handler.ts')) as never);
});
afterAll(async () => {
  await s3.close();
  await database.close();
});
beforeEach(() => {
  organization = newId('organization');
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const setLog = async (enabled: boolean, before?: number): Promise<void> => {
  const store = createPayloadLogStore(createRecordTable(database.database, database.tables.Observability as string));
  const settings = { enabled, retention_days: 7 as const, patterns: [...PATTERNS], paths: [], tool_arguments: 'redact' as const };
  const saved = { ...settings, updated_at: 1, updated_by: 'user_1', pending: false };
  await transact(database.database, [store.toSave({ organization }, saved, before)]);
};

const exchangeOf = (requestId: string, request = '{"messages":"I am a@b.example"}'): Exchange => ({
  organization,
  keyId: 'key_1',
  requestId,
  route: '/v1/chat/completions',
  receivedAtMs: NOW,
  request,
  fields: { known: {}, ignored: [] },
  response: { status: 200, stream: false, isCut: false, content: 'no JSON, and +49 30 901820' },
});

// As the function of its request does.
const store = async (exchange: Exchange): Promise<void> => {
  await waiting.take(organization, NOW);
  await objects.put(BUCKET, unredactedKeyOf(exchange), writeExchange(exchange));
};

const deliver = (...requestIds: string[]) => {
  const Records = requestIds.map((id) => ({
    messageId: id,
    body: JSON.stringify({ organization, request_id: id, sent_at_ms: NOW }),
    attributes: { MessageGroupId: organization },
  }));
  return handler({ Records } as never, { getRemainingTimeInMillis: () => 60_000 } as Context);
};

const keys = async (): Promise<string[]> => (await objects.list(BUCKET)).map(({ key }) => key).filter((key) => key.includes(organization));

const payloadOf = async (requestId: string) => {
  const body = await objects.get(BUCKET, `${organization}/${requestId}.json.gz`);
  return body && JSON.parse(gunzipSync(body).toString());
};

const placesLeft = async (): Promise<number> => {
  let left = 0;
  while (await waiting.take(organization, NOW)) left++;
  return left;
};

test("redacts waiting payloads, writes them by their owner's settings, deletes them and frees their places", async () => {
  await setLog(true);
  await store(exchangeOf('req_1'));
  expect(await deliver('req_1')).toEqual({ batchItemFailures: [] });
  expect(await payloadOf('req_1')).toEqual({
    request_id: 'req_1',
    api_key_id: 'key_1',
    route: '/v1/chat/completions',
    created_at: NOW / 1_000,
    expires_at: NOW / 1_000 + 7 * 86_400,
    request: { content: { messages: 'I am [redacted:email]' }, is_truncated: false },
    response: { status: 200, stream: false, content: 'no JSON, and [redacted:phone]', is_truncated: false },
    redactions: { email: 1, phone: 1 },
  });
  expect(await objects.headersOf(BUCKET, `${organization}/req_1.json.gz`)).toMatchObject({ 'x-amz-tagging': 'retention-days=7' });
  expect(await keys()).toEqual([`${organization}/req_1.json.gz`]);
  expect(await placesLeft()).toBe(100);
});

test('writes nothing once the owner has switched the log off, and deletes what waited', async () => {
  await setLog(true);
  await store(exchangeOf('req_1'));
  await setLog(false, 1);
  expect(await deliver('req_1')).toEqual({ batchItemFailures: [] });
  expect(await keys()).toEqual([]);
  expect(await placesLeft()).toBe(100);
});

test('retries only payloads that S3 does not take, and logs no content', async () => {
  await setLog(true);
  await store(exchangeOf('req_1', 'a canary'));
  await fetch(`${s3.url}/control`, { method: 'PUT', body: '{"kind":"unavailable","method":"PUT"}' });
  expect(await deliver('req_1')).toEqual({ batchItemFailures: [{ itemIdentifier: 'req_1' }] });
  await fetch(`${s3.url}/control`, { method: 'DELETE' });
  expect(lines.join('')).toContain('queued_payload_failed');
  expect(lines.join('')).not.toContain('canary');
  expect(await keys()).toEqual([`unredacted/${organization}/req_1`]);
  expect(await deliver('req_1')).toEqual({ batchItemFailures: [] });
  expect(await payloadOf('req_1')).toMatchObject({ request: { content: 'a canary' } });
});

test('logs that content is gone before it was redacted', async () => {
  await setLog(true);
  expect(await deliver('req_1')).toEqual({ batchItemFailures: [] });
  expect(lines.join('')).toContain('"message":"queued_payload_gone"');
});

test('gives every organization a hundred places an hour, however many requests take them at once', async () => {
  const taken = await Promise.all(Array.from({ length: 130 }, () => waiting.take(organization, NOW)));
  expect(taken.filter(Boolean)).toHaveLength(100);
  expect(await waiting.take(newId('organization'), NOW)).toBe(true);
  expect(await waiting.take(organization, NOW + 3_600_000)).toBe(true);
  await waiting.release({ organization, sentAtMs: NOW });
  expect(await placesLeft()).toBe(1);
});

test('never has more places than a hundred, whatever is released', async () => {
  await waiting.release({ organization, sentAtMs: NOW });
  await waiting.take(organization, NOW);
  for (let i = 0; i < 3; i++) await waiting.release({ organization, sentAtMs: NOW });
  expect(await placesLeft()).toBe(100);
});
