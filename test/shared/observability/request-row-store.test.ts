import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Database } from '../../../shared/database/database.ts';
import { newRequestId, requestTimeMs } from '../../../shared/ids/request-id.ts';
import { partitionOf, partitionsWithin } from '../../../shared/observability/request-partitions.ts';
import { type RequestRow, requestRowOf } from '../../../shared/observability/request-row.ts';
import { createRequestRowStore, type RowQuery } from '../../../shared/observability/request-row-store.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { requestRow } from '../../support/fixtures/request-rows.ts';

const DAY = '2026-11-21';
const START = Date.parse(DAY);

let database: TestDatabase;
let store: ReturnType<typeof createRequestRowStore>;
let itemsRead = 0;
beforeAll(async () => {
  database = await startTestDatabase();
  const counted: Database = {
    ...database.database,
    query: async (input) => {
      const reply = await database.database.query(input);
      itemsRead += reply.Items?.length ?? 0;
      return reply;
    },
  };
  store = createRequestRowStore(counted, database.tables.Observability as string);
});
afterAll(async () => {
  await database.close();
});

const query = (organization: string, rest: Partial<RowQuery> = {}): RowQuery => ({
  organization,
  fromMs: START - 30 * DAY_MS,
  toMs: START + 30 * DAY_MS,
  isFailed: false,
  matches: () => true,
  limit: 100,
  maxRead: 2_000,
  ...rest,
});

// In the order of the pages.
const searchAll = async (of: RowQuery): Promise<RequestRow[]> => {
  const rows: RequestRow[] = [];
  for (let before: string | undefined, pages = 0; pages < 100; pages++) {
    const page = await store.page({ ...of, before });
    expect(page.rows.length).toBeLessThanOrEqual(of.limit);
    rows.push(...page.rows);
    if (page.next === undefined) return rows;
    before = page.next;
  }
  throw new Error('The search does not end.');
};

const idsOf = (rows: readonly RequestRow[]): string[] => rows.map(({ request_id }) => request_id);

describe('the rows of requests', () => {
  test('are found by organization and id, and by no other organization', async () => {
    const row = requestRow({ atMs: START + 5 });
    await store.put(row);
    expect(await store.get(row.org_id, row.request_id)).toEqual(row);
    expect(await store.get(newId('organization'), row.request_id)).toBeUndefined();
    for (const id of ['', 'req_1', '../x', `${row.request_id}#2`]) expect(await store.get(row.org_id, id)).toBeUndefined();
  });

  test('are listed newest first, each exactly once, for any days, partitions, limits and bounds of work', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ at: fc.integer({ min: 0, max: 3 * DAY_MS }), hasFailed: fc.boolean() }), { maxLength: 40 }),
        fc.array(fc.integer({ min: 2, max: 5 }), { maxLength: 2 }),
        fc.record({
          limit: fc.integer({ min: 1, max: 20 }),
          maxRead: fc.integer({ min: 1, max: 50 }),
          from: fc.integer({ min: 0, max: 3 * DAY_MS }),
          length: fc.integer({ min: 1, max: 3 * DAY_MS }),
          isFailed: fc.boolean(),
        }),
        async (requests, growth, { limit, maxRead, from, length, isFailed }) => {
          const organization = newId('organization');
          for (const [i, partitions] of growth.entries()) {
            const known = await store.partitions.get(organization, DAY);
            await store.partitions.grow({ organization, day: DAY, nowMs: START + (i * DAY_MS) / 3 }, known, partitions);
          }
          const rows = requests.map(({ at, hasFailed }) =>
            requestRow({ organization, atMs: START + at, ...(hasFailed && { error_code: 'timeout', status: 503 }) }),
          );
          const writer = store.writer();
          for (const row of rows) await writer.put(row);
          const [fromMs, toMs] = [START + from, START + from + length];
          const found = await searchAll(query(organization, { fromMs, toMs, limit, maxRead, isFailed }));
          const expected = rows.filter(({ request_id, error_code }) => {
            const atMs = requestTimeMs(request_id);
            return atMs >= fromMs && atMs < toMs && (!isFailed || error_code !== undefined);
          });
          expect(idsOf(found)).toEqual(idsOf(expected).sort().reverse());
          for (const row of rows) expect(await store.get(organization, row.request_id)).toEqual(row);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('are read a bounded number at a time, however few match, and the page says how far it searched', async () => {
    const organization = newId('organization');
    const writer = store.writer();
    for (let i = 0; i < 300; i++) await writer.put(requestRow({ organization, atMs: START + i * 1_000, user: i === 3 ? 'ann' : 'bob' }));
    itemsRead = 0;
    const page = await store.page(query(organization, { toMs: START + DAY_MS, matches: ({ user }) => user === 'ann', maxRead: 100 }));
    expect(itemsRead).toBeLessThanOrEqual(100);
    expect(page.rows).toEqual([]);
    expect(page.searchedToMs).toBe(START + 200 * 1_000);
    expect(requestTimeMs(page.next as string)).toBe(page.searchedToMs);
    expect(await searchAll(query(organization, { matches: ({ user }) => user === 'ann', maxRead: 100 }))).toHaveLength(1);
  });

  test('are read without the others in a search for failures', async () => {
    const organization = newId('organization');
    const writer = store.writer();
    for (let i = 0; i < 200; i++)
      await writer.put(requestRow({ organization, atMs: START + i, ...(i % 100 === 0 && { outcome: 'upstream_failed', status: 503 }) }));
    itemsRead = 0;
    expect((await store.page(query(organization, { isFailed: true }))).rows).toHaveLength(2);
    expect(itemsRead).toBe(2);
  });

  test('stay where they are when a busy organization gets more partitions', async () => {
    const organization = newId('organization');
    const nowMs = START + DAY_MS / 2;
    const before = requestRow({ organization, atMs: nowMs });
    await store.put(before);
    await store.partitions.grow({ organization, day: DAY, nowMs }, [], 4);
    // It lost the race: someone else has added a step since it read.
    await store.partitions.grow({ organization, day: DAY, nowMs }, [], 16);
    const steps = await store.partitions.get(organization, DAY);
    expect(steps).toEqual([{ from_ms: nowMs + 120_000, partitions: 4 }]);
    await store.put(before);
    expect(await store.get(organization, before.request_id)).toEqual(before);
    expect((await store.page(query(organization))).rows).toHaveLength(1);
    // So many that no partition is left out by chance.
    const later = Array.from({ length: 400 }, () => newRequestId(nowMs + 120_000));
    expect(new Set(later.map((id) => partitionOf(steps, id, nowMs + 120_000))).size).toBe(4);
    expect(later.map((id) => partitionOf(steps, id, nowMs + 119_999))).toEqual(later.map(() => 0));
    expect(partitionsWithin(steps, START, nowMs)).toBe(1);
    expect(partitionsWithin(steps, START, START + DAY_MS)).toBe(4);
  });

  test('have at most one write unit for a usual request, and three with the most metadata', () => {
    const usual = requestRow({
      atMs: START,
      model: 'meta-llama/Llama-3.3-70B-Instruct',
      deployment: newId('deployment'),
      user: 'b3f0c7e2-4d0f-4c0e-9a58-3f6a2f1f8c11',
      user_id: 'b3f0c7e2-4d0f-4c0e-9a58-3f6a2f1f8c11',
      metadata: { team: 'search', environment: 'production', session: 'b3f0c7e2-4d0f-4c0e-9a58-3f6a2f1f8c11' },
    });
    const bytesOf = (row: RequestRow): number =>
      Object.entries({ ...row, account: `${row.org_id}#${DAY}#failed#0`, expires_at: 1_800_000_000 }).reduce(
        (bytes, [name, value]) =>
          bytes + name.length + Buffer.byteLength(String(typeof value === 'object' ? JSON.stringify(value) : value)),
        0,
      );
    expect(bytesOf(usual)).toBeLessThan(1_024);
    const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`key${i}`, 'é'.repeat(500)]));
    const row = requestRowOf({ ...eventOfRow(usual), metadata: { nested: { a: 1 }, count: 5, ok: true, ...metadata } });
    expect(row?.metadata).toEqual({ count: '5', ok: 'true', key0: 'é'.repeat(500), key1: 'é'.repeat(500) });
    expect(bytesOf(row as RequestRow)).toBeLessThan(3 * 1_024);
  });

  test('keeps the project of its key, and none if it had none', async () => {
    const event = eventOfRow(requestRow({ atMs: START }));
    for (const project of [{ project_id: 'prj_1' }, {}]) {
      const row = requestRowOf({ ...event, ...project }) as RequestRow;
      await store.put(row);
      expect((await store.get(row.org_id, row.request_id))?.project_id).toBe(project.project_id);
    }
  });
});

const eventOfRow = ({ request_id, org_id, key_id }: RequestRow) => ({
  request_id,
  org_id,
  key_id,
  prompt_tokens: 1,
  cached_tokens: 0,
  completion_tokens: 1,
  source: 'runtime' as const,
  outcome: 'completed' as const,
  finish_reason: 'stop',
  admitted_at: START,
  time_to_first_token_ms: 5,
  duration_ms: 10,
  cost_nanos: 1n,
  price_version: '1',
});
