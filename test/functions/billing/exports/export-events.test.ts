import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import type { EventExportDependencies } from '../../../../functions/billing/exports/export-events.ts';
import { exportEvents } from '../../../../functions/billing/exports/export-events.ts';
import { saveExport } from '../../../../functions/billing/exports/file-writer.ts';
import { shardIds } from '../../../../shared/admission/item/shards.ts';
import { MAX_RUNNING_EXPORTS } from '../../../../shared/billing/export.ts';
import { createExportStore } from '../../../../shared/billing/export-store.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { dayOf } from '../../../../shared/time/utc.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash } from '../../../support/faults/unreliable-database.ts';
import { createKey } from '../../../support/fixtures/create-key.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { sized } from '../../../support/sized.ts';
import { eventAt, newExport, startExports, type TestExports } from './run-export.ts';

let db: TestDatabase;
let exporting: TestExports;
beforeAll(async () => {
  db = await startTestDatabase();
  exporting = await startExports(db);
});
afterAll(async () => {
  await exporting.close();
  await db.close();
});

const keyOf = async (organization: string, requests_per_minute = 60): Promise<string> => {
  const limits = { requests_per_minute, tokens_per_minute: 100_000_000, concurrency: 4 };
  return (await createKey(db.limiters, { org: organization, scope: 'serverless', ...limits })).key_id;
};

const idsIn = (csv: string): string[] => (parse(csv, { columns: true }) as { id: string }[]).map(({ id }) => id);

describe('exportEvents', () => {
  test('writes each event of the range once, from all keys and shards, and describes the file', async () => {
    const organization = newId('organization');
    const [plain, sharded] = [await keyOf(organization), await keyOf(organization, 100_000)];
    const shards = (await db.limiters.get(sharded))?.shards ?? 1;
    expect(shards).toBeGreaterThan(1);
    const of = (key: string, ats: string[]) => ats.map((at, i) => eventAt(key, at, i, { org_id: organization }));
    const inside = ['2026-10-01T00:00:00.000Z', '2026-10-01T00:00:00.001Z', '2026-10-15T13:07:09.123Z', '2026-10-31T23:59:59.999Z'];
    const outside = ['2026-09-30T23:59:59.999Z', '2026-11-01T00:00:00.000Z'];
    await exporting.store(of(plain, [...inside, ...outside]));
    await exporting.store(of(sharded, [...inside, ...outside]), shards);
    const other = await keyOf(newId('organization'));
    await exporting.store(of(other, inside));
    const row = await exporting.run(await exporting.create(newExport(organization)));
    const file = await exporting.read(row);
    const expected = [plain, sharded].sort().flatMap((key) => of(key, inside).map(({ request_id }) => request_id));
    expect(idsIn(file)).toEqual(expected);
    expect(row).toMatchObject({
      state: 'completed',
      rows: 8,
      progress: 1_000,
      bytes: file.length,
      sha256: createHash('sha256').update(file).digest('hex'),
    });
  });

  test('writes the events of all shards of a key that lost its first limiter', async () => {
    const organization = newId('organization');
    const key = await keyOf(organization, 100_000);
    const shards = (await db.limiters.get(key))?.shards ?? 1;
    const events = Array.from({ length: 12 }, (_, i) => eventAt(key, '2026-10-15T13:07:09.123Z', i, { org_id: organization }));
    await exporting.store(events, shards);
    await db.database.delete({ TableName: db.tables.Keys as string, Key: { id: key } });
    const row = await exporting.run(await exporting.create(newExport(organization)));
    expect(idsIn(await exporting.read(row)).toSorted()).toEqual(events.map(({ request_id }) => request_id).toSorted());
  });

  test.each([
    ['of a day without totals', false],
    ['of a key that lost all its limiters', true],
  ])('writes the events that an invoice has counted, also %s', async (_, isLost) => {
    const organization = newId('organization');
    const [key, used] = [await keyOf(organization, 100_000), await keyOf(organization)];
    const shards = (await db.limiters.get(key))?.shards ?? 1;
    const day = '2026-10-15';
    const events = Array.from({ length: 12 }, (_, i) => eventAt(key, `${day}T13:07:09.123Z`, i, { org_id: organization }));
    for (const event of events) await db.usage.putIfAbsent(event, shards);
    await exporting.store([eventAt(used, `${day}T00:00:00.000Z`, 1, { org_id: organization })]);
    await exporting.bill(organization, day, [...events, eventAt(used, `${day}T00:00:00.000Z`, 1)]);
    if (isLost) for (const id of shardIds(key, shards)) await db.database.delete({ TableName: db.tables.Keys as string, Key: { id } });
    const ids = events.map(({ request_id }) => request_id);
    const whole = await exporting.run(await exporting.create(newExport(organization)));
    expect(idsIn(await exporting.read(whole))).toHaveLength(13);
    const one = await exporting.run(await exporting.create(newExport(organization, { api_key_ids: [key] })));
    expect(idsIn(await exporting.read(one)).toSorted()).toEqual(ids.toSorted());
    const dayBefore = { from_ms: Date.parse('2026-10-14'), to_ms: Date.parse(day) };
    expect(await exporting.run(await exporting.create(newExport(organization, dayBefore)))).toMatchObject({ rows: 0 });
  });

  test('writes a request that waited across the boundary of two exports to the first, by its arrival', async () => {
    const organization = newId('organization');
    const key = await keyOf(organization);
    const straddling = eventAt(key, '2026-10-31T23:59:59.900Z', 1, {
      org_id: organization,
      admitted_at: Date.parse('2026-11-01T00:00:00.100Z'),
    });
    await exporting.store([straddling]);
    const range = (from: string, to: string) => ({ from_ms: Date.parse(from), to_ms: Date.parse(to) });
    const idsOf = async (format: 'csv' | 'focus', from: string, to: string) => {
      const row = await exporting.run(await exporting.create(newExport(organization, { format, ...range(from, to) })));
      return format === 'csv' ? idsIn(await exporting.read(row)) : row.rows;
    };
    expect(await idsOf('csv', '2026-10-01', '2026-11-01')).toEqual([straddling.request_id]);
    expect(await idsOf('csv', '2026-11-01', '2026-12-01')).toEqual([]);
    expect(await idsOf('focus', '2026-10-01', '2026-11-01')).toBe(1);
    expect(await idsOf('focus', '2026-11-01', '2026-12-01')).toBe(0);
  });

  test('queries today, but no day to come, of a range that ends in the future', async () => {
    const organization = newId('organization');
    const key = await keyOf(organization);
    const { usage, now } = exporting.dependencies;
    const days = new Set<string>();
    const listByBucket: typeof usage.listByBucket = (shard, startMs, position) => {
      days.add(dayOf(startMs));
      return usage.listByBucket(shard, startMs, position);
    };
    await exporting.store([eventAt(key, new Date(now()).toISOString(), 1, { org_id: organization })]);
    const year = newExport(organization, { from_ms: Date.parse('2027-01-01'), to_ms: Date.parse('2028-01-01') });
    const row = await exporting.run(await exporting.create(year), { ...exporting.dependencies, usage: { listByBucket } });
    expect([row.rows, [...days]]).toEqual([1, ['2027-01-14', '2027-01-15']]);
  });

  test('writes only the API keys and models that the export asks for', async () => {
    const organization = newId('organization');
    const [one, other] = [await keyOf(organization), await keyOf(organization)];
    const events = [one, other].flatMap((key) =>
      ['small', 'large'].map((model, i) => eventAt(key, '2026-10-02T10:00:00Z', i, { model, org_id: organization })),
    );
    await exporting.store(events);
    const wanted = { api_key_ids: [one, newId('key')], models: ['large'] };
    const row = await exporting.run(await exporting.create(newExport(organization, wanted)));
    expect(idsIn(await exporting.read(row))).toEqual([events[1]?.request_id]);
  });

  test('writes JSON Lines with exact costs and the caller’s metadata', async () => {
    const organization = newId('organization');
    const key = await keyOf(organization);
    const facts = { org_id: organization, cost_nanos: 2n ** 60n + 1n, metadata: { team: '=a', n: 1 }, user_id: 'u"1' };
    await exporting.store([eventAt(key, '2026-10-02T10:00:00.5Z', 1, facts)]);
    const row = await exporting.run(await exporting.create(newExport(organization, { format: 'jsonl' })));
    const lines = (await exporting.read(row)).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        api_key_id: key,
        object: 'usage_event',
        admitted_at: Date.parse('2026-10-02T10:00:00Z') / 1_000,
        cost: '1152921504.606846977',
        metadata: { team: '=a', n: 1 },
        user_id: 'u"1',
      }),
    ]);
  });

  test.each(['csv', 'jsonl', 'focus'] as const)('of an organization without events is a %s file without records', async (format) => {
    const row = await exporting.run(await exporting.create(newExport(newId('organization'), { format })));
    expect([row.state, row.rows]).toEqual(['completed', 0]);
    expect((await exporting.read(row)).split('\n').filter(Boolean)).toHaveLength(format === 'jsonl' ? 0 : 1);
  });

  test('notifies the organization once when it is completed', async () => {
    const organization = newId('organization');
    const row = await exporting.run(await exporting.create(newExport(organization)));
    await exportEvents(exporting.dependencies, { organization, export: row.id });
    const table = createRecordTable(db.database, db.tables.Notifications as string);
    const found = await Array.fromAsync(table.all({ account: organization, prefix: 'notification#' }));
    expect(found).toEqual([
      expect.objectContaining({
        type: 'sluice.export.completed.v1',
        subject: row.id,
        data: { export: row.id, format: 'csv', rows: 0, bytes: row.bytes, sha256: row.sha256 },
      }),
    ]);
  });

  test('no longer counts as running once it has ended', async () => {
    const organization = newId('organization');
    const created = await Promise.all(Array.from({ length: MAX_RUNNING_EXPORTS }, () => exporting.create(newExport(organization))));
    await expect(exporting.create(newExport(organization))).rejects.toMatchObject({ status: 409, code: 'too_many_exports' });
    await exporting.run(created[0] as (typeof created)[0]);
    await exporting.create(newExport(organization));
  });
});

// Events of a day that are not stored, because there are so many: 9 MB of records, two parts.
const EVENTS = 2_200;
// To parse that much CSV takes as long as to write it. The id comes first and has no quotes.
const idsOfMany = (csv: string): string[] => [...csv.matchAll(/^(req_\w+),/gm)].map(([, id = '']) => id);
const manyEvents = (key: string, organization: string) => {
  const filler = 'x'.repeat(4_000);
  const events = Array.from({ length: EVENTS }, (_, i) =>
    eventAt(key, new Date(Date.parse('2026-10-05') + i * 39_000).toISOString(), i, { org_id: organization, user: filler }),
  );
  const buckets = Map.groupBy(events, ({ admitted_at }) => Math.floor(admitted_at / 600_000));
  return {
    ids: events.map(({ request_id }) => request_id),
    usage: {
      listByBucket: async function* (_shard: string, atMs: number): AsyncGenerator<UsageEvent> {
        yield* buckets.get(Math.floor(atMs / 600_000)) ?? [];
      },
    },
    rollup: events[0] as UsageEvent,
  };
};

// A process that crashes after its nth write without a reply; later calls do nothing.
const crashingProcess = (deps: EventExportDependencies, at?: number) => {
  let writes = 0;
  let isDead = false;
  const guard = <Name extends string, Store extends object>(store: Store, names: readonly Name[]): Store =>
    new Proxy(store, {
      get: (target, name) => {
        const method = target[name as keyof Store];
        if (typeof method !== 'function') return method;
        return async (...parameters: unknown[]) => {
          if (isDead) throw new Crash();
          const isWrite = names.includes(name as Name);
          if (isWrite) writes++;
          const result = await method.apply(target, parameters);
          if (isWrite && writes === at) isDead = true;
          if (isDead) throw new Crash();
          return result;
        };
      },
    });
  const database = guard<string, Database>(deps.database, ['transactWrite']);
  return {
    writes: () => writes,
    deps: {
      ...deps,
      database,
      exports: createExportStore(createRecordTable(database, db.tables.Billing as string)),
      uploads: guard(deps.uploads, ['create', 'putPart', 'putTail', 'complete']),
    },
  };
};

describe('exportEvents, for a file of many parts', () => {
  test('continues over several invocations, and a crash at any write neither loses nor repeats a record', async () => {
    const organization = newId('organization');
    const key = await keyOf(organization);
    const { ids, usage, rollup } = manyEvents(key, organization);
    await exporting.store([rollup]);
    const depsWith = (): EventExportDependencies => {
      let records = 0;
      // Time for 900 records an invocation.
      return { ...exporting.dependencies, usage, hasTime: () => ++records % 900 !== 0 };
    };
    const whole = crashingProcess(depsWith());
    const reference = await exporting.run(await exporting.create(newExport(organization)), whole.deps);
    const file = await exporting.read(reference);
    expect(idsOfMany(file)).toEqual(ids);
    expect(reference.rows).toBe(EVENTS);
    expect(exporting.sent.length).toBeGreaterThan(1);
    expect(whole.writes()).toBeGreaterThanOrEqual(10);

    // Among 16 writes, these are the second tail, the row after a part, and the one after the parts are joined.
    for (let at = sized(6, 1); at <= whole.writes(); at += sized(4, 1)) {
      const created = await exporting.create(newExport(organization));
      await expect(exporting.run(created, crashingProcess(depsWith(), at).deps)).rejects.toThrow(Crash);
      const ended = await exporting.run(created, depsWith());
      expect([at, ended.state, ended.rows, ended.sha256]).toEqual([at, 'completed', EVENTS, reference.sha256]);
    }
  });

  test('starts over if its upload is gone', async () => {
    const organization = newId('organization');
    const key = await keyOf(organization);
    const { ids, usage, rollup } = manyEvents(key, organization);
    await exporting.store([rollup]);
    let records = 0;
    const deps = { ...exporting.dependencies, usage, hasTime: () => ++records % 2_100 !== 0 };
    const created = await exporting.create(newExport(organization));
    await exportEvents(deps, { organization, export: created.id });
    const begun = await exporting.exports.get(organization, created.id);
    const { upload_id, parts } = await saveExport(deps, begun, { sums: { group: '1' } });
    expect(parts).toHaveLength(1);
    await exporting.dependencies.uploads.abort(`exports/${organization}/${created.id}.csv`, upload_id ?? '');
    await expect(exporting.run(created, deps)).rejects.toThrow();
    const restarted = { state: 'pending', upload_id: null, parts: [], tail: null, position: null, rows: 0, progress: 0, sums: {} };
    expect(await exporting.exports.get(organization, created.id)).toEqual(expect.objectContaining(restarted));
    const ended = await exporting.run(created, deps);
    expect([ended.state, ended.restarts, ended.rows]).toEqual(['completed', 1, EVENTS]);
    expect(idsOfMany(await exporting.read(ended))).toEqual(ids);
  });
});

describe('exportEvents, if an export keeps failing', () => {
  test('ends it as failed, says what to do, and removes its parts', async () => {
    const organization = newId('organization');
    const created = await exporting.create(newExport(organization));
    const broken = {
      ...exporting.dependencies,
      limiters: {
        ...db.limiters,
        listByOrganization: async function* (): AsyncGenerator<string> {
          yield await Promise.reject(new Error('The database is away.'));
        },
      },
    };
    for (let attempt = 0; attempt < 10; attempt++)
      await expect(exportEvents(broken, { organization, export: created.id })).rejects.toThrow('The database is away.');
    const { upload_id } = await exporting.exports.get(organization, created.id);
    const ended = await exporting.run(created, broken);
    expect([ended.state, ended.error]).toEqual(['failed', expect.stringContaining('Create it again')]);
    const key = `exports/${organization}/${created.id}.csv`;
    await expect(exporting.dependencies.uploads.putPart(key, upload_id ?? '', 1, Buffer.alloc(1))).rejects.toThrow();
    await exporting.create(newExport(organization));
  });

  test('returns 404 for an export of another organization', async () => {
    const created = await exporting.create(newExport(newId('organization')));
    const other = { organization: newId('organization'), export: created.id };
    await expect(exportEvents(exporting.dependencies, other)).rejects.toMatchObject({ status: 404 });
  });
});
