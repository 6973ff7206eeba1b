import { BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MAX_READ } from '../../../../../functions/control/observability/requests/list-requests.ts';
import { writeAttributes } from '../../../../../shared/database/attribute-values.ts';
import type { Database, PutInput } from '../../../../../shared/database/database.ts';
import { inParallel, throwFailures } from '../../../../../shared/database/in-parallel.ts';
import { createRequestRowStore } from '../../../../../shared/observability/request-row-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/database.ts';
import { requestRow } from '../../../../support/request-rows.ts';
import { NOW, requestSearches } from './request-searches.ts';

const REQUESTS = 1_000_000;
/** A request each 2.4 seconds of 28 days. */
const APART_MS = 2_400;
const BATCH = 25;
const BATCHES_AT_ONCE = 8;
/** The share of requests that failed, and of those of the rarest user, are one of so many. */
const FAILED = 100;
const RARE = 100_000;

let database: TestDatabase;
let client: DynamoDBClient;
let searches: ReturnType<typeof requestSearches>;
let organization: string;
let owner: Awaited<ReturnType<typeof searches.actor>>;

const rowAt = (i: number) =>
  requestRow({
    organization,
    atMs: NOW - 1 - i * APART_MS,
    model: i % 3 === 0 ? 'large' : 'small',
    user: i % RARE === RARE - 1 ? 'rare' : `user-${i % 50}`,
    duration_ms: i % 1_000,
    metadata: { team: `team-${i % 10}` },
    ...(i % FAILED === 0 && { outcome: 'upstream_failed' as const, status: 503, error_code: 'upstream_timeout' }),
  });

/** Collects the items that a store puts, to write them in batches. */
const collectPuts = (): { database: Database; items: object[] } => {
  const items: object[] = [];
  return {
    items,
    database: { ...database.database, put: async ({ Item }: PutInput) => void items.push(Item) as unknown as object } as Database,
  };
};

beforeAll(async () => {
  database = await startTestDatabase({ hasStreams: false });
  client = new DynamoDBClient({ endpoint: database.url, region: 'us-east-1', credentials: { accessKeyId: 'x', secretAccessKey: 'x' } });
  searches = requestSearches(database);
  const admin = await searches.actor('admin', null);
  organization = await searches.newOrganization(admin);
  owner = await searches.actor('owner', organization);
  const table = database.tables.Observability as string;
  const batches = Array.from({ length: REQUESTS / BATCH }, (_, batch) => batch * BATCH);
  const send = async (items: readonly object[]): Promise<void> => {
    const requests = items.map((item) => ({ PutRequest: { Item: JSON.parse(writeAttributes(item)) } }));
    const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests } }));
    expect(Object.keys(UnprocessedItems ?? {})).toEqual([]);
  };
  const failures = await inParallel(batches, BATCHES_AT_ONCE, async (first) => {
    const { items, database: collecting } = collectPuts();
    const writer = createRequestRowStore({ ...collecting, get: async () => ({}) }, table).writer();
    for (let i = first; i < first + BATCH; i++) await writer.put(rowAt(i));
    for (let i = 0; i < items.length; i += BATCH) await send(items.slice(i, i + BATCH));
  });
  throwFailures(failures);
});
afterAll(async () => {
  client.destroy();
  await database.close();
});

const FILTERS = {
  model: 'model=large',
  'api key': 'api_key_id=key_0123456789abcdefgh',
  'user of 1 in 50': 'user=user-7',
  'rare user': 'user=rare',
  'nobody’s user': 'user=nobody',
  status: 'status=503',
  'error code': 'error_code=upstream_timeout',
  outcome: 'outcome=completed',
  metadata: 'metadata[team]=team-4',
  duration: 'min_duration_ms=999',
};

/** Every pair of filters, every filter alone, none and all. */
const combinations = (): [string, string][] => {
  const all = Object.entries(FILTERS);
  const pairs = all.flatMap(([a, one], i) => all.slice(i + 1).map(([b, other]): [string, string] => [`${a} + ${b}`, `${one}&${other}`]));
  return [['none', ''], ...all, ...pairs, ['all', Object.values(FILTERS).join('&')]];
};

describe('among a million requests of one organization', () => {
  test('a page of a search by any combination of filters reads at most 2,000 items', async () => {
    const measured: string[] = [];
    for (const [name, query] of combinations()) {
      Object.assign(searches.read, { items: 0, queries: 0 });
      const { data, has_more } = await searches.list(owner, query);
      const { items, queries } = searches.read;
      measured.push(`${name}: ${items} items in ${queries} queries, ${data.length} found${has_more ? ', more' : ''}`);
      expect(items).toBeLessThanOrEqual(MAX_READ);
      expect(queries).toBeLessThanOrEqual(40);
    }
    process.stdout.write(`items read for a page among ${REQUESTS} requests, by filters\n${measured.join('\n')}\n`);
  });

  test('a search for failures does not read the others, so it finds a page of them at once', async () => {
    Object.assign(searches.read, { items: 0, queries: 0 });
    const { data } = await searches.list(owner, 'status=5xx&limit=50');
    expect(data).toHaveLength(50);
    expect(searches.read.items).toBeLessThanOrEqual(51);
  });

  test('a search that finds few continues page by page, and finds each once', async () => {
    const start = Math.floor((NOW - (RARE + 10) * APART_MS) / 1_000);
    const ids = await searches.listAll(owner, `user=rare&start_time=${start}`);
    expect(ids).toHaveLength(1);
  });
});
