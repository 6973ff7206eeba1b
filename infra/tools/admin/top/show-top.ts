import { setTimeout as delay } from 'node:timers/promises';
import { createLimiterReader } from '../../../../shared/admission/stores/limiter-reader.ts';
import { createOrganizationDirectory } from '../../../../shared/billing/organization-directory.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { type MinuteStores, newestMinute } from '../../../../shared/observability/newest-minute.ts';
import { createOrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import { drawTop } from './draw-top.ts';

export const createTopStores = (database: Database, tables: { usage: string; keys: string; accounts: string }): MinuteStores => ({
  organizations: createOrganizationDirectory(createRecordTable(database, tables.accounts)),
  totals: createOrganizationTotalsStore(database, tables.usage),
  limiters: createLimiterReader(database, tables.keys),
});

const MAX_ORGANIZATIONS = 500;

const CLEAR_SCREEN = '\u001b[2J\u001b[H';

/** Prints the newest minute, in a terminal again and again until Ctrl-C. */
export const showTop = async (
  stores: MinuteStores,
  { organization, everySeconds, isOnce }: { organization: string | undefined; everySeconds: number; isOnce: boolean },
): Promise<void> => {
  const query = { organization, maxOrganizations: MAX_ORGANIZATIONS };
  const repeats = !isOnce && process.stdout.isTTY;
  do {
    const text = drawTop(await newestMinute(stores, query, Date.now()), Date.now());
    process.stdout.write(repeats ? CLEAR_SCREEN + text : text);
    if (repeats) await delay(everySeconds * 1_000);
  } while (repeats);
};
