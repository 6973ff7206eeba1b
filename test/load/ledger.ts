import { setTimeout as delay } from 'node:timers/promises';
import { inFlightOf, type LimiterItem, shardsOf } from '../../shared/admission/item/limiter-item.ts';
import { shardIds } from '../../shared/admission/item/shards.ts';
import { dayOf } from '../../shared/time/utc.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import { mergeTotals, noTotals, type Totals } from '../../shared/usage/totals.ts';
import { BUCKET_MS } from '../../shared/usage/usage-store.ts';
import type { TestRun } from '../support/clients/local-run.ts';
import { rangeOf } from '../support/fixtures/organization-sums.ts';
import { rollupStores } from '../support/fixtures/rollups.ts';
import type { Account } from './accounts.ts';

/** Everything that is stored of an account after a load. */
export interface AccountLedger {
  account: Account;
  events: UsageEvent[];
  key: LimiterItem;
  /** Absent if the organization has no limits. */
  organization?: LimiterItem | undefined;
  totals: { ofKey: Totals; ofOrganization: Totals };
}

const POLL_MS = 500;

const readEvents = async (run: TestRun, keyId: string, sinceMs: number): Promise<UsageEvent[]> => {
  const events: UsageEvent[] = [];
  const item = await run.limiters.get(keyId);
  const lastMs = Date.now();
  for (const shard of shardIds(keyId, item ? shardsOf(item) : 1))
    for (let atMs = Math.floor(sinceMs / BUCKET_MS) * BUCKET_MS; atMs <= lastMs; atMs += BUCKET_MS)
      for await (const event of run.usage.listByBucket(shard, atMs)) events.push(event);
  return events;
};

const readTotals = async (run: TestRun, { keyId, organization }: Account, sinceMs: number): Promise<AccountLedger['totals']> => {
  const stores = rollupStores(run.database, run.tables.Usage as string);
  const [from, to] = [dayOf(sinceMs), dayOf(Date.now())];
  let [ofKey, ofOrganization] = [noTotals(), noTotals()];
  for await (const { totals } of stores.rollups.listDays(keyId, from, to)) ofKey = mergeTotals(ofKey, totals);
  const query = { organization, span: 'day', detail: 'model', ...rangeOf(from, to) } as const;
  for await (const { totals } of stores.totals.list(query)) ofOrganization = mergeTotals(ofOrganization, totals);
  return { ofKey, ofOrganization };
};

const readAccount = async (run: TestRun, account: Account, sinceMs: number): Promise<AccountLedger> => {
  const { keyId, organization, isLimited } = account;
  const key = await run.limiters.whole(keyId);
  if (!key) throw new Error(`${keyId} has no limiter item.`);
  return {
    account,
    events: await readEvents(run, keyId, sinceMs),
    key,
    organization: isLimited ? await run.limiters.whole(organization) : undefined,
    totals: await readTotals(run, account, sinceMs),
  };
};

// Requests are in flight, or events are not in the totals yet.
const isSettling = ({ events, key, organization, totals }: AccountLedger): boolean =>
  inFlightOf(key) > 0 ||
  (organization !== undefined && inFlightOf(organization) > 0) ||
  totals.ofKey.events < events.length ||
  totals.ofOrganization.events < events.length;

/**
 * Reads what is stored of the accounts when nothing is in flight and the totals count every event, or after `limitMs`
 * as it is then.
 * @param sinceMs when the load began
 */
export const readLedger = async (
  run: TestRun,
  accounts: readonly Account[],
  { sinceMs, limitMs, makeTotals }: { sinceMs: number; limitMs: number; makeTotals?: (() => Promise<void>) | undefined },
): Promise<AccountLedger[]> => {
  const ledgers: AccountLedger[] = [];
  const untilMs = performance.now() + limitMs;
  await makeTotals?.();
  for (const account of accounts) {
    let ledger = await readAccount(run, account, sinceMs);
    while (isSettling(ledger) && performance.now() < untilMs) {
      await delay(POLL_MS);
      await makeTotals?.();
      ledger = await readAccount(run, account, sinceMs);
    }
    ledgers.push(ledger);
  }
  return ledgers;
};
