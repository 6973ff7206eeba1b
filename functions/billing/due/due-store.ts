import * as z from 'zod';
import { Month } from '../../../shared/billing/month.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createAccountTable } from '../../../shared/database/record-table.ts';

const PLATFORM = 'platform';
const ALL_CLOSED = 'all-closed';
const METERS = 'meters#';
const METERED = 'meter#';

const AllClosed = z.object({ month: Month });

/** What the table `billing` says about work that is due. */
export const createDueStore = (database: Database, table: string) => {
  const rows = createAccountTable(database, table);
  return {
    /** The month until which all organizations were found closed. It spares reading them all again each hour. */
    allClosedUntil: async (): Promise<string | undefined> => {
      const row = await rows.get({ account: PLATFORM, record: ALL_CLOSED });
      return row && AllClosed.parse(row).month;
    },
    noteAllClosed: async (month: string): Promise<void> => {
      await database.put({ TableName: table, Item: { account: PLATFORM, record: ALL_CLOSED, month } });
    },

    /** The organizations whose usage is exported to meters. */
    metered: async function* (): AsyncGenerator<string> {
      for await (const { record } of rows.all({ account: PLATFORM, prefix: METERS })) yield String(record).slice(METERS.length);
    },

    /** Which of at most 100 hours were exported. @param hours their starts, in ms since the epoch */
    exportedHours: async (account: string, hours: readonly number[]): Promise<Set<number>> => {
      const exported = await rows.getMany(hours.map((hour) => ({ account, record: METERED + hour })));
      return new Set(exported.map(({ record }) => Number(String(record).slice(METERED.length))));
    },
  };
};

export type DueStore = ReturnType<typeof createDueStore>;
