import * as z from 'zod';
import type { Database } from '../database/database.ts';
import type { KeyDay } from './bucket.ts';
import { expiresAt } from './organization-totals.ts';
import { createRowStore, type Row, type RowKey, rowOf } from './row-store.ts';
import { StoredTotals, storedTotals } from './stored-totals.ts';
import type { Totals } from './totals.ts';

const DAY_CHARACTERS = 10;

// With a `bucket`, ten minutes of a key or one of its shards; without, the key's whole day.
interface Span extends KeyDay {
  bucket?: { shard: string /** `16:40` */; time: string };
}

/** The totals of a key's events in a span for one model. */
export interface Rollup extends Span {
  model: string;
  orgId: string;
  totals: Totals;
}

// Each model has its own row, of at most 13 KB and usually 1 KB. Ten minutes: `rollup#<key>#2026-11-21`,
// `16:40#<shard>#<model>`. A day: `day#<key>`, `2026-11-21#<model>`.
const rowKeyOf = ({ keyId, day, bucket, model }: Span & { model: string }): RowKey =>
  bucket
    ? { usage_bucket: `rollup#${keyId}#${day}`, usage_event: `${bucket.time}#${bucket.shard}#${model}` }
    : { usage_bucket: `day#${keyId}`, usage_event: `${day}#${model}` };

/** Returns the day of a key that a row of the table `usage` belongs to; undefined if the row has no totals of a key. */
export const keyDayOfRow = ({ usage_bucket, usage_event }: RowKey): KeyDay | undefined => {
  const [kind, keyId = '', day = usage_event.slice(0, DAY_CHARACTERS)] = usage_bucket.split('#');
  return kind === 'rollup' || kind === 'day' ? { keyId, day } : undefined;
};

/** A row's key as one string. */
export const rowId = (row: RowKey | (Span & { model: string })): string => {
  const { usage_bucket, usage_event } = 'usage_bucket' in row ? row : rowKeyOf(row);
  return `${usage_bucket} ${usage_event}`;
};

/** Returns the lowest number of shards that the key can have had when this ten-minute row was written. */
export const leastShardsOf = ({ key }: Row): number => Number(/^\d\d:\d\d#[^#]+#(\d{1,3})#/.exec(key.usage_event)?.[1] ?? 0) + 1;

const itemOf = (rollup: Rollup) => ({
  ...rowKeyOf(rollup),
  model: rollup.model,
  org_id: rollup.orgId,
  ...(rollup.bucket && { expires_at: expiresAt('ten_minutes', Date.parse(`${rollup.day}T${rollup.bucket.time}Z`)) }),
  ...storedTotals(rollup.totals),
});

const Named = z.object({ usage_event: z.string(), model: z.string(), org_id: z.string() });

/** The rollups in the `usage` table. The only code that knows their keys. */
export const createRollupStore = (database: Database, table: string) => {
  const rows = createRowStore(database, table);
  const tenMinutes = ({ keyId, day }: KeyDay) => rows.query(`rollup#${keyId}#${day}`);
  // `$` comes after `#`.
  const days = (keyId: string, from: string, to: string) => rows.query(`day#${keyId}`, { from: `${from}#`, to: `${to}$` });

  return {
    /** Puts a row, unless the stored row has at least as many events. */
    put: (rollup: Rollup): Promise<boolean> => rows.put(itemOf(rollup)),

    /** The totals of a key's day by ten minutes, shard and model, in time order. Throws if a row is invalid. */
    listTenMinutes: async function* (of: KeyDay): AsyncGenerator<Rollup> {
      for await (const item of tenMinutes(of)) {
        const { usage_event, model, org_id } = Named.parse(item);
        const [time, shard] = [usage_event.slice(0, 5), usage_event.slice(6, -model.length - 1)];
        yield { ...of, bucket: { time, shard }, model, orgId: org_id, totals: StoredTotals.parse(item) };
      }
    },

    /** The totals of a key by day and model, from one day to another inclusive. Throws if a row is invalid. */
    listDays: async function* (keyId: string, from: string, to: string): AsyncGenerator<Rollup> {
      for await (const item of days(keyId, from, to)) {
        const { usage_event, model, org_id } = Named.parse(item);
        yield { keyId, day: usage_event.slice(0, 10), model, orgId: org_id, totals: StoredTotals.parse(item) };
      }
    },

    /** Every row of a key's day, including invalid ones: first the ten-minute rows, then the daily rows. */
    listRows: async function* (of: KeyDay): AsyncGenerator<Row> {
      for await (const item of tenMinutes(of)) yield rowOf(item);
      for await (const item of days(of.keyId, of.day, of.day)) yield rowOf(item);
    },

    /** Replaces the row that was read (undefined: it did not exist). False if it has changed since. */
    replace: (read: Row | undefined, rollup: Rollup): Promise<boolean> => rows.replace(read, itemOf(rollup)),

    /** Removes the row that was read. False if it has changed since. */
    remove: rows.remove,
  };
};

export type RollupStore = ReturnType<typeof createRollupStore>;
