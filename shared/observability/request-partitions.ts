import { crc32 } from 'node:zlib';
import * as z from 'zod';
import type { Database } from '../database/database.ts';
import { getItems } from '../database/get-items.ts';
import { isWritten } from '../database/is-written.ts';
import { DAY_MS } from '../time/units.ts';

// The number of partitions for requests that arrive from this time on.
const Step = z.object({ from_ms: z.int(), partitions: z.int().min(1) });
export type PartitionStep = z.infer<typeof Step>;

/** A DynamoDB partition accepts 1,000 writes per second, and a failure has two rows. */
export const MAX_ROWS_PER_SECOND = 500;
/** Enough for 8,000 requests per second. A page of a search reads all of them. */
export const MAX_PARTITIONS = 16;
// Everyone who writes a request's row must choose the same partition. Requests are in the stream only after they have
// ended, so a writer that read the steps before this one was added has no requests that arrive in it.
const DELAY_MS = 2 * 60_000;

/** Days for which the rows of a day are kept after it. */
export const RETENTION_DAYS = 30;

/**
 * When the rows of a UTC day expire, in seconds since the epoch. It follows from the day alone, so that writing them
 * again changes nothing.
 */
export const expiresAt = (day: string): number => (Date.parse(day) + (RETENTION_DAYS + 1) * DAY_MS) / 1_000;

const partitionsAt = (steps: readonly PartitionStep[], ms: number): number =>
  steps.findLast(({ from_ms }) => from_ms <= ms)?.partitions ?? 1;

/** Returns the partition of a request: 0, 1, 2 … @param atMs its arrival */
export const partitionOf = (steps: readonly PartitionStep[], requestId: string, atMs: number): number =>
  crc32(requestId) % partitionsAt(steps, atMs);

/** Returns the number of partitions that can have rows of this range of arrivals. */
export const partitionsWithin = (steps: readonly PartitionStep[], fromMs: number, toMs: number): number =>
  Math.max(
    partitionsAt(steps, fromMs),
    ...steps.filter(({ from_ms }) => from_ms >= fromMs && from_ms < toMs).map(({ partitions }) => partitions),
  );

const Stored = z.object({ record: z.string(), steps: z.array(Step) });

const keyOf = (organization: string, day: string) => ({ account: organization, record: `partitions#${day}` });

// The steps have not changed since they were read.
const AS_READ = 'size(steps) = :known';
const STILL_ABSENT = 'attribute_not_exists(steps)';

/** The numbers of partitions for an organization's requests, by UTC day. */
export const createRequestPartitions = (database: Database, table: string) => ({
  /** Returns the steps of a day, in the order of time; none: one partition. */
  get: async (organization: string, day: string): Promise<PartitionStep[]> => {
    const { Item } = await database.get({ TableName: table, Key: keyOf(organization, day), ConsistentRead: true });
    return Item ? Stored.parse(Item).steps : [];
  },

  /** The steps of several days, at most 100, by day. */
  getDays: async (organization: string, days: readonly string[]): Promise<Map<string, PartitionStep[]>> => {
    const items = await getItems(database, table, { Keys: days.map((day) => keyOf(organization, day)) });
    return new Map(items.map((item) => Stored.parse(item)).map(({ record, steps }) => [record.slice('partitions#'.length), steps]));
  },

  /**
   * Adds a step to those that were read, which begins shortly after now or, of a later day, at its start. Does nothing
   * if they have changed since.
   */
  grow: async (
    { organization, day, nowMs }: { organization: string; day: string; nowMs: number },
    known: readonly PartitionStep[],
    partitions: number,
  ): Promise<void> => {
    const from_ms = Math.max(nowMs + DELAY_MS, Date.parse(day));
    await isWritten(
      database.put({
        TableName: table,
        Item: {
          ...keyOf(organization, day),
          steps: [...known, { from_ms, partitions: Math.min(partitions, MAX_PARTITIONS) }],
          expires_at: expiresAt(day),
        },
        ConditionExpression: known.length === 0 ? STILL_ABSENT : AS_READ,
        ...(known.length > 0 && { ExpressionAttributeValues: { ':known': known.length } }),
      }),
    );
  },
});
