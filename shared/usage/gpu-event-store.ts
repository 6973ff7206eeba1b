import * as z from 'zod';
import type { Database } from '../database/database.ts';
import { isWritten } from '../database/is-written.ts';
import { StoredInteger } from '../database/stored-integer.ts';
import type { Write } from '../database/transaction.ts';
import { DAY_MS } from '../time/units.ts';
import { dayOf } from '../time/utc.ts';
import { Nanos } from './event.ts';
import { GpuEvent } from './gpu-event.ts';
import { createRowStore } from './row-store.ts';
import { EventExists } from './usage-store.ts';

// The longest time for which a deployment's events are listed at once.
const MAX_DAYS = 366;

const partitionOf = (deploymentId: string, day: string): string => `gpu#${deploymentId}#${day}`;
const totalsPartitionOf = (organization: string): string => `gpu-days#${organization}`;

/** Returns the UTC day of a deployment whose events a partition of the table `usage` has; undefined if it has none. */
export const deploymentDayOf = (usageBucket: string): { deploymentId: string; day: string } | undefined => {
  const [kind, deploymentId = '', day = ''] = usageBucket.split('#');
  return kind === 'gpu' ? { deploymentId, day } : undefined;
};

/** GPU time of a deployment on an instance type in a UTC day: the sums of its events. */
export interface GpuDay {
  day: string;
  deploymentId: string;
  name: string;
  instanceType: string;
  /** Seconds × instances. */
  instanceSeconds: bigint;
  costNanos: bigint;
  /** The part of the cost that was paid from prepaid credit. */
  prepaidNanos: bigint;
}

const dayIdOf = ({ day, deploymentId, instanceType }: GpuDay): string => `${day}#${deploymentId}#${instanceType}`;

const dayKeyOf = (organization: string, sums: GpuDay) => ({
  usage_bucket: totalsPartitionOf(organization),
  usage_event: dayIdOf(sums),
});

/** Sums events by day, deployment and instance type. */
export const gpuDaysOf = (events: readonly GpuEvent[]): GpuDay[] => {
  const days = new Map<string, GpuDay>();
  for (const { started_at, deployment_id, name, instance_type, seconds, instances, cost_nanos, is_prepaid } of events) {
    const day = { day: dayOf(started_at), deploymentId: deployment_id, name, instanceType: instance_type };
    const none: GpuDay = { ...day, instanceSeconds: 0n, costNanos: 0n, prepaidNanos: 0n };
    const sums = days.get(dayIdOf(none)) ?? none;
    sums.instanceSeconds += BigInt(seconds) * BigInt(instances);
    sums.costNanos += cost_nanos;
    if (is_prepaid) sums.prepaidNanos += cost_nanos;
    days.set(dayIdOf(sums), sums);
  }
  return [...days.values()];
};

const StoredDay = z
  .object({
    usage_event: z.string(),
    name: z.string(),
    instance_seconds: StoredInteger,
    cost_nanos: Nanos,
    prepaid_nanos: Nanos,
  })
  .transform(({ usage_event, name, instance_seconds, cost_nanos, prepaid_nanos }): GpuDay => {
    const [day = '', deploymentId = '', instanceType = ''] = usage_event.split('#');
    return { day, deploymentId, name, instanceType, instanceSeconds: instance_seconds, costNanos: cost_nanos, prepaidNanos: prepaid_nanos };
  });

const storedDay = ({ name, instanceSeconds, costNanos, prepaidNanos }: GpuDay) => ({
  name,
  instance_seconds: instanceSeconds,
  cost_nanos: costNanos,
  prepaid_nanos: prepaidNanos,
});

/**
 * GPU time in the `usage` table: events, and their sums by day. The only code that knows their keys. No key begins
 * with `req_`, so the table's stream passes none of them to the function `rollup`.
 */
export const createGpuEventStore = (database: Database, table: string) => {
  const { query } = createRowStore(database, table);

  const toPut = (event: GpuEvent): Write => ({
    item: {
      Put: {
        TableName: table,
        Item: { ...event, usage_bucket: partitionOf(event.deployment_id, dayOf(event.started_at)), usage_event: event.id },
        ConditionExpression: 'attribute_not_exists(usage_bucket)',
      },
    },
    refused: () =>
      new Error(
        `The GPU time ${event.id} of ${event.deployment_id} is already metered, although its deployment's row says that it is not.`,
      ),
  });

  const toAdd = (organization: string, sums: GpuDay): Write => ({
    item: {
      Update: {
        TableName: table,
        Key: dayKeyOf(organization, sums),
        UpdateExpression: 'SET #name = :name ADD instance_seconds :seconds, cost_nanos :cost, prepaid_nanos :prepaid',
        ExpressionAttributeNames: { '#name': 'name' },
        ExpressionAttributeValues: {
          ':name': sums.name,
          ':seconds': sums.instanceSeconds,
          ':cost': sums.costNanos,
          ':prepaid': sums.prepaidNanos,
        },
      },
    },
  });

  // The sums have not changed since they were read.
  const asRead = (read: GpuDay | undefined) =>
    read
      ? {
          ConditionExpression: 'instance_seconds = :seconds AND cost_nanos = :cost AND prepaid_nanos = :prepaid',
          ExpressionAttributeValues: { ':seconds': read.instanceSeconds, ':cost': read.costNanos, ':prepaid': read.prepaidNanos },
        }
      : { ConditionExpression: 'attribute_not_exists(usage_bucket)' };

  return {
    /**
     * Adds events of a deployment to the list and to the sums, in the transaction that advances the metered time in the
     * deployment's row. That write must come first: if it fails, the events can exist, too.
     */
    toAdd: (events: readonly GpuEvent[]): Write[] => [
      ...events.map(toPut),
      ...gpuDaysOf(events).map((sums) => toAdd((events[0] as GpuEvent).org_id, sums)),
    ],

    /**
     * Adds events that rate others again, and adds them to the sums, as writes of a transaction; fails with EventExists
     * if one was already added.
     */
    toAddRatings: (events: readonly GpuEvent[]): Write[] => [
      ...events.map((event): Write => ({ ...toPut(event), refused: () => new EventExists() })),
      ...gpuDaysOf(events).map((sums) => toAdd((events[0] as GpuEvent).org_id, sums)),
    ],

    /**
     * A deployment's events that began from one UTC day to another inclusive, such as `2026-11-21`: oldest first, at
     * most 366 days.
     */
    listByDeployment: async function* (deploymentId: string, from: string, to: string): AsyncGenerator<GpuEvent> {
      for (let i = 0, ms = Date.parse(from); i < MAX_DAYS && ms <= Date.parse(to); i++, ms += DAY_MS)
        for await (const item of query(partitionOf(deploymentId, dayOf(ms)))) yield GpuEvent.parse(item);
    },

    /**
     * The sums of an organization's GPU time by day, deployment and instance type, from one day to another inclusive.
     * `$` comes after `#`.
     */
    listDays: async function* (organization: string, from: string, to: string): AsyncGenerator<GpuDay> {
      for await (const item of query(totalsPartitionOf(organization), { from: `${from}#`, to: `${to}$` })) yield StoredDay.parse(item);
    },

    /**
     * Replaces sums of a day as they were read.
     * @param read undefined: there were none
     * @param sums undefined: there should be none
     * @returns false if they have changed since they were read
     */
    replaceDay: (organization: string, read: GpuDay | undefined, sums: GpuDay | undefined): Promise<boolean> =>
      isWritten(
        sums
          ? database.put({ TableName: table, Item: { ...dayKeyOf(organization, sums), ...storedDay(sums) }, ...asRead(read) })
          : database.delete({ TableName: table, Key: dayKeyOf(organization, read as GpuDay), ...asRead(read) }),
      ),
  };
};

export type GpuEventStore = ReturnType<typeof createGpuEventStore>;
