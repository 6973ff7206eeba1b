import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { interpret } from '../../../infra/assembly/interpret.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import { createDatabaseCalls } from '../../../infra/local/dynamodb/database-calls.ts';
import { createTables } from '../../../infra/local/dynamodb/tables.ts';
import { createMemoryStore } from '../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../infra/local/s3/server.ts';
import { toLambdaRecord } from '../../../infra/local/streams/lambda-record.ts';
import { createStreamReader, type StreamReader } from '../../../infra/local/streams/stream-reader.ts';
import type { AuditEntry } from '../../../shared/audit/audit-entry.ts';
import { createAuditStore } from '../../../shared/audit/audit-store.ts';
import { commit } from '../../../shared/audit/commit.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { assemblyDir } from '../../support/assembly/assembly.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { actorOf } from '../../support/fixtures/managed-models.ts';

const BUCKET = 'copies';
const TABLE = 'audit-with-stream';
const SILENCE_MS = 60_000;

let database: TestDatabase;
let s3: S3Emulator;
const objects = createMemoryStore();
let stream: StreamReader;
let handle: (event: DynamoDBStreamEvent) => Promise<void>;
let lines: string[];

beforeAll(async () => {
  database = await startTestDatabase();
  s3 = await startS3(new Set([BUCKET]), objects);
  const audit = interpret(await readAssembly(assemblyDir())).tables.find(({ logicalId }) => logicalId === 'Audit');
  if (!audit) throw new Error('The assembly has no audit table.');
  await createTables(database.url, [{ ...audit, name: TABLE, properties: { ...audit.properties, streamViewType: 'NEW_IMAGE' } }]);
  stream = createStreamReader(createDatabaseCalls(database.url, SILENCE_MS), TABLE);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_S3: s3.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    AUDIT_COPIES_BUCKET: BUCKET,
  });
  const { handler } = await import('../../../functions/audit-copy/handler.ts');
  handle = (event) => handler(event, {} as Context);
});
beforeEach(() => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  await s3.close();
  await database.close();
});

// As Lambda sends them; only those since the last call.
const newRecords = async (): Promise<DynamoDBRecord[]> =>
  (await Array.fromAsync(stream.poll())).flat().map((record) => toLambdaRecord(record, 'arn:stream') as DynamoDBRecord);

const audit = () => createAuditStore(createRecordTable(database.database, TABLE));

// Uses the control plane's own rule.
const record = async (organization: string | null, changes: { before?: object; after?: object } = {}): Promise<AuditEntry> => {
  const { origin } = actorOf('admin');
  const change = { action: 'organization.updated', organization, target: { type: 'organization', id: 'org_1' }, ...changes };
  await commit({ database: database.database, audit: audit() }, origin, change as never, []);
  const [entry] = (await audit().list(organization, { limit: 1 })).data;
  return entry as AuditEntry;
};

const copyOf = async ({ id, organization }: AuditEntry): Promise<unknown> => {
  const copy = await objects.get(BUCKET, `${organization ?? 'platform'}/${id}.json`);
  return copy && JSON.parse(copy.toString());
};

describe('the function that copies the audit log', () => {
  test('stores every new entry as the API shows it, under its organization and id', async () => {
    const entries = [
      await record('org_1', { before: { name: 'Acmé' }, after: { name: null, limits: { concurrency: 5 } } }),
      await record(null),
    ];
    await handle({ Records: await newRecords() });
    for (const entry of entries) expect(await copyOf(entry)).toEqual(entry);
    expect(lines.join('')).not.toContain('Acmé');
  });

  test('does nothing when a batch is delivered again', async () => {
    const entry = await record('org_2');
    const records = await newRecords();
    await handle({ Records: records });
    await handle({ Records: [...records, ...records] });
    expect(await copyOf(entry)).toEqual(entry);
  });

  test('keeps the first copy of an entry that is replaced or deleted, and reports it', async () => {
    const entry = await record('org_3');
    const Key = { account: 'org_3', record: `entry#${entry.id}` };
    await database.database.put({ TableName: TABLE, Item: { ...entry, ...Key, action: 'nothing.happened' } });
    await database.database.delete({ TableName: TABLE, Key });
    await handle({ Records: await newRecords() });
    expect(await copyOf(entry)).toEqual(entry);
    const reports = lines.map((line) => JSON.parse(line)).filter(({ message }) => message === 'audit_entry_changed');
    expect(reports).toEqual(
      ['MODIFY', 'REMOVE'].map((change) => expect.objectContaining({ level: 'ERROR', change, account: 'org_3', entry: entry.id })),
    );
  });

  test('fails if one copy fails, after making the others, so that Lambda sends the batch again', async () => {
    const [first, second] = [await record('org_4'), await record('org_5')];
    const records = await newRecords();
    const broken = structuredClone(records);
    // A key that S3 rejects.
    const keys = broken[0]?.dynamodb?.Keys as Record<string, { S: string }>;
    keys.account = { S: 'x'.repeat(2_000) };
    await expect(handle({ Records: broken })).rejects.toThrow('1 failed');
    expect([await copyOf(first), await copyOf(second)]).toEqual([undefined, second]);
    await handle({ Records: records });
    expect(await copyOf(first)).toEqual(first);
  });
});
