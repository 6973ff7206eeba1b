import { createHash } from 'node:crypto';
import * as z from 'zod';
import { ignoringUnknown } from '../database/ignoring-unknown.ts';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { PreconditionFailed } from '../http/errors.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { Rerate, type ReratePhase, RerateProgress, RerateTotals, totalsOf } from './rerate.ts';

const StoredRerate = ignoringUnknown(Rerate);

const PLATFORM = 'platform';
const LISTED = 'rerate#';

/** This idempotency key was already used for a rerate. */
export class RerateAlreadyCreated extends Error {}

const recordKeyOf = (id: string): RecordKey => ({ account: id, record: 'rerate' });
const progressRecordKeyOf = (id: string, phase: ReratePhase, organization: string): RecordKey => ({
  account: id,
  record: `${phase}#${organization}`,
});
// The number of organizations in a phase of all organizations.
const extentRecordKeyOf = (id: string, phase: ReratePhase): RecordKey => ({ account: id, record: `extent#${phase}` });
// An earlier release didn't keep totals of phases.
const totalsRecordKeyOf = (id: string, phase: ReratePhase): RecordKey => ({ account: id, record: `totals#${phase}` });
const onceRecordKeyOf = (key: string): RecordKey => ({
  account: PLATFORM,
  record: `rerate-once#${createHash('sha256').update(key).digest('base64url')}`,
});

const Once = z.object({ id: z.string() });
const Extent = z.object({ organizations: z.int() });

/** Rerates in the table `billing`, and how far each is in each organization. The only code that knows their keys. */
export const createRerateStore = (table: RecordTable) => {
  const get = async (id: string): Promise<Rerate | undefined> => {
    const row = await table.get(recordKeyOf(id));
    return row && StoredRerate.parse(row);
  };
  return {
    get,

    /** The rerate that was created with an idempotency key. */
    getOnce: async (key: string): Promise<Rerate | undefined> => {
      const once = await table.get(onceRecordKeyOf(key));
      return once && get(Once.parse(once).id);
    },

    /** Adds a rerate; with an idempotency key, it fails with RerateAlreadyCreated if the key was used before. */
    toCreate: (rerate: Rerate, key?: string): Write[] => {
      const exists = () => new Error(`The rerate ${rerate.id} already exists.`);
      return [
        ...(key === undefined ? [] : [table.toCreate(onceRecordKeyOf(key), { id: rerate.id }, () => new RerateAlreadyCreated())]),
        table.toCreate(recordKeyOf(rerate.id), rerate, exists),
        table.toCreate(totalsRecordKeyOf(rerate.id, rerate.phase), totalsOf([]), exists),
        table.toCreate({ account: PLATFORM, record: LISTED + rerate.id }, { id: rerate.id }, exists),
      ];
    },

    /** Begins the execution of a rerate that was previewed, as it was read: 412 if another change came first. */
    toExecute: (rerate: Rerate): Write[] => [
      table.toReplace(recordKeyOf(rerate.id), rerate),
      table.toCreate(totalsRecordKeyOf(rerate.id, rerate.phase), totalsOf([]), () => new PreconditionFailed()),
    ],

    /** Lists rerates, newest first. */
    list: async (request: PageRequest): Promise<Page<Rerate>> => {
      const { rows, hasMore } = await table.page({ account: PLATFORM, prefix: LISTED, newestFirst: true }, request);
      const ids = rows.map((row) => Once.parse(row).id);
      const data = (await table.getMany(ids.map(recordKeyOf))).map((row) => StoredRerate.parse(row));
      return { object: 'list', data, has_more: hasMore, next: hasMore ? (ids.at(-1) ?? null) : null };
    },

    getProgress: async (id: string, phase: ReratePhase, organization: string): Promise<RerateProgress | undefined> => {
      const row = await table.get(progressRecordKeyOf(id, phase, organization));
      return row && RerateProgress.parse(row);
    },

    /** The progress in each organization where the phase has begun. */
    allProgress: async function* (id: string, phase: ReratePhase): AsyncGenerator<RerateProgress> {
      for await (const row of table.all({ account: id, prefix: `${phase}#` })) yield RerateProgress.parse(row);
    },

    /** The totals of a phase; undefined if it has not begun, or an earlier release began it. */
    totals: async (id: string, phase: ReratePhase): Promise<RerateTotals | undefined> => {
      const row = await table.get(totalsRecordKeyOf(id, phase));
      return row && RerateTotals.parse(row);
    },

    /** Adds to the totals of a phase, which must have them. */
    toAddTotals: (id: string, phase: ReratePhase, added: RerateTotals): Write =>
      table.toAdd(totalsRecordKeyOf(id, phase), added, () => new Error(`The phase ${phase} of ${id} has no totals.`)),

    /** A page of what `allProgress` returns, by the organizations' ids. */
    pageOfProgress: async (id: string, phase: ReratePhase, request: PageRequest): Promise<Page<RerateProgress>> => {
      const { rows, hasMore } = await table.page({ account: id, prefix: `${phase}#` }, request);
      const data = rows.map((row) => RerateProgress.parse(row));
      return { object: 'list', data, has_more: hasMore, next: hasMore ? (data.at(-1)?.organization ?? null) : null };
    },

    /**
     * Writes progress after the progress that was read: 412 if another task was faster. @param isFirst nothing was
     * stored
     */
    toProgress: (id: string, phase: ReratePhase, progress: RerateProgress, isFirst: boolean): Write => {
      const recordKey = progressRecordKeyOf(id, phase, progress.organization);
      return isFirst ? table.toCreate(recordKey, progress, () => new PreconditionFailed()) : table.toReplace(recordKey, progress);
    },

    /** The number of organizations in a phase of all organizations; undefined until their tasks are sent. */
    extent: async (id: string, phase: ReratePhase): Promise<number | undefined> => {
      const row = await table.get(extentRecordKeyOf(id, phase));
      return row && Extent.parse(row).organizations;
    },

    /** Stores that number, once the tasks of all organizations are sent. */
    toSetExtent: (id: string, phase: ReratePhase, organizations: number): Write =>
      table.toCreate(extentRecordKeyOf(id, phase), { organizations }, () => new PreconditionFailed()),
  };
};

export type RerateStore = ReturnType<typeof createRerateStore>;
