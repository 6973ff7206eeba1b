import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { drawTop } from '../../../../../infra/tools/admin/top/draw-top.ts';
import { createTopStores } from '../../../../../infra/tools/admin/top/show-top.ts';
import { newRequestId } from '../../../../../shared/ids/request-id.ts';
import { type MinuteStores, newestMinute } from '../../../../../shared/observability/newest-minute.ts';
import type { UsageEvent } from '../../../../../shared/usage/event.ts';
import { createOrganizationTotalsStore } from '../../../../../shared/usage/organization-totals-store.ts';
import { addEvent, noTotals } from '../../../../../shared/usage/totals.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { runAdmin } from '../run-admin.ts';

const NOW = Date.UTC(2026, 10, 21, 12, 34, 56);
const MINUTE = Date.UTC(2026, 10, 21, 12, 34);

let database: TestDatabase;
let stores: MinuteStores;
beforeAll(async () => {
  database = await startTestDatabase();
  const { Usage: usage = '', Keys: keys = '', Accounts: accounts = '' } = database.tables;
  stores = createTopStores(database.database, { usage, keys, accounts });
});
afterAll(async () => {
  await database.close();
});

const eventOf = (fields: Partial<UsageEvent>): UsageEvent => ({
  request_id: newRequestId(MINUTE),
  key_id: 'key_a',
  org_id: 'org_1',
  model: 'small',
  prompt_tokens: 1_000,
  cached_tokens: 0,
  completion_tokens: 10,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  admitted_at: MINUTE,
  time_to_first_token_ms: 100,
  duration_ms: 1_000,
  cost_nanos: 1n,
  price_version: '1',
  ...fields,
});

// Stores what the function `rollup` would store.
const addMinute = async (startMs: number, route: string, events: readonly UsageEvent[]): Promise<void> => {
  const [{ org_id: organization, model = null, key_id: keyId }] = events as [UsageEvent];
  const totals = noTotals();
  for (const event of events) addEvent(totals, event);
  const names = { organization, span: 'minute', detail: 'key', model, route, deployment: null, keyId } as const;
  await createOrganizationTotalsStore(database.database, database.tables.Usage as string).put({ ...names, startMs, totals });
};

test('shows the newest minute that has usage by model and key, the busiest first', async () => {
  await addMinute(MINUTE - 60_000, '/v1/chat/completions', [eventOf({}), eventOf({}), eventOf({})]);
  await addMinute(MINUTE, '/v1/chat/completions', [eventOf({ model: 'large' })]);
  await addMinute(MINUTE, '/v1/chat/completions', [eventOf({})]);
  await addMinute(MINUTE, '/v1/responses', [eventOf({ outcome: 'upstream_failed', error_code: 'upstream_error' })]);
  const minute = await newestMinute(stores, { organization: 'org_1', maxOrganizations: 1 }, NOW);
  expect(minute.startMs).toBe(MINUTE);
  expect(minute.rows.map(({ model, keyId, totals }) => [model, keyId, totals.requests])).toEqual([
    ['small', 'key_a', 2],
    ['large', 'key_a', 1],
  ]);
  const lines = drawTop(minute, NOW).split('\n');
  expect(lines[0]).toBe('The minute of 12:34 UTC, which began 56 s ago; requests that have ended and were counted.');
  expect(lines[2]?.split(/ {2,}/)).toEqual([
    'model',
    'API key',
    'requests',
    'errors',
    'input',
    'output',
    'p50 ms',
    'p99 ms',
    'first p50',
    'first p99',
    'in flight',
  ]);
  const [model, key, requests, errors, input, output] = lines[3]?.split(/ {2,}/) ?? [];
  expect([model, key, requests, errors, input, output]).toEqual(['small', 'key_a', '2', '1', '2,000', '20']);
  expect(lines[5]?.split(/ {2,}/).slice(0, 3)).toEqual(['all', '3', '1']);
});

test('shows the largest 20 rows and says how many others are in the sums', async () => {
  for (let i = 0; i < 23; i++) await addMinute(MINUTE, '/v1/chat/completions', [eventOf({ org_id: 'org_2', key_id: `key_${i}` })]);
  const minute = await newestMinute(stores, { organization: 'org_2', maxOrganizations: 1 }, NOW);
  expect([minute.rows.length, minute.others, minute.whole.requests]).toEqual([20, 3, 23]);
  expect(drawTop(minute, NOW)).toContain('3 more rows are not shown; "all" includes them.');
});

test('says so if there was no usage in the last minutes', async () => {
  expect(drawTop(await newestMinute(stores, { organization: 'org_1', maxOrganizations: 1 }, NOW + 600_000), NOW)).toContain(
    'There was no usage in the last minutes.',
  );
});

test('prints it once if the output is no terminal, and rejects an interval that would read too often', async () => {
  const { code, stdout } = await runAdmin(database, ['top']);
  expect([code, stdout]).toEqual([0, 'There was no usage in the last minutes. Totals are up to about a minute late.\n']);
  expect((await runAdmin(database, ['top', '--every', '0.1'])).stderr).toContain('--every');
});
