import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DynamoDBRecord } from 'aws-lambda';
import { writeRequestRows } from '../../../functions/rollup/request-rows.ts';
import { writeAttributes } from '../../../shared/database/attribute-values.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { createRequestRowStore, type RequestRowStore } from '../../../shared/observability/request-row-store.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { createOrganizationTotalsStore, type OrganizationTotalsStore } from '../../../shared/usage/organization-totals-store.ts';
import { addEvent, noTotals } from '../../../shared/usage/totals.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newId } from '../../support/fixtures/new-id.ts';

const NOW = Date.UTC(2026, 10, 21, 12, 34, 56);

let database: TestDatabase;
// With the function's permissions.
let requestRows: RequestRowStore;
let search: RequestRowStore;
let totals: OrganizationTotalsStore;
let writes = 0;
beforeAll(async () => {
  database = await startTestDatabase();
  const line = await database.as('rollup');
  const counted = {
    ...line,
    put: (input: Parameters<TestDatabase['database']['put']>[0]) => {
      writes++;
      return line.put(input);
    },
  };
  requestRows = createRequestRowStore(counted, database.tables.Observability as string);
  search = createRequestRowStore(database.database, database.tables.Observability as string);
  totals = createOrganizationTotalsStore(database.database, database.tables.Usage as string);
});
afterAll(async () => {
  await database.close();
});

const eventOf = (organization: string, atMs: number, facts: Partial<UsageEvent> = {}): UsageEvent => ({
  request_id: newRequestId(atMs),
  key_id: 'key_a',
  org_id: organization,
  model: 'small',
  route: '/v1/chat/completions',
  prompt_tokens: 10,
  cached_tokens: 3,
  completion_tokens: 20,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  admitted_at: atMs,
  time_to_first_token_ms: 5,
  duration_ms: 10,
  cost_nanos: 7_000n,
  price_version: '1',
  ...facts,
});

const recordOf = ({ metadata, ...event }: UsageEvent): DynamoDBRecord => ({
  dynamodb: {
    NewImage: JSON.parse(
      writeAttributes({
        usage_bucket: 'x',
        usage_event: event.request_id,
        ...event,
        ...(metadata && { metadata: JSON.stringify(metadata) }),
      }),
    ),
  },
});

const write = (events: readonly UsageEvent[], nowMs = NOW) =>
  writeRequestRows({ requestRows, totals, now: () => nowMs }, events.map(recordOf));

describe('the rollup function', () => {
  test('writes the row by which a request is searched, once however often its event is delivered', async () => {
    const organization = newId('organization');
    const deployment = newId('deployment');
    const endpoint = `sluice-chat-${deployment.slice(4)}-g2`;
    const completed = eventOf(organization, NOW - 5, {
      endpoint,
      user: 'ann',
      user_id: 'u',
      metadata: { '': 'y', team: 'x', deep: { a: 1 } },
    });
    const failed = eventOf(organization, NOW - 4, { outcome: 'upstream_failed', error_code: 'upstream_timeout', error_status: 503 });
    writes = 0;
    await write([completed, failed]);
    // One for the request that completed, and two for the one that failed.
    expect(writes).toBe(3);
    await write([failed, completed]);
    const all = { organization, fromMs: NOW - DAY_MS, toMs: NOW, isFailed: false, matches: () => true, limit: 10, maxRead: 100 };
    expect((await search.page(all)).rows.map(({ request_id }) => request_id)).toEqual([failed.request_id, completed.request_id]);
    expect(await requestRows.get(organization, completed.request_id)).toEqual({
      request_id: completed.request_id,
      org_id: organization,
      key_id: 'key_a',
      model: 'small',
      route: '/v1/chat/completions',
      deployment,
      outcome: 'completed',
      status: 200,
      prompt_tokens: 10,
      cached_tokens: 3,
      completion_tokens: 20,
      cost_nanos: 7_000n,
      time_to_first_token_ms: 5,
      duration_ms: 10,
      user: 'ann',
      user_id: 'u',
      metadata: { team: 'x' },
    });
    expect(await requestRows.get(organization, failed.request_id)).toMatchObject({ status: 503, error_code: 'upstream_timeout' });
  });

  test('writes no row for a later rating of a request, or for a request whose rows have expired', async () => {
    const organization = newId('organization');
    const event = eventOf(organization, NOW);
    const old = eventOf(organization, NOW - 31 * DAY_MS);
    const kept = eventOf(organization, NOW - 30 * DAY_MS);
    writes = 0;
    await write([{ ...event, request_id: `${event.request_id}#2`, rerate: { id: 'rr_1', from: '1' } }, old, kept]);
    expect(writes).toBe(1);
    expect(await requestRows.get(organization, kept.request_id)).toBeDefined();
  });

  test('writes all other rows if some fail, and then fails, so that the batch is sent again', async () => {
    const organization = newId('organization');
    const [good, bad] = [eventOf(organization, NOW), eventOf(organization, NOW)];
    const writer = requestRows.writer();
    const failing = {
      partitions: requestRows.partitions,
      writer: () => ({
        put: async (row: Parameters<typeof writer.put>[0]) => {
          if (row.request_id === bad.request_id) throw new Error('away');
          await writer.put(row);
        },
      }),
    };
    const run = writeRequestRows({ requestRows: failing, totals, now: () => NOW }, [bad, good].map(recordOf));
    await expect(run).rejects.toThrow('1 failed, the first with Error: away');
    expect(await requestRows.get(organization, good.request_id)).toBeDefined();
  });

  describe('for an organization with many requests a second', () => {
    /** So many requests a second in the last minute, as its totals say. */
    const addLoad = async (organization: string, perSecond: number, nowMs: number): Promise<void> => {
      const sums = noTotals();
      addEvent(sums, eventOf(organization, nowMs));
      sums.events = sums.requests = perSecond * 60;
      const startMs = Math.floor(nowMs / 60_000) * 60_000;
      const [model, route, deployment] = ['small', '/v1/chat/completions', null];
      await totals.put({ organization, span: 'minute', detail: 'model', startMs, model, route, deployment, totals: sums });
    };
    const busyBatch = (organization: string, nowMs: number) =>
      Array.from({ length: 60 }, (_, i) => eventOf(organization, nowMs - 1_000 + i));
    const stepsOf = (organization: string, nowMs: number) =>
      requestRows.partitions.get(organization, new Date(nowMs).toISOString().slice(0, 10));

    test('spreads the rows of coming requests over a partition for each 500 a second', async () => {
      const organization = newId('organization');
      await addLoad(organization, 1_600, NOW);
      const batch = busyBatch(organization, NOW);
      await write(batch);
      expect(await stepsOf(organization, NOW)).toEqual([{ from_ms: NOW + 120_000, partitions: 4 }]);
      // The same load again changes nothing, and neither does less.
      await write(batch);
      expect(await stepsOf(organization, NOW)).toHaveLength(1);
      await addLoad(organization, 50_000, NOW + 60_000);
      await write(busyBatch(organization, NOW + 60_000), NOW + 60_000);
      expect(await stepsOf(organization, NOW)).toEqual([
        { from_ms: NOW + 120_000, partitions: 4 },
        { from_ms: NOW + 180_000, partitions: 16 },
      ]);
      for (const { request_id } of batch) expect(await requestRows.get(organization, request_id)).toBeDefined();
    });

    test('begins the next day with as many partitions', async () => {
      const organization = newId('organization');
      const nowMs = Date.UTC(2026, 10, 21, 23, 30, 10);
      await addLoad(organization, 900, nowMs);
      await write(busyBatch(organization, nowMs), nowMs);
      expect(await stepsOf(organization, nowMs + DAY_MS)).toEqual([{ from_ms: Date.UTC(2026, 10, 22), partitions: 2 }]);
    });

    test('keeps one partition for up to 500 a second', async () => {
      const organization = newId('organization');
      await addLoad(organization, 500, NOW);
      await write(busyBatch(organization, NOW));
      expect(await stepsOf(organization, NOW)).toEqual([]);
    });
  });
});
