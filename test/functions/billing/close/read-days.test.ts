import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { CloseDependencies } from '../../../../functions/billing/close/close-month.ts';
import { OutOfTime } from '../../../../functions/billing/close/read-day.ts';
import { readDays } from '../../../../functions/billing/close/read-days.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { addEvent, noTotals } from '../../../../shared/usage/totals.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { startBillingFiles, type TestBillingFiles } from '../../../support/fixtures/billing-files.ts';
import { type Closing, createClosing, MODEL } from '../../../support/fixtures/closing.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

let database: TestDatabase;
let bucket: TestBillingFiles;
let closing: Closing;
let organization: string;
let queries: Map<string, number>;

beforeAll(async () => {
  database = await startTestDatabase();
  bucket = await startBillingFiles();
  closing = await createClosing(database, bucket);
});
afterAll(async () => {
  await bucket.close();
  await database.close();
});
beforeEach(() => {
  organization = newId('organization');
  queries = new Map();
});

const DAY = '2026-10-02';
const BUCKETS_A_DAY = 144;
const at = (time: string, day = DAY): number => Date.parse(`${day}T${time}Z`);

const counting = (process: Partial<CloseDependencies> = {}): CloseDependencies => {
  const dependencies = closing.dependencies(process);
  const listByBucket: CloseDependencies['usage']['listByBucket'] = (shard, ...rest) => {
    queries.set(shard, (queries.get(shard) ?? 0) + 1);
    return dependencies.usage.listByBucket(shard, ...rest);
  };
  return { ...dependencies, usage: { listByBucket } };
};

const read = (days: string[] = [DAY], process: Partial<CloseDependencies> = {}) =>
  readDays(counting(process), { organization, reader: 'inv_1', days });

const use = (key_id: string, admitted_at: number, shards = 1, facts: Partial<UsageEvent> = {}) =>
  closing.addUsage({ key_id, org_id: organization, admitted_at, ...facts }, shards);

describe('readDays', () => {
  test('queries no events before a key’s creation or after its last use', async () => {
    const key = await closing.addKey(organization, { createdMs: at('10:05:00') });
    await use(key, at('10:05:01'));
    await use(key, at('11:55:00'));
    const days = await read(['2026-10-01', DAY, '2026-10-03']);
    expect(days.get(DAY)?.events).toBe(2);
    // From 10:00 to 12:00.
    expect(queries).toEqual(new Map([[key, 12]]));
  });

  test('finds events in the ten minutes of a key’s creation and last use, although clocks differ by seconds', async () => {
    const key = await closing.addKey(organization, { createdMs: at('00:00:10'), lastUsedMs: at('23:59:50') });
    await use(key, at('23:59:55', '2026-10-01'));
    await use(key, at('00:00:05', '2026-10-03'));
    const days = await read(['2026-10-01', DAY, '2026-10-03']);
    expect([...days.values()].map(({ events }) => events)).toEqual([1, 0, 1]);
  });

  test('makes one query for all days of a key that was never used, even if it is revoked', async () => {
    for (let keys = 0; keys < 3; keys++) await closing.addKey(organization, { shards: 3 });
    const dependencies = counting();
    const listDays = jest.fn(dependencies.rollups.listDays);
    const days = await readDays(
      { ...dependencies, rollups: { ...dependencies.rollups, listDays } },
      { organization, reader: 'inv_1', days: [DAY, '2026-10-30'] },
    );
    expect(days.size).toBe(2);
    expect(queries.size).toBe(0);
    expect(listDays).toHaveBeenCalledTimes(3);
  });

  const rollUp = async (event: UsageEvent, time?: string): Promise<void> => {
    const totals = noTotals();
    addEvent(totals, event);
    const of = { keyId: event.key_id, day: DAY, model: MODEL, orgId: organization, totals };
    await closing.rollups.put(of);
    if (time) await closing.rollups.put({ ...of, bucket: { shard: event.key_id, time } });
  };
  const setLastUse = (key: string, lastUsedMs: number | undefined) =>
    database.database.update({
      TableName: database.tables.Keys as string,
      Key: { id: key },
      ...(lastUsedMs === undefined
        ? { UpdateExpression: 'REMOVE last_used' }
        : { UpdateExpression: 'SET last_used = :at', ExpressionAttributeValues: { ':at': lastUsedMs } }),
    });

  test('reads the days with totals of a key that lost its limiter, and with it its last use', async () => {
    const key = await closing.addKey(organization, { shards: 2 });
    await rollUp(await use(key, at('10:00:00'), 2));
    await setLastUse(key, undefined);
    const days = await read([DAY, '2026-10-03']);
    expect(days.get(DAY)?.events).toBe(1);
    expect([...queries.values()]).toEqual([BUCKETS_A_DAY, BUCKETS_A_DAY]);
  });

  test('reads the events after the last use of a key whose limiter is from an older backup', async () => {
    const key = await closing.addKey(organization, { createdMs: at('10:05:00') });
    await use(key, at('10:05:01'));
    await rollUp(await use(key, at('11:55:00')), '11:50');
    await setLastUse(key, at('10:05:01'));
    const days = await read([DAY, '2026-10-03']);
    expect(days.get(DAY)?.events).toBe(2);
    // From 10:00 to 12:00.
    expect(queries).toEqual(new Map([[key, 12]]));
  });

  test('reads the rest of the day of such a last use, if the totals of its ten minutes are removed', async () => {
    const key = await closing.addKey(organization, { createdMs: at('10:05:00') });
    await rollUp(await use(key, at('23:55:00')));
    await setLastUse(key, at('10:05:01'));
    const days = await read([DAY, '2026-10-03']);
    expect(days.get(DAY)?.events).toBe(1);
    expect(queries).toEqual(new Map([[key, 84]]));
  });
});

describe('readDays, if a day does not fit one invocation', () => {
  /** Reads the day in invocations that have time for one more API key each. @returns the number of invocations */
  const readByKeys = async (keys: readonly string[]): Promise<number> => {
    for (let invocations = 1; ; invocations++) {
      const wanted = keys[invocations - 1];
      try {
        await read([DAY], { hasTime: () => wanted === undefined || !queries.has(wanted) });
        return invocations;
      } catch (error) {
        if (!(error instanceof OutOfTime) || invocations > keys.length) throw error;
      }
    }
  };

  test('continues after the API keys that were read, and reads none twice', async () => {
    const keys: string[] = [];
    // More than are read at the same time.
    for (let i = 0; i < 40; i++) {
      const key = await closing.addKey(organization, { createdMs: at('10:02:00') + i, lastUsedMs: at('10:07:00') });
      keys.push(key);
      if (i % 2 === 0) await use(key, at('10:05:00'), 1, i % 4 === 0 ? { project_id: 'prj_1' } : {});
    }
    const whole = await readDays(counting(), { organization, reader: 'inv_whole', days: [DAY] });
    queries.clear();

    expect(await readByKeys(keys.filter((_, i) => i % 15 === 0))).toBeGreaterThan(2);
    expect(queries).toEqual(new Map(keys.map((key) => [key, 1])));
    const [inParts] = (await closing.billedMonths.readDays(organization, 'inv_1')).values();
    expect(inParts).toEqual(whole.get(DAY));
    expect(inParts?.events).toBe(20);
    expect(await closing.billedMonths.readParts(organization, 'inv_1')).toEqual(new Map());
  });

  test('keeps the events that were read when one API key cannot be read', async () => {
    const keys: string[] = [];
    for (let i = 0; i < 3; i++) {
      const key = await closing.addKey(organization, { createdMs: at('10:00:00') + i });
      await use(key, at('10:05:00'));
      keys.push(key);
    }
    const dependencies = counting();
    const failing: CloseDependencies['usage']['listByBucket'] = (shard, ...rest) => {
      if (shard === keys[1]) throw new Error('The database is slow.');
      return dependencies.usage.listByBucket(shard, ...rest);
    };
    const of = { organization, reader: 'inv_1', days: [DAY] };
    await expect(readDays({ ...dependencies, usage: { listByBucket: failing } }, of)).rejects.toThrow('The database is slow.');
    queries.clear();
    expect((await readDays(dependencies, of)).get(DAY)?.events).toBe(3);
    expect([...queries.keys()].sort()).toEqual(keys.slice(1).sort());
  });
});
