import * as z from 'zod';

/** The tables that requests to models use. */
const TABLES = ['keys', 'usage', 'responses', 'attempts'] as const;

/** What a new table can serve. */
const NEW_TABLE = { reads: 12_000, writes: 4_000 };
/** Far above the 40,000 that an account can use without a higher quota. */
const MAX_PER_SECOND = 1_000_000;

const WarmTable = z.strictObject({
  readsPerSecond: z.int().min(NEW_TABLE.reads).max(MAX_PER_SECOND).default(NEW_TABLE.reads),
  writesPerSecond: z.int().min(NEW_TABLE.writes).max(MAX_PER_SECOND).default(NEW_TABLE.writes),
});
export type WarmTable = z.output<typeof WarmTable>;

/**
 * The read and write units of each second that tables can serve without having grown to it, by the field of the data
 * stack.
 */
export const WarmThroughput = z.partialRecord(z.enum(TABLES), WarmTable);
