import { availableNanosOf } from '../../../shared/admission/limiter-item.ts';
import { readAllShards } from '../../../shared/admission/reservation.ts';
import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { systemOrigin } from '../../../shared/audit/origin.ts';
import { AlreadyExpired, type Expiry, type Grant } from '../../../shared/credit/credit-store.ts';
import { applyGrants, type CreditDependencies, grantCredit } from '../../../shared/credit/grant-credit.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import { newNotification } from '../../../shared/notifications/notification.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { remainingOfGrants } from './credit-consumption.ts';
import { type PrepaidCosts, prepaidCostsByDay } from './prepaid-costs.ts';

export interface ExpireCredit extends AuditDependencies, CreditDependencies, PrepaidCosts {
  outbox: Outbox;
  now: () => number;
}

/** Usage events of a day are complete this long after its end. */
export const COMPLETE_AFTER_MS = 60 * 60_000;
const MS = 1_000;
const DAY_MS = 86_400_000;

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** What is left of a grant when it expires, but at most what the organization has available now: an expiry never makes credit negative. */
const expiringNanos = async (
  deps: ExpireCredit,
  entries: readonly Grant[],
  { organization, number, expiresAtMs }: Expiry,
): Promise<bigint> => {
  const firstMs = Math.min(...entries.map(({ granted_at }) => granted_at));
  const costs = await prepaidCostsByDay(deps, organization, firstMs - (firstMs % DAY_MS), expiresAtMs);
  const left = remainingOfGrants(entries, costs, expiresAtMs).get(number) ?? 0n;
  const available = (await readAllShards(deps.limiters, organization)).reduce((sum, shard) => sum + availableNanosOf(shard), 0n);
  return min(left, available > 0n ? available : 0n);
};

const endExpiry =
  (deps: ExpireCredit, expiry: Expiry, nanos: bigint) =>
  async (entry: Grant): Promise<void> => {
    const { organization, number, expiresAtMs } = expiry;
    const amount = dollarsOf(nanos);
    const change = {
      action: 'credit.expired',
      organization,
      target: { type: 'credit_grant', id: String(number) },
      after: { amount, entry: entry.number },
    };
    const notification = newNotification({
      type: 'sluice.credit.expired.v1',
      organization,
      subject: organization,
      at: deps.now(),
      data: { grant: number, amount, expired_at: expiresAtMs / MS },
    });
    const writes = [...deps.credit.toCreate(entry), deps.credit.toEndExpiry(expiry), deps.outbox.toEmit(notification)];
    await commit(deps, systemOrigin('billing', deps.now()), change, writes);
  };

const expire = async (deps: ExpireCredit, expiry: Expiry): Promise<void> => {
  const { organization, number, expiresAtMs } = expiry;
  const entries = await Array.fromAsync(deps.credit.list(organization));
  const nanos = await expiringNanos(deps, entries, expiry);
  if (nanos === 0n) return transact(deps.database, [deps.credit.toEndExpiry(expiry)]);
  const entry = {
    organization,
    amount_nanos: -nanos,
    actor: 'billing',
    reason: `Expiry of grant ${number}`,
    granted_at: Math.max(deps.now(), expiresAtMs),
    expired_grant: number,
  };
  await grantCredit(deps, entry, endExpiry(deps, expiry, nanos));
  logInfo('credit_expired', { organization, grant: number, nanos });
};

/** Removes what is left of an organization's grants that have expired, each once, with an entry in the ledger. */
export const expireCredit = async (deps: ExpireCredit, { organization }: { organization: string }): Promise<void> => {
  // A crash can have left entries out of the balance.
  await applyGrants(deps, organization);
  for await (const expiry of deps.credit.listExpiries(deps.now() - COMPLETE_AFTER_MS)) {
    if (expiry.organization !== organization) continue;
    await expire(deps, expiry).catch((error: unknown) => {
      if (!(error instanceof AlreadyExpired)) throw error;
    });
  }
};
