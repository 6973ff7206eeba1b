import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { readNumber } from '../../shared/database/database.ts';
import { controlOf } from '../support/clients/control.ts';
import type { TestRun } from '../support/clients/local-run.ts';
import { eventually } from '../support/eventually.ts';
import { startUpgradeRun } from './upgrade-run.ts';

// A file for each release, with rows that it wrote.
const FOLDER = path.join(import.meta.dirname, 'rows');
const MAX_ROWS = 1_000;

type Row = Record<string, unknown>;

// The rows of an organization with one user, and the facts with which a test reads them.
interface StoredRows {
  version: string;
  /** Seconds since the epoch. */
  written_at: number;
  secret: string;
  ids: Record<'organization' | 'user' | 'key' | 'webhook' | 'ticket' | 'response', string>;
  /** A request with an idempotency key, and its reply. */
  repeatable: { key: string; body: object; reply: string };
  /** Rows by table, in DynamoDB's JSON. */
  tables: Record<string, Row[]>;
}

const bytesToText = (_: string, value: unknown): unknown => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value);
const textToBytes = (name: string, value: unknown): unknown =>
  name === 'B' && typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value;

const scanAll = async (run: TestRun, table: string): Promise<Row[]> => {
  const rows: Row[] = [];
  let ExclusiveStartKey: Row | undefined;
  do {
    const page = await run.database.scan({ TableName: run.tables[table] as string, ...(ExclusiveStartKey && { ExclusiveStartKey }) });
    rows.push(...(page.Items ?? []));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey && rows.length < MAX_ROWS);
  return rows;
};

/** Sends a request with an API key. @throws Error unless it succeeds */
export const sendAs = async (run: TestRun, secret: string, where: string, body?: object, key?: string): Promise<string> => {
  const response = await fetch(`${run.base_url}${where}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${where}: ${response.status} ${text}`);
  return text;
};

/** Lets the last release write rows of each kind, and keeps them under its version. Returns the file. */
export const keepRows = async (version: string): Promise<string> => {
  await using run = await startUpgradeRun();
  await run.setShare(1);
  const control = controlOf(run);
  const { id: organization } = await control.createOrganization();
  const { id: user, token } = await control.createUser({ role: 'owner', organization });
  const key = await control.done('POST', '/v1/api-keys', { token, body: { name: 'A key', budgets: { total: '5' } } });
  const { id: webhook } = await control.done('POST', '/v1/webhooks', { token, body: { url: 'https://example.com/webhooks' } });
  const { id: ticket } = await control.done('POST', '/v1/tickets', { token, body: { subject: 'A ticket', body: 'What is a sluice?' } });
  const messages = [{ role: 'user', content: 'Tell me about rivers.' }];
  const body = { model: run.model, messages, max_tokens: 6, user: 'a-user', metadata: { a: 'b' } };
  const repeatable = { key: 'a', body, reply: await sendAs(run, key.secret, '/v1/chat/completions', body, 'a') };
  const { id: response } = JSON.parse(
    await sendAs(run, key.secret, '/v1/responses', { model: run.model, input: 'Hello', max_output_tokens: 16 }),
  );
  const hasTotals = async (): Promise<boolean> =>
    JSON.stringify((await scanAll(run, 'Usage')).map((row) => row.usage_bucket)).includes('"day#');
  await eventually(hasTotals, 'the requests are in the totals');
  const ids = { organization, user, key: key.id, webhook, ticket, response };
  const tables: StoredRows['tables'] = {};
  for (const table of Object.keys(run.tables)) {
    const rows = (await scanAll(run, table)).map((row) => marshall(row, { removeUndefinedValues: true }));
    const own = rows.map((row) => JSON.stringify(row, bytesToText)).filter((text) => Object.values(ids).some((id) => text.includes(id)));
    if (own.length > 0) tables[table] = own.map((text) => JSON.parse(text));
  }
  const rows: StoredRows = { version, written_at: Math.floor(Date.now() / 1_000), secret: key.secret, ids, repeatable, tables };
  const file = path.join(FOLDER, `${version}.json`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(file, `${JSON.stringify(rows, undefined, 2)}\n`);
  return file;
};

/** The rows that releases left. */
export const allStoredRows = (): StoredRows[] =>
  readdirSync(FOLDER).map((name) => JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8')) as StoredRows);

/**
 * Puts rows into the tables of a run as if they had been written now: those that expire do so as long after now as
 * they did after they were written.
 */
export const putRows = async (run: TestRun, { tables, written_at }: StoredRows): Promise<void> => {
  const elapsed = Math.floor(Date.now() / 1_000) - written_at;
  for (const [table, rows] of Object.entries(tables))
    for (const row of rows) {
      const item = unmarshall(JSON.parse(JSON.stringify(row), textToBytes), { wrapNumbers: readNumber });
      const isExpiring = typeof item.expires_at === 'number' && table === 'Responses';
      await run.database.put({
        TableName: run.tables[table] as string,
        Item: { ...item, ...(isExpiring && { expires_at: item.expires_at + elapsed }) },
      });
    }
};
