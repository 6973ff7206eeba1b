import { ConditionFailed, type Database, type Item, type UpdateInput } from '../database/database.ts';

/** At most `max` in every time of this length. */
export interface SlidingLimit {
  id: string;
  max: number;
  windowMs: number;
}

// Each slot counts until a window after its last attempt: up to a slot too long, never too short.
const SLOTS = 10;
// DynamoDB deletes a row some time after this.
const RETENTION_MS = 60 * 60_000;
// Each time, another write of the row came first. Within a slot that can't happen, so it ends soon.
const MAX_CONFLICTS = 10;
const CONFLICT_SECONDS = 1;

interface Slot {
  slot: number;
  count: number;
  lastMs: number;
}

const slotOf = ({ windowMs }: SlidingLimit, ms: number): number => Math.floor((ms * SLOTS) / windowMs);

// A slot's count is the attribute `n<slot>`, the time of its last attempt `l<slot>`.
const slotsOf = (row: Item): Slot[] =>
  Object.entries(row).flatMap(([name, count]) => {
    const [, slot] = /^n(\d+)$/.exec(name) ?? [];
    return slot === undefined ? [] : [{ slot: Number(slot), count: Number(count), lastMs: Number(row[`l${slot}`]) }];
  });

// A slot can be in the future, as after a clock went back.
const isInWindow = ({ windowMs }: SlidingLimit, { lastMs }: Slot, nowMs: number): boolean => Math.abs(nowMs - lastMs) < windowMs;

const sum = (slots: readonly Slot[]): number => slots.reduce((total, { count }) => total + count, 0);

// If nothing else is counted.
const secondsUntilRoom = ({ max, windowMs }: SlidingLimit, slots: readonly Slot[], nowMs: number): number => {
  let left = sum(slots);
  for (const { count, lastMs } of slots.toSorted((one, other) => one.lastMs - other.lastMs)) {
    left -= count;
    if (left < max) return Math.max(1, Math.ceil((lastMs + windowMs - nowMs) / 1_000));
  }
  return Math.ceil(windowMs / 1_000);
};

/**
 * Exact counts in sliding windows, for any number of environments at once: one row per limit, in a table with the key
 * `id` that expires rows by `expires_at`. Within a slot, one conditional write counts: the row has `room`, the count to
 * which the slot can grow. The first attempt of a slot computes it anew.
 */
export const createSlidingCounts = (database: Database, table: string) => {
  const expiresAt = ({ windowMs }: SlidingLimit, nowMs: number): number => Math.ceil((nowMs + windowMs + RETENTION_MS) / 1_000);

  // Undefined: the write was made; otherwise its condition failed for this row.
  const write = async (
    limit: SlidingLimit,
    update: Omit<UpdateInput, 'TableName' | 'Key'>,
  ): Promise<{ row: Item | undefined } | undefined> => {
    try {
      await database.update({ TableName: table, Key: { id: limit.id }, ReturnValuesOnConditionCheckFailure: 'ALL_OLD', ...update });
      return undefined;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return { row: error.item };
    }
  };

  const addToSlot = (limit: SlidingLimit, slot: number, nowMs: number) =>
    write(limit, {
      UpdateExpression: `SET expires_at = :expires, l${slot} = :now ADD n${slot} :one`,
      ConditionExpression: `slot = :slot AND n${slot} < room`,
      ExpressionAttributeValues: { ':expires': expiresAt(limit, nowMs), ':now': nowMs, ':one': 1, ':slot': slot },
    });

  // Without the slots that count no longer. Only others' writes to the same slot can be newer than the row.
  const beginSlot = (limit: SlidingLimit, row: Item | undefined, counted: readonly Slot[], nowMs: number) => {
    const seen = row && Number(row.slot);
    const own = slotOf(limit, nowMs);
    // The clock of another environment can be ahead.
    const slot = seen !== undefined && seen - own < SLOTS ? Math.max(seen, own) : own;
    const current = counted.find((each) => each.slot === slot);
    const past = counted.filter((each) => each.slot !== slot);
    const gone = row ? slotsOf(row).filter((each) => each.slot !== slot && !counted.some((kept) => kept.slot === each.slot)) : [];
    const remove = gone.flatMap((each) => [`n${each.slot}`, `l${each.slot}`]);
    return write(limit, {
      UpdateExpression: [
        `SET slot = :slot, room = :room, n${slot} = :count, l${slot} = :last, expires_at = :expires`,
        ...(remove.length > 0 ? [`REMOVE ${remove.join(', ')}`] : []),
      ].join(' '),
      ConditionExpression: row ? `slot = :seen AND room = :seenRoom AND n${seen} = :seenCount` : 'attribute_not_exists(id)',
      ExpressionAttributeValues: {
        ':slot': slot,
        ':room': limit.max - sum(past),
        ':count': (current?.count ?? 0) + 1,
        ':last': Math.max(nowMs, current?.lastMs ?? 0),
        ':expires': expiresAt(limit, nowMs),
        ...(row && { ':seen': seen, ':seenRoom': row.room, ':seenCount': row[`n${seen}`] }),
      },
    });
  };

  return {
    /**
     * Counts an attempt, unless that would be too many.
     * @returns undefined if it was counted, otherwise the seconds until one more fits
     */
    count: async (limit: SlidingLimit, nowMs: number): Promise<number | undefined> => {
      for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
        const failed = await addToSlot(limit, slotOf(limit, nowMs), nowMs);
        if (!failed) return undefined;
        const counted = slotsOf(failed.row ?? {}).filter((slot) => isInWindow(limit, slot, nowMs));
        if (sum(counted) >= limit.max) return secondsUntilRoom(limit, counted, nowMs);
        if (!(await beginSlot(limit, failed.row, counted, nowMs))) return undefined;
      }
      return CONFLICT_SECONDS;
    },

    /** Takes back an attempt of `countedAtMs`, unless it counts no longer. */
    takeBack: async (limit: SlidingLimit, countedAtMs: number): Promise<void> => {
      const slot = slotOf(limit, countedAtMs);
      const values = { ':slot': slot, ':zero': 0, ':minus': -1 };
      const isPast = await write(limit, {
        UpdateExpression: `ADD n${slot} :minus`,
        ConditionExpression: `slot = :slot AND n${slot} > :zero`,
        ExpressionAttributeValues: values,
      });
      if (!isPast) return;
      await write(limit, {
        UpdateExpression: `ADD n${slot} :minus, room :one`,
        ConditionExpression: `slot > :slot AND n${slot} > :zero`,
        ExpressionAttributeValues: { ...values, ':one': 1 },
      });
    },
  };
};
