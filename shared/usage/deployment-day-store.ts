import * as z from 'zod';
import { ConditionFailed, type Database, type Item } from '../database/database.ts';
import { isWritten } from '../database/is-written.ts';
import { StoredInteger } from '../database/stored-integer.ts';
import { HOUR_MS } from '../time/units.ts';
import { type BusySeconds, createBusySeconds, unionOf } from './busy-seconds.ts';
import { createRowStore } from './row-store.ts';
import type { Totals } from './totals.ts';

/** The requests of an organization that a deployment answered, by the UTC day of their arrival. */
export interface DeploymentUsage {
  deployment: string;
  /** Such as `2026-11-21`. */
  day: string;
  organization: string;
  totals: UsageOfDay;
}

const COUNTED = [
  'events',
  'requests',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'cost_nanos',
  'prompt_ms_sum',
  'generation_ms_sum',
  'duration_ms_sum',
] as const;
type UsageOfDay = Pick<Totals, (typeof COUNTED)[number]>;

/** True if all sums are the same. */
export const isSameUsage = (a: UsageOfDay, b: UsageOfDay): boolean => COUNTED.every((name) => a[name] === b[name]);

const StoredUsage = z
  .object({
    n: z.int().min(0),
    requests: z.int().min(0),
    prompt_tokens: StoredInteger,
    cached_tokens: StoredInteger,
    completion_tokens: StoredInteger,
    cost_nanos: StoredInteger,
    prompt_ms_sum: StoredInteger,
    generation_ms_sum: StoredInteger,
    // 0 in rows that were written before it was counted.
    duration_ms_sum: StoredInteger.default(0n),
  })
  .transform(({ n, ...totals }): UsageOfDay => ({ events: n, ...totals }));

const StoredHour = z.object({ usage_event: z.string(), busy: z.instanceof(Uint8Array) });

// Other functions add to the same hour.
const MAX_MERGES = 20;
const DAY_CHARACTERS = '2026-11-21'.length;

const partitionOf = (deployment: string): string => `deployment-days#${deployment}`;
// `2026-11-21T16Z`. A day's rows of organizations come before its hours.
const hourIdOf = (hourMs: number): string => `${new Date(hourMs).toISOString().slice(0, 13)}Z`;
const msOfHour = (id: string): number => Date.parse(`${id.slice(0, 13)}:00Z`);

const usageKeyOf = ({ deployment, day, organization }: Omit<DeploymentUsage, 'totals'>) => ({
  usage_bucket: partitionOf(deployment),
  usage_event: `${day}#${organization}`,
});

const itemOf = ({ totals, ...of }: DeploymentUsage) => {
  const { events, ...sums } = Object.fromEntries(COUNTED.map((name) => [name, totals[name]])) as unknown as UsageOfDay;
  return { ...usageKeyOf(of), n: events, ...sums };
};

const isHour = ({ usage_event }: Item): boolean => String(usage_event)[DAY_CHARACTERS] === 'T';

const withoutEnd = (bits: Uint8Array): Uint8Array => bits.slice(0, bits.findLastIndex((byte) => byte !== 0) + 1);

/**
 * The days of deployments in the `usage` table: the sums of their requests by organization, and the seconds in which
 * any request was in flight, by hour. The only code that knows their keys. Both can be written again and in any order:
 * sums are replaced by sums of more events, and seconds are only ever added.
 */
export const createDeploymentDayStore = (database: Database, table: string) => {
  const rows = createRowStore(database, table);
  const one = async (key: { usage_bucket: string; usage_event: string }): Promise<Item | undefined> => {
    for await (const item of rows.query(key.usage_bucket, { from: key.usage_event, to: key.usage_event })) return item;
    return undefined;
  };

  return {
    /** The days of a deployment from one to another, which is exclusive. */
    read: async (deployment: string, from: string, to: string): Promise<{ usage: DeploymentUsage[]; busy: BusySeconds }> => {
      const usage: DeploymentUsage[] = [];
      const busy = createBusySeconds();
      for await (const item of rows.query(partitionOf(deployment), { from, to })) {
        if (isHour(item)) {
          const hour = StoredHour.parse(item);
          busy.addHour(msOfHour(hour.usage_event), hour.busy);
        } else {
          const [day = '', organization = ''] = String(item.usage_event).split('#');
          usage.push({ deployment, day, organization, totals: StoredUsage.parse(item) });
        }
      }
      return { usage, busy };
    },

    /** The stored sums of an organization's day of a deployment. */
    getUsage: async (of: Omit<DeploymentUsage, 'totals'>): Promise<UsageOfDay | undefined> => {
      const item = await one(usageKeyOf(of));
      return item && StoredUsage.parse(item);
    },

    /** Puts sums, unless the stored ones are of at least as many events. */
    putUsage: async (usage: DeploymentUsage): Promise<void> => {
      const stored = await one(usageKeyOf(usage));
      if (Number(stored?.n ?? 0) < usage.totals.events) await rows.put(itemOf(usage));
    },

    /** Replaces sums that were read (undefined: there were none). False if they have changed since. */
    replaceUsage: (read: UsageOfDay | undefined, usage: DeploymentUsage): Promise<boolean> =>
      rows.replace(read && { key: usageKeyOf(usage), n: read.events, totals: undefined }, itemOf(usage)),

    /**
     * Adds busy seconds of an hour.
     * @returns true if some of them were not stored
     * @throws ConditionFailed if other functions keep adding to the same hour
     */
    addBusy: async (deployment: string, hourMs: number, bits: Uint8Array): Promise<boolean> => {
      if (hourMs % HOUR_MS !== 0) throw new Error(`${hourMs} is not the start of an hour.`);
      const key = { usage_bucket: partitionOf(deployment), usage_event: hourIdOf(hourMs) };
      for (let attempt = 1; attempt <= MAX_MERGES; attempt++) {
        const item = await one(key);
        const stored = item && StoredHour.parse(item).busy;
        const busy = withoutEnd(unionOf(stored ?? new Uint8Array(), bits));
        if (stored && Buffer.compare(stored, busy) === 0) return false;
        const condition = stored
          ? { ConditionExpression: 'busy = :read', ExpressionAttributeValues: { ':read': stored } }
          : { ConditionExpression: 'attribute_not_exists(usage_bucket)' };
        if (await isWritten(database.put({ TableName: table, Item: { ...key, busy }, ...condition }))) return true;
      }
      throw new ConditionFailed(undefined);
    },
  };
};

export type DeploymentDayStore = ReturnType<typeof createDeploymentDayStore>;
