import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MAX_READ } from '../../../../../functions/control/observability/requests/list-requests.ts';
import type { Database, PutInput } from '../../../../../shared/database/database.ts';
import { newRequestId } from '../../../../../shared/ids/request-id.ts';
import type { RequestRow } from '../../../../../shared/observability/request-row.ts';
import { createRequestRowStore } from '../../../../../shared/observability/request-row-store.ts';
import { DAY_MS } from '../../../../../shared/time/units.ts';
import { importTable } from '../../../../support/assembly/imported-table.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { isFull, sized } from '../../../../support/sized.ts';
import { NOW, openCountingDatabase, requestSearches } from './request-searches.ts';

// The bound doesn't depend on it. A million takes minutes, so it must be asked for: SEARCHED_REQUESTS=1000000.
const REQUESTS = Number(process.env.SEARCHED_REQUESTS ?? sized(7_000, 100_000));
// They are spread over 28 days.
const APART_MS = Math.floor((28 * DAY_MS) / REQUESTS);
// Ten requests are rare. One of 100 failed, and ten of those for a rare reason.
const RARE = REQUESTS / 10;
const FAILED = 100;
const SET_UP_MS = 600_000;
const SEARCH_MS = 300_000;

let database: TestDatabase;
let imported: Awaited<ReturnType<typeof importTable>>;
let clients: { destroy(): void }[];
let searches: ReturnType<typeof requestSearches>;
let rowsStored: number | undefined;
let actors: Record<'owner' | 'member' | 'rare member' | 'new member', Awaited<ReturnType<ReturnType<typeof requestSearches>['actor']>>>;
let keys: { other: string; frequent: string; rare: string };
let newestId: string;

const failureOf = (i: number): Partial<RequestRow> => {
  if (i % RARE === 0) return { outcome: 'timed_out', status: 504, error_code: 'rare_timeout' };
  return i % FAILED === 0 ? { outcome: 'upstream_failed', status: 503, error_code: 'upstream_timeout' } : {};
};

// Counts and amounts are left out: readers of the row take their defaults.
const rowAt = (i: number, organization: string): RequestRow => {
  const isRare = i % RARE === RARE - 1;
  const nameOf = (frequent: string): string => (isRare ? 'rare' : frequent);
  const row: Partial<RequestRow> = {
    request_id: newRequestId(NOW - 1 - i * APART_MS),
    org_id: organization,
    key_id: isRare ? keys.rare : i % 3 === 0 ? keys.frequent : keys.other,
    model: nameOf(i % 3 === 0 ? 'large' : 'small'),
    deployment: nameOf(i % 2 === 0 ? 'dep_even' : 'dep_odd'),
    outcome: 'completed',
    status: 200,
    duration_ms: isRare ? 60_000 : i % 1_000,
    user: nameOf(`user-${i % 50}`),
    metadata: { team: nameOf(`team-${i % 10}`) },
    ...(i % 20 === 19 && { user_id: nameOf('header-user') }),
    ...failureOf(i),
  };
  return row as RequestRow;
};

// The store gives the rows their keys, and a second item to those that failed.
const fillWith =
  (table: string, organization: string) =>
  async (put: (item: object) => void): Promise<void> => {
    const into: Pick<Database, 'get' | 'put'> = {
      get: async () => ({}),
      put: async ({ Item }: PutInput) => {
        put(Item);
        return {};
      },
    };
    const writer = createRequestRowStore(into as Database, table).writer();
    for (let i = REQUESTS - 1; i >= 0; i--) {
      const row = rowAt(i, organization);
      newestId = row.request_id;
      await writer.put(row);
    }
  };

const clientAt = (endpoint: string) =>
  new DynamoDBClient({ endpoint, region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });

beforeAll(async () => {
  database = await startTestDatabase();
  const table = database.tables.Observability as string;
  const people = requestSearches(database);
  const admin = await people.actor('admin', null);
  const organization = await people.newOrganization(admin);
  const [owner, member, rareMember, newMember] = [
    await people.actor('owner', organization),
    await people.actor('member', organization),
    await people.actor('member', organization),
    await people.actor('member', organization),
  ];
  actors = { owner, member, 'rare member': rareMember, 'new member': newMember };
  keys = { other: await people.newKey(owner), frequent: await people.newKey(member), rare: await people.newKey(rareMember) };
  const source = clientAt(database.url);
  imported = await importTable(source, table, fillWith(table, organization));
  const target = clientAt(imported.url);
  rowsStored = (await target.send(new DescribeTableCommand({ TableName: table }))).Table?.ItemCount;
  searches = requestSearches(database, openCountingDatabase(imported.url));
  clients = [source, target];
}, SET_UP_MS);
afterAll(async () => {
  for (const client of clients) client.destroy();
  await imported.close();
  await database.close();
});

// A value of each filter that many requests have, one that few have, and one that none has.
const filters = (): Record<string, [string, string, string]> => ({
  status: ['status=200', 'status=504', 'status=418'],
  'status class': ['status=5xx', 'status=5xx&error_code=rare_timeout', 'status=3xx'],
  error_code: ['error_code=upstream_timeout', 'error_code=rare_timeout', 'error_code=none'],
  outcome: ['outcome=completed', 'outcome=timed_out', 'outcome=orphaned'],
  model: ['model=large', 'model=rare', 'model=none'],
  api_key_id: [`api_key_id=${keys.frequent}`, `api_key_id=${keys.rare}`, 'api_key_id=key_none'],
  user: ['user=user-7', 'user=rare', 'user=none'],
  user_id: ['user_id=header-user', 'user_id=rare', 'user_id=none'],
  deployment: ['deployment=dep_odd', 'deployment=rare', 'deployment=none'],
  metadata: ['metadata[team]=team-4', 'metadata[team]=rare', 'metadata[group]=none'],
  min_duration_ms: ['min_duration_ms=900', 'min_duration_ms=60000', 'min_duration_ms=70000'],
});

const HITS = ['many', 'few', 'none'];
// They can be answered by the index of failures.
const OF_FAILURES = ['status', 'status class', 'error_code', 'outcome'];
// A filter of each kind: by the index of failures, by key, and by what is read.
const OF_EACH_KIND = ['status', 'status class', 'error_code', 'api_key_id', 'metadata'];
const seconds = (beforeNowMs: number): number => Math.floor((NOW - beforeNowMs) / 1_000);

// Without a filter, by each one, by pairs of filters that many pass, by all of them, in a time, and by id.
const combinations = (): [string, string][] => {
  const all = Object.entries(filters());
  const alone = all.flatMap(([name, values]) =>
    values
      .map((query, i): [string, string] => [`${name}: ${HITS[i]}`, query])
      // Few and none read as much, unless a filter chooses an index.
      .filter((_, i) => isFull || i !== 1 || OF_FAILURES.includes(name)),
  );
  const pairs = all.flatMap(([name, [query]], i) =>
    all
      .slice(i + 1, sized(i + 2, undefined))
      .filter(([other]) => !(name === 'status' && other === 'status class'))
      .map(([other, [otherQuery]]): [string, string] => [`${name} + ${other}`, `${query}&${otherQuery}`]),
  );
  const together = (hits: number): string =>
    all
      .filter(([name]) => name !== 'status class')
      .map(([, values]) => values[hits])
      .join('&');
  return [
    ['(none)', ''],
    ...alone,
    ...pairs,
    ...HITS.map((hits, i): [string, string] => [`all: ${hits}`, together(i)]),
    ['an hour', `start_time=${seconds(10 * DAY_MS)}&end_time=${seconds(10 * DAY_MS - 3_600_000)}`],
    ['a week + user: few', `start_time=${seconds(20 * DAY_MS)}&end_time=${seconds(13 * DAY_MS)}&user=rare`],
    ['a time without requests', `end_time=${seconds(28.5 * DAY_MS)}`],
    ['id', `id=${newestId}`],
    ['id: none', `id=${newRequestId(NOW - DAY_MS)}`],
  ];
};

interface Measured {
  who: string;
  filters: string;
  items: number;
  queries: number;
  units: number;
  found: number;
  more: boolean;
}

const measure = async (who: keyof typeof actors, name: string, query: string): Promise<Measured & { next: string | null }> => {
  Object.assign(searches.read, { items: 0, queries: 0, units: 0 });
  const { data, has_more, next } = await searches.list(actors[who], query);
  return { who, filters: name, ...searches.read, found: data.length, more: has_more, next };
};

const tableOf = (measured: readonly Measured[]): string =>
  [
    `${'who'.padEnd(12)}${'filters'.padEnd(32)}${'items'.padStart(6)}${'queries'.padStart(9)}${'units'.padStart(7)}${'found'.padStart(7)}  more`,
    ...measured.map(
      ({ who, filters: name, items, queries, units, found, more }) =>
        `${who.padEnd(12)}${name.padEnd(32)}${String(items).padStart(6)}${String(queries).padStart(9)}${String(units).padStart(7)}${String(found).padStart(7)}  ${more ? 'yes' : ''}`,
    ),
  ].join('\n');

describe(`among ${REQUESTS} requests of one organization`, () => {
  test('all rows are stored, and one more for each failure', () => {
    expect(rowsStored).toBe(REQUESTS + REQUESTS / FAILED);
  });

  test(
    'a page of a search by any combination of filters reads at most 2,000 items, whoever asks',
    async () => {
      const measured: Measured[] = [];
      for (const [name, query] of combinations()) measured.push(await measure('owner', name, query));
      for (const who of ['member', 'rare member', 'new member'] as const) {
        measured.push(await measure(who, '(none)', ''));
        for (const [name, [query]] of Object.entries(filters()))
          if (isFull || who === 'member' || OF_EACH_KIND.includes(name)) measured.push(await measure(who, name, query));
      }
      process.stdout.write(`items read for a page among ${REQUESTS} requests\n${tableOf(measured)}\n`);
      for (const { filters: name, items } of measured) expect({ name, isBounded: items <= MAX_READ }).toEqual({ name, isBounded: true });
      // The bound is reached, so the measured searches are not just easy ones.
      expect(Math.max(...measured.map(({ items }) => items))).toBe(MAX_READ);
    },
    SEARCH_MS,
  );

  test('the pages after the first one read no more than it does', async () => {
    let query = 'user=none';
    for (let page = 0; page < sized(3, 5); page++) {
      const { items, next } = await measure('owner', 'user: none', query);
      expect(items).toBe(MAX_READ);
      query = `user=none&after=${next}`;
    }
  });

  test('a search for failures does not read the others, so it finds a page of them at once', async () => {
    const { items, found } = await measure('owner', 'failures', 'status=5xx&limit=50');
    expect(found).toBe(50);
    expect(items).toBeLessThanOrEqual(51);
  });

  test(
    'a search that finds few continues page by page, and finds each once',
    async () => {
      const ids = await searches.listAll(actors.owner, `user=rare&start_time=${seconds((RARE + 10) * APART_MS)}`);
      expect(ids).toHaveLength(1);
    },
    SEARCH_MS,
  );
});
