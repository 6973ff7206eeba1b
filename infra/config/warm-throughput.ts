import * as z from 'zod';

// Requests to models use these tables.
const TABLES = ['keys', 'usage', 'responses', 'attempts'] as const;

/** The units that a new table serves in each second. */
export const THROUGHPUT_OF_NEW_TABLE = { reads: 12_000, writes: 4_000 };
// Far above the 40,000 that an account can use without a higher quota.
const MAX_PER_SECOND = 1_000_000;

const WarmTable = z.strictObject({
  readsPerSecond: z.int().min(THROUGHPUT_OF_NEW_TABLE.reads).max(MAX_PER_SECOND).default(THROUGHPUT_OF_NEW_TABLE.reads),
  writesPerSecond: z.int().min(THROUGHPUT_OF_NEW_TABLE.writes).max(MAX_PER_SECOND).default(THROUGHPUT_OF_NEW_TABLE.writes),
});
export type WarmTable = z.output<typeof WarmTable>;

/**
 * The read and write units of each second that tables can serve without having grown to it, by the field of the data
 * stack.
 */
export const WarmThroughput = z.partialRecord(z.enum(TABLES), WarmTable);
