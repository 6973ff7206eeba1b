import { randomUUID } from 'node:crypto';
import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { systemOrigin } from '../../../shared/audit/origin.ts';
import type { BilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import type { BillingTasks } from '../../../shared/billing/billing-tasks.ts';
import { messageStep, type Rerate, type RerateProgress, type RerateSums, sumMonths, totalsAdded } from '../../../shared/billing/rerate.ts';
import type { RerateStore } from '../../../shared/billing/rerate-store.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { EventExists } from '../../../shared/usage/usage-store.ts';
import { type CreditCorrectionDependencies, collectCredit, toTakeCredit } from './correct-credit.ts';
import { type Change, type ChangeBatch, dayOfUnit, type RatedUsage, type RatedUsageDependencies, ratedUsage } from './rated-usage.ts';
import { type FanOutDependencies, sendToAll } from './send-to-all.ts';

export interface RerateEventsDependencies
  extends AuditDependencies,
    CreditCorrectionDependencies,
    RatedUsageDependencies,
    FanOutDependencies {
  limiters: CreditCorrectionDependencies['limiters'] & RatedUsageDependencies['limiters'];
  rerates: RerateStore;
  billedMonths: Pick<BilledMonthsStore, 'toNoteRatedAgain'>;
  tasks: BillingTasks;
  now: () => number;
  hasTime: () => boolean;
}

// Rerates rarely meet at one event: the tasks of an organization are processed one after the other.
const MAX_RATE_ATTEMPTS = 5;

type Months = Record<string, RerateSums>;

const addChanges = (months: Months, changes: readonly Change[]): void => {
  for (const { month, oldNanos, newNanos } of changes) {
    const { events, old_nanos, new_nanos } = months[month] ?? { events: 0, old_nanos: 0n, new_nanos: 0n };
    months[month] = { events: events + 1, old_nanos: old_nanos + oldNanos, new_nanos: new_nanos + newNanos };
  }
};

// The events and their effect on the credit are written in one transaction.
const writeBatch = async (deps: RerateEventsDependencies, organization: string, { changes, writes }: ChangeBatch): Promise<void> => {
  if (writes.length === 0) return;
  const takenNanos = changes
    .filter(({ isStored, isPrepaid }) => isPrepaid && !isStored)
    .reduce((sum, { oldNanos, newNanos }) => sum + newNanos - oldNanos, 0n);
  if (takenNanos > 0n) await collectCredit(deps, organization, takenNanos);
  await transact(deps.database, [...writes, ...(takenNanos === 0n ? [] : [toTakeCredit(deps.keysTable, organization, takenNanos)])]);
};

// The day is marked before and after its events are written, so that the next invoice reads all of them.
const noteDay = (deps: RerateEventsDependencies, organization: string, unit: string): Promise<void> =>
  transact(deps.database, [deps.billedMonths.toNoteRatedAgain(organization, dayOfUnit(unit), randomUUID(), deps.now())]);

const writeUnit = async (
  deps: RerateEventsDependencies,
  organization: string,
  unit: string,
  batch: ChangeBatch,
  isFirst: boolean,
): Promise<void> => {
  if (isFirst) await noteDay(deps, organization, unit);
  await writeBatch(deps, organization, batch);
};

// Repetitions compute the same sums.
const rateUnit = async (
  deps: RerateEventsDependencies,
  organization: string,
  usage: RatedUsage,
  unit: string,
  writes: boolean,
): Promise<Months> => {
  for (let attempt = 1; ; attempt++) {
    const months: Months = {};
    let isNoted = false;
    try {
      for await (const batch of usage.batchesOf(unit)) {
        if (writes && batch.changes.length > 0) {
          await writeUnit(deps, organization, unit, batch, !isNoted);
          isNoted = true;
        }
        addChanges(months, batch.changes);
      }
      if (isNoted) await noteDay(deps, organization, unit);
      return months;
    } catch (error) {
      if (!(error instanceof EventExists) || attempt === MAX_RATE_ATTEMPTS) throw error;
    }
  }
};

const mergeMonths = (one: Months, other: Months): Months => {
  const merged: Months = { ...one };
  for (const [month, sums] of Object.entries(other)) merged[month] = sumMonths([{ months: { one: merged[month] ?? NONE, other: sums } }]);
  return merged;
};
const NONE: RerateSums = { events: 0, old_nanos: 0n, new_nanos: 0n };

const proceed = async (deps: RerateEventsDependencies, rerate: Rerate, before: RerateProgress): Promise<RerateProgress> => {
  const { organization } = before;
  const usage = ratedUsage(deps, organization, rerate);
  let { cursor, months } = before;
  for (const unit of await usage.units()) {
    if (cursor !== null && unit <= cursor) continue;
    if (!deps.hasTime()) return { ...before, cursor, months, step: before.step + 1 };
    months = mergeMonths(months, await rateUnit(deps, organization, usage, unit, rerate.phase === 'execution'));
    cursor = unit;
  }
  return { ...before, cursor, months, is_done: true };
};

// The audit log records the end of each execution that changed anything.
const store = async (
  deps: RerateEventsDependencies,
  rerate: Rerate,
  progress: RerateProgress,
  known: RerateProgress | undefined,
): Promise<void> => {
  const { id, phase } = rerate;
  const writes = [deps.rerates.toProgress(id, phase, progress, known === undefined)];
  if (await deps.rerates.totals(id, phase)) writes.push(deps.rerates.toAddTotals(id, phase, totalsAdded(known, progress)));
  const { events, old_nanos, new_nanos } = sumMonths([progress]);
  if (!progress.is_done || phase === 'preview' || events === 0) return transact(deps.database, writes);
  const change = {
    action: 'usage.rerated',
    organization: progress.organization,
    target: { type: 'rerate', id },
    reason: rerate.reason,
    before: { events, cost: dollarsOf(old_nanos) },
    after: { events, cost: dollarsOf(new_nanos) },
  };
  return commit(deps, systemOrigin('billing', deps.now()), change, writes);
};

/**
 * Computes or applies the changes of a rerate in an organization, and queues another task when its time ends. It can
 * crash at any write and be repeated: each event is rated again once.
 * @param organization `platform` sends the tasks of all organizations
 */
export const rerateEvents = async (
  deps: RerateEventsDependencies,
  { organization, rerate: id }: { organization: string; rerate: string },
): Promise<void> => {
  const rerate = await deps.rerates.get(id);
  if (!rerate) throw new Error(`The rerate ${id} does not exist.`);
  if (organization === 'platform') return sendToAll(deps, rerate);
  const { phase } = rerate;
  const known = await deps.rerates.getProgress(id, phase, organization);
  if (known?.is_done) return;
  const before = known ?? { organization, is_done: false, cursor: null, step: 0, months: {}, version: 1 };
  const progress = await proceed(deps, rerate, before);
  await store(deps, rerate, progress, known);
  logInfo('rerate', { rerate: id, phase, organization, is_done: progress.is_done, events: sumMonths([progress]).events });
  if (!progress.is_done) await deps.tasks.send({ task: 'rerate', organization, rerate: id }, deps.now(), messageStep(phase, progress.step));
};
