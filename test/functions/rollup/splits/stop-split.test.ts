import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createSideCounts, type SideCount } from '../../../../functions/rollup/splits/count-sides.ts';
import { createSideStore } from '../../../../functions/rollup/splits/side-store.ts';
import { type SplitDependencies, stopIfFailing } from '../../../../functions/rollup/splits/stop-split.ts';
import { createAuditStore } from '../../../../shared/audit/audit-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { createAliasStore } from '../../../../shared/models/alias-store.ts';
import type { ModelAlias } from '../../../../shared/models/model-alias.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import type { ModelSplit } from '../../../../shared/models/split.ts';
import { createOutbox, OUTBOX_PREFIX } from '../../../../shared/notifications/outbox.ts';
import { orphanedEvent, type UsageEvent } from '../../../../shared/usage/event.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const BUCKET_MS = 600_000;

let database: TestDatabase;
let deps: SplitDependencies;
let aliases: ReturnType<typeof createAliasStore>;
let audit: ReturnType<typeof createAuditStore>;
let organization: string;
let split: ModelSplit;
beforeAll(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  database = await startTestDatabase();
  const { tables } = database;
  aliases = createAliasStore(database.database, tables.Models as string);
  audit = createAuditStore(createRecordTable(database.database, tables.Audit as string));
  const line = await database.as('rollup');
  deps = {
    database: line,
    audit: createAuditStore(createRecordTable(line, tables.Audit as string)),
    aliases: createAliasStore(line, tables.Models as string),
    sides: createSideStore(line, tables.Usage as string),
    outbox: createOutbox(createRecordTable(line, tables.Notifications as string)),
    now: () => NOW_MS,
  };
});
afterAll(async () => {
  jest.restoreAllMocks();
  await database.close();
});
beforeEach(async () => {
  organization = newId('organization');
  split = { id: newId('split'), model: 'new', percent: 10, max_error_percent: 5, min_requests: 100, started_at: 1 };
});

const set = async (owner: string, change: Partial<ModelSplit> = {}): Promise<void> => {
  const alias: ModelAlias = { alias: 'gpt', model: 'old', fallbacks: [], split: { ...split, ...change } };
  await transact(database.database, [aliases.toPut(owner, alias, await aliases.get(owner, 'gpt'))]);
};
const countOf = (requests: number, failed: number): SideCount => ({ splitId: split.id, alias: 'gpt', organization, requests, failed });
const add = (bucket: number, requests: number, failed: number, shard = 'key_1') =>
  deps.sides.put({ shard, startMs: NOW_MS + bucket * BUCKET_MS }, countOf(requests, failed));
const evaluate = () => stopIfFailing(deps, countOf(1, 0));
const stoppedAt = async (owner = organization) => (await aliases.get(owner, 'gpt'))?.split?.stopped_at;
const log = async (owner: string | null = organization) =>
  (await audit.list(owner, { limit: 20 })).data.filter(({ action }) => action === 'model_alias.split_stopped');
const notifications = async () => {
  const rows = createRecordTable(database.database, database.tables.Notifications as string);
  return Array.fromAsync(rows.all({ account: organization, prefix: OUTBOX_PREFIX }));
};

describe('a split', () => {
  test('stops once if too many of its newest requests failed, which is logged and notified', async () => {
    await set(organization);
    await add(0, 100, 6);
    await Promise.all(Array.from({ length: 5 }, evaluate));
    await evaluate();
    expect(await stoppedAt()).toBe(NOW_MS / 1_000);
    const stopped = { version: 2, split: { stopped_by: { requests: 100, failed_requests: 6 } } };
    expect(await aliases.get(organization, 'gpt')).toMatchObject(stopped);
    expect(await log()).toEqual([
      expect.objectContaining({
        actor: expect.objectContaining({ type: 'system', id: 'rollup' }),
        target: { type: 'model_alias', id: 'gpt' },
        changes: { stopped_at: { from: null, to: NOW_MS / 1_000 } },
      }),
    ]);
    expect(await notifications()).toEqual([
      expect.objectContaining({
        type: 'sluice.split.stopped.v1',
        subject: 'gpt',
        data: { alias: 'gpt', model: 'old', new_model: 'new', requests: 100, failed_requests: 6, max_error_percent: 5 },
      }),
    ]);
  });

  test.each([
    ['as many failed as may', 100, 5, {}],
    ['there are too few requests', 99, 99, {}],
    ['it has no bound', 1_000, 1_000, { max_error_percent: undefined }],
  ] as const)('goes on if %s', async (_, requests, failed, { ...change }) => {
    const { max_error_percent: __, ...unbounded } = split;
    if ('max_error_percent' in change) split = unbounded;
    await set(organization);
    await add(0, requests, failed);
    await evaluate();
    expect(await stoppedAt()).toBeUndefined();
  });

  test('counts each bucket once, however often and in whatever order it is written', async () => {
    await set(organization);
    for (const [requests, failed] of [
      [60, 6],
      [60, 6],
      [40, 0],
      [50, 5],
    ] as const)
      await add(0, requests, failed);
    await evaluate();
    expect(await stoppedAt()).toBeUndefined();
    expect(await deps.sides.newest(split.id, 1_000)).toEqual({ requests: 60, failed: 6 });
  });

  test('is judged by its newest requests, of all keys', async () => {
    await set(organization);
    await add(0, 10_000, 0);
    await add(1, 60, 3, 'key_1');
    await add(1, 60, 4, 'key_2');
    await evaluate();
    expect(await stoppedAt()).toBe(NOW_MS / 1_000);
  });

  test('is not stopped by requests from before its last start', async () => {
    await set(organization);
    await add(0, 100, 100);
    await set(organization, { id: newId('split') });
    await evaluate();
    expect(await stoppedAt()).toBeUndefined();
  });

  test('stops also if its alias is for all, and the log of the platform says so', async () => {
    await set(SERVERLESS_POOL);
    await add(0, 100, 50);
    await evaluate();
    expect(await stoppedAt(SERVERLESS_POOL)).toBe(NOW_MS / 1_000);
    expect(await log(null)).toHaveLength(1);
    expect(await notifications()).toEqual([]);
  });

  test('is left alone if its alias is gone', async () => {
    await add(0, 100, 100);
    await evaluate();
    expect(await log()).toEqual([]);
  });
});

describe('the count of the new side', () => {
  const eventOf = (change: Partial<UsageEvent>): UsageEvent => ({
    ...orphanedEvent({ requestId: 'req_1', keyId: 'key_1', orgId: 'org_1', projectId: undefined, admittedAtMs: 0, nowMs: 1 }),
    outcome: 'completed',
    alias: 'gpt',
    side: 'new',
    split_id: 'spl_1',
    ...change,
  });
  const count = async (...events: UsageEvent[]) => {
    const counts = createSideCounts();
    async function* all() {
      yield* events;
    }
    expect(await Array.fromAsync(counts.observe(all()))).toHaveLength(events.length);
    return counts.list().map(({ splitId, requests, failed }) => [splitId, requests, failed]);
  };

  test.each([
    ['a crash', { outcome: 'orphaned' }, 1],
    ['a failure of the model', { outcome: 'upstream_failed', error_status: 503, error_code: 'upstream_error' }, 1],
    ['a timeout', { outcome: 'timed_out', error_status: 504, error_code: 'upstream_timeout' }, 1],
    ['a failure after which a fallback answered', { fallback: 1, attempts: [{ model: 'new', code: 'upstream_error', ms: 1 }] }, 1],
    ['a fallback while a deployment starts', { fallback: 1, attempts: [{ model: 'new', code: 'deployment_waking', ms: 1 }] }, 0],
    ['a fault of the caller', { outcome: 'upstream_failed', error_status: 400, error_code: 'context_length_exceeded' }, 0],
    ['a caller who left', { outcome: 'client_closed' }, 0],
    ['a deployment that starts', { outcome: 'upstream_failed', error_status: 503, error_code: 'deployment_waking' }, 0],
  ] satisfies [string, Partial<UsageEvent>, number][])('takes %s as it is', async (_, change, failed) => {
    expect(await count(eventOf({}), eventOf(change))).toEqual([['spl_1', 2, failed]]);
  });

  test('is one by split, without the base side, other requests and corrections of prices', async () => {
    const { side: _, split_id: __, ...plain } = eventOf({});
    const corrected = eventOf({ rerate: { id: 'rr_1', from: 'price_1' } });
    expect(await count(eventOf({}), eventOf({ split_id: 'spl_2' }), eventOf({ side: 'base' }), plain, corrected)).toEqual([
      ['spl_1', 1, 0],
      ['spl_2', 1, 0],
    ]);
  });
});
