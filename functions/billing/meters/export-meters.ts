import type { BillingProfile } from '../../../shared/billing/billing-profile.ts';
import type { Database } from '../../../shared/database/database.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import { HOUR_MS } from '../../../shared/time/units.ts';
import { type MeteredUsage, type MeteredUsageStores, noUsage, usageByHour } from './hourly-usage.ts';
import { METERS, type MeterEvent, type MeterExport, type UsageMeter } from './meter-export.ts';
import { type Amounts, type MeteredHour, type MeterStore, NOT_METERED } from './meter-store.ts';

export interface MeterExportDependencies extends MeteredUsageStores {
  database: Database;
  meters: MeterStore;
  meterExport: MeterExport;
  settings: { getProfile: (organization: string) => Promise<Pick<BillingProfile, 'stripe_customer'>> };
  now: () => number;
  hasTime: () => boolean;
}

// The export of an hour also exports late usage of the hours before it.
const WINDOW_HOURS = 48;
// Stripe recognizes a repeated identifier for a day. Older pending events are not sent again: they would count twice if
// they had arrived.
const REPEATABLE_MS = 23 * HOUR_MS;

const REJECTED = 'Check that the meter exists in Stripe and that the customer is right. The usage is sent again for two days.';

const identifierOf = (organization: string, hour: number, meter: UsageMeter, count: number): string => {
  const time = `${new Date(hour).toISOString().slice(0, 13)}Z`;
  return [organization, time, meter, ...(count === 0 ? [] : [`c${count}`])].join('.');
};

// Meters can't count down: if an amount has decreased, the difference is taken from later usage of the hour.
const unsentOf = (usage: MeteredUsage, { sent }: MeteredHour): Amounts =>
  Object.fromEntries(METERS.map((meter) => [meter, usage[meter] - (sent[meter] ?? 0n)] as const).filter(([, amount]) => amount > 0n));

const addAmounts = (one: Amounts, other: Amounts, meters: readonly UsageMeter[]): Amounts => {
  const sum = { ...one };
  for (const meter of meters) sum[meter] = (sum[meter] ?? 0n) + (other[meter] ?? 0n);
  return sum;
};

interface Run {
  deps: MeterExportDependencies;
  organization: string;
  customer: string;
  /** Meters that rejected an event in this run. They would reject further ones, too. */
  rejected: Set<UsageMeter>;
}

const sendPending = async ({ deps, organization, rejected }: Run, hour: number, row: MeteredHour): Promise<MeteredHour> => {
  const { pending } = row;
  if (!pending) return row;
  const isOld = deps.now() - pending.since > REPEATABLE_MS;
  const meters = Object.keys(pending.amounts) as UsageMeter[];
  const identifiers = meters.map((meter) => identifierOf(organization, hour, meter, row.count));
  if (isOld) {
    const message =
      'It is unknown whether Stripe has counted these events. Look for their identifiers, and add the missing ones in Stripe.';
    logError('meter_events_unconfirmed', message, { organization, identifiers, amounts: pending.amounts });
  }
  const events = meters.map(
    (meter, i): MeterEvent => ({
      meter,
      identifier: identifiers[i] as string,
      customer: pending.customer,
      atMs: hour,
      value: pending.amounts[meter] as bigint,
    }),
  );
  const results = isOld ? [] : await deps.meterExport.send(events);
  for (const [i, result] of results.entries()) {
    if (result.accepted) continue;
    rejected.add(meters[i] as UsageMeter);
    logError('meter_event_rejected', `${result.reason} ${REJECTED}`, { organization, identifier: identifiers[i] });
  }
  const counted = meters.filter((_, i) => isOld || results[i]?.accepted);
  const next = { ...row, pending: null, sent: addAmounts(row.sent, pending.amounts, counted), count: row.count + 1 };
  await transact(deps.database, [deps.meters.toReplace(organization, hour, next)]);
  return { ...next, version: row.version + 1 };
};

const exportHour = async (run: Run, hour: number, usage: MeteredUsage, stored: MeteredHour | undefined): Promise<void> => {
  const { deps, organization, customer, rejected } = run;
  const row = await sendPending(run, hour, stored ?? NOT_METERED);
  const unsent = Object.entries(unsentOf(usage, row)).filter(([meter]) => !rejected.has(meter as UsageMeter));
  if (unsent.length === 0) {
    // The row marks the hour as exported.
    if (row.version === 0) await transact(deps.database, [deps.meters.toReplace(organization, hour, row)]);
    return;
  }
  const pending = { amounts: Object.fromEntries(unsent), customer, since: deps.now() };
  await transact(deps.database, [deps.meters.toReplace(organization, hour, { ...row, pending })]);
  await sendPending(run, hour, { ...row, pending, version: row.version + 1 });
};

/**
 * Exports an organization's usage of an hour, and late usage of the 47 hours before it, to the meters of its Stripe
 * customer. It can crash at any point and be repeated: Stripe counts everything once. Late usage is sent as an event
 * with its own identifier.
 * @param hour its start in ms since the epoch
 * @throws Error if the service can't be reached; the task is repeated
 */
export const exportMeters = async (
  deps: MeterExportDependencies,
  { organization, hour }: { organization: string; hour: number },
): Promise<void> => {
  const { stripe_customer: customer } = await deps.settings.getProfile(organization);
  if (customer === null) return;
  const hours = Array.from({ length: WINDOW_HOURS }, (_, i) => hour - (WINDOW_HOURS - 1 - i) * HOUR_MS);
  const [usage, stored] = [
    await usageByHour(deps, organization, hours[0] as number, hour + HOUR_MS),
    await deps.meters.getMany(organization, hours),
  ];
  const run: Run = { deps, organization, customer, rejected: new Set() };
  for (const each of hours) {
    if (!deps.hasTime()) throw new Error(`There was no time to export all hours of ${organization}.`);
    // Hours without a row have tasks of their own.
    if (each === hour || stored.has(each)) await exportHour(run, each, usage.get(each) ?? noUsage(), stored.get(each));
  }
  logInfo('meters_exported', { organization, hour });
};
