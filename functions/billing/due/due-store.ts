import * as z from 'zod';
import { METERED_PREFIX } from '../../../shared/billing/billing-settings-store.ts';
import { Month } from '../../../shared/billing/month.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';

const PLATFORM = 'platform';
const ALL_CLOSED = 'all-closed';

const AllClosed = z.object({ month: Month });

/** The store of notes about due work, in the table `billing`. */
export const createDueStore = (database: Database, table: string) => {
  const rows = createRecordTable(database, table);
  return {
    /**
     * The month until which all organizations are closed. Until the next month ends, the hourly run needn't read them
     * all.
     */
    allClosedUntil: async (): Promise<string | undefined> => {
      const row = await rows.get({ account: PLATFORM, record: ALL_CLOSED });
      return row && AllClosed.parse(row).month;
    },
    noteAllClosed: async (month: string): Promise<void> => {
      await database.put({ TableName: table, Item: { account: PLATFORM, record: ALL_CLOSED, month } });
    },

    /** The organizations whose usage is exported to meters. */
    metered: async function* (): AsyncGenerator<string> {
      for await (const { record } of rows.all({ account: PLATFORM, prefix: METERED_PREFIX }))
        yield String(record).slice(METERED_PREFIX.length);
    },
  };
};

export type DueStore = ReturnType<typeof createDueStore>;
