import { availableNanosOf } from '../../../shared/admission/item/limiter-item.ts';
import { readAllShards } from '../../../shared/admission/stores/reservation.ts';
import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { systemOrigin } from '../../../shared/audit/origin.ts';
import type { BillingTasks } from '../../../shared/billing/billing-tasks.ts';
import { remainingOfGrants } from '../../../shared/credit/credit-consumption.ts';
import { AlreadyExpired, type ExpiryCheck, type Grant } from '../../../shared/credit/credit-store.ts';
import { applyGrants, grantCredit, type LedgerDependencies } from '../../../shared/credit/grant-credit.ts';
import { heldForDeployments, heldForRequests } from '../../../shared/credit/held-credit.ts';
import { transact, type Write } from '../../../shared/database/transaction.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import { newNotification } from '../../../shared/notifications/notification.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { DAY_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import { OutOfTime } from '../close/read-day.ts';
import { progressOf } from '../close/read-days.ts';
import { dueExpiries } from './due-expiries.ts';
import { type PrepaidCostDependencies, prepaidCostsByDay } from './prepaid-costs.ts';

export interface ExpiryDependencies extends AuditDependencies, LedgerDependencies, PrepaidCostDependencies {
  limiters: LedgerDependencies['limiters'] & PrepaidCostDependencies['limiters'];
  deployments: Pick<DeploymentStore, 'list'>;
  outbox: Outbox;
  tasks: Pick<BillingTasks, 'send'>;
  now: () => number;
}

// A settlement can wait in a queue for a day.
const SETTLED_AFTER_MS = 2 * DAY_MS;
const NEVER_MS = Number.MAX_SAFE_INTEGER;

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const positive = (nanos: bigint): bigint => (nanos > 0n ? nanos : 0n);
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, nanos) => total + nanos, 0n);

interface ExpiryResult {
  nanos: bigint;
  /** False if nothing must be written. */
  hasChanged: boolean;
  next: ExpiryCheck | undefined;
}

interface HeldCredit {
  nanos: bigint;
  reader: string;
}

// Limiters are read before events, because a hold is released after its event was written. The reader's name contains
// the held amount and the day, so that days are read again when either changes.
const readHeld = async (
  { limiters, now }: ExpiryDependencies,
  { organization, number, expiresAtMs, looks }: ExpiryCheck,
): Promise<HeldCredit> => {
  const nanos = heldForRequests(await readAllShards(limiters, organization), expiresAtMs);
  return { nanos, reader: `expiry-${number}-${looks + 1}-${nanos}-${dayOf(now())}` };
};

// Credit held for requests that arrived before the expiry counts as used until they are settled.
const remainingNanos = async (
  deps: ExpiryDependencies,
  entries: readonly Grant[],
  check: ExpiryCheck,
  held: HeldCredit,
): Promise<bigint> => {
  const { organization, number, expiresAtMs, looks } = check;
  const firstMs = Math.min(...entries.map(({ granted_at }) => granted_at));
  const range = { fromMs: firstMs - (firstMs % DAY_MS), toMs: expiresAtMs };
  const costs = await prepaidCostsByDay(deps, organization, range, held.reader);
  const lastDay = dayOf(expiresAtMs - DAY_MS);
  costs.set(lastDay, (costs.get(lastDay) ?? 0n) + held.nanos);
  const left = remainingOfGrants(entries, costs, expiresAtMs).get(number) ?? 0n;
  logInfo('credit_expiry', { organization, grant: number, look: looks + 1, left_nanos: left, held_nanos: held.nanos });
  return left;
};

const nextCheckMs = (expiresAtMs: number, held: HeldCredit, nowMs: number): number => {
  if (held.nanos > 0n) return nowMs;
  const settledMs = expiresAtMs + SETTLED_AFTER_MS;
  return nowMs < settledMs ? settledMs : NEVER_MS;
};

const computeExpiry = async (
  deps: ExpiryDependencies,
  entries: readonly Grant[],
  check: ExpiryCheck,
  before: HeldCredit,
): Promise<ExpiryResult> => {
  const { organization, number, expiresAtMs } = check;
  const nowMs = deps.now();
  const isComputed = nowMs >= check.checkAtMs;
  const expired = -sum(entries.filter(({ expired_grant }) => expired_grant === number).map(({ amount_nanos }) => amount_nanos));
  const missing = isComputed ? (await remainingNanos(deps, entries, check, before)) - expired : check.owedNanos;

  const shards = await readAllShards(deps.limiters, organization);
  const nanos = missing < 0n ? missing : min(missing, positive(sum(shards.map(availableNanosOf))));
  // Credit spent after the expiry isn't deducted again, so no more than the held credit can be owed.
  const held = missing === nanos ? 0n : heldForRequests(shards) + (await heldForDeployments(deps.deployments, organization));
  const owedNanos = min(missing - nanos, held);
  const checkAtMs = isComputed ? nextCheckMs(expiresAtMs, before, nowMs) : check.checkAtMs;
  const isDone = owedNanos === 0n && checkAtMs === NEVER_MS;
  const hasChanged = isComputed || owedNanos !== check.owedNanos;
  return { nanos, hasChanged, next: isDone ? undefined : { ...check, looks: check.looks + 1, owedNanos, checkAtMs } };
};

const toRecordCheck = ({ credit }: ExpiryDependencies, check: ExpiryCheck, next: ExpiryCheck | undefined): Write[] => {
  if (check.looks === 0) return [credit.toEndExpiry(check), ...(next ? [credit.toCheckAgain(next)] : [])];
  return [next ? credit.toCheckAgain(next) : credit.toEndCheck(check)];
};

const toNotify = ({ outbox, now }: ExpiryDependencies, { organization, number, expiresAtMs }: ExpiryCheck, nanos: bigint): Write =>
  outbox.toEmit(
    newNotification({
      type: 'sluice.credit.expired.v1',
      organization,
      subject: organization,
      at: now(),
      data: { grant: number, amount: dollarsOf(nanos), expired_at: expiresAtMs / SECOND_MS },
    }),
  );

const writeEntry =
  (deps: ExpiryDependencies, check: ExpiryCheck, { nanos, next }: ExpiryResult) =>
  async (entry: Grant): Promise<void> => {
    const { organization, number } = check;
    const change = {
      action: nanos > 0n ? 'credit.expired' : 'credit.expiry_corrected',
      organization,
      target: { type: 'credit_grant', id: String(number) },
      after: { amount: dollarsOf(nanos > 0n ? nanos : -nanos), entry: entry.number },
    };
    const writes = [...deps.credit.toCreate(entry), ...toRecordCheck(deps, check, next)];
    if (nanos > 0n) writes.push(toNotify(deps, check, nanos));
    await commit(deps, systemOrigin('billing', deps.now()), change, writes);
  };

const expire = async (deps: ExpiryDependencies, check: ExpiryCheck, before: HeldCredit): Promise<void> => {
  const { organization, number, expiresAtMs } = check;
  const entries = await Array.fromAsync(deps.credit.list(organization));
  const result = await computeExpiry(deps, entries, check, before);
  if (!result.hasChanged) return;
  if (result.nanos === 0n) return transact(deps.database, toRecordCheck(deps, check, result.next));
  const entry = {
    organization,
    amount_nanos: -result.nanos,
    actor: 'billing',
    reason: result.nanos > 0n ? `Expiry of grant ${number}` : `Correction of the expiry of grant ${number}: usage was recorded later`,
    granted_at: Math.max(deps.now(), expiresAtMs),
    expired_grant: number,
  };
  await grantCredit(deps, entry, writeEntry(deps, check, result));
  logInfo('credit_expired', { organization, grant: number, nanos: result.nanos });
};

const runCheck = async (deps: ExpiryDependencies, check: ExpiryCheck): Promise<void> => {
  const { organization } = check;
  const held = await readHeld(deps, check);
  const progress = (): Promise<string> => progressOf(deps, organization, held.reader);
  const before = await progress();
  try {
    await expire(deps, check, held);
  } catch (error) {
    if (error instanceof AlreadyExpired) return;
    if (!(error instanceof OutOfTime)) throw error;
    const after = await progress();
    if (after === before) throw error;
    await deps.tasks.send({ task: 'expire', organization }, deps.now(), `${held.reader}.${after}`);
  }
};

/**
 * Removes the rest of an organization's expired grants by entries in the ledger: available credit at once, held credit
 * when it is released. Two days later, the rest is computed again, and an entry corrects late usage.
 * @throws TotalsIncomplete; Error if an invocation is too short to read one API key
 */
export const expireCredit = async (deps: ExpiryDependencies, { organization }: { organization: string }): Promise<void> => {
  // A crash can leave entries out of the balance.
  await applyGrants(deps, organization);
  for await (const check of dueExpiries(deps)) if (check.organization === organization) await runCheck(deps, check);
};
