import { setTimeout as delay } from 'node:timers/promises';
import { createLimiterReader } from '../../../../shared/admission/stores/limiter-reader.ts';
import { createOrganizationDirectory } from '../../../../shared/billing/organization-directory.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { createOrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import { drawTop } from './draw-top.ts';
import { newestMinute, type TopStores } from './newest-minute.ts';

export const createTopStores = (database: Database, tables: { usage: string; keys: string; accounts: string }): TopStores => ({
  organizations: createOrganizationDirectory(createRecordTable(database, tables.accounts)),
  totals: createOrganizationTotalsStore(database, tables.usage),
  limiters: createLimiterReader(database, tables.keys),
});

const CLEAR_SCREEN = '\u001b[2J\u001b[H';

/** Prints the newest minute, in a terminal again and again until Ctrl-C. */
export const showTop = async (
  stores: TopStores,
  { organization, everySeconds, isOnce }: { organization: string | undefined; everySeconds: number; isOnce: boolean },
): Promise<void> => {
  const repeats = !isOnce && process.stdout.isTTY;
  do {
    const text = drawTop(await newestMinute(stores, organization, Date.now()), Date.now());
    process.stdout.write(repeats ? CLEAR_SCREEN + text : text);
    if (repeats) await delay(everySeconds * 1_000);
  } while (repeats);
};
