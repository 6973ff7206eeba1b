import type { InvoiceLine } from '../../../shared/billing/invoice.ts';
import type { BilledMonth } from './charge-row.ts';
import type { CostAndUsageRow } from './columns.ts';
import type { TimeGroup, TokenGroup } from './day-groups.ts';

/** The lines of an invoice that together charge the same as some rows. */
export type GroupId = string;

/** Rows, and what they add to the cost of their groups. */
export interface Charged {
  rows: CostAndUsageRow[];
  sums: { group: GroupId; cost: bigint }[];
}

const groupId = (...parts: readonly (string | null)[]): GroupId => JSON.stringify(parts);

/** What was paid from prepaid credit. */
export const CREDIT_GROUP: GroupId = groupId('credit');

const kindOf = (ratedFrom: string | null): string => (ratedFrom === null ? 'usage' : 'adjustment');

export const groupOfTokens = ({ model, priceVersion, ratedFrom }: TokenGroup): GroupId =>
  groupId(kindOf(ratedFrom), model, null, null, null, priceVersion);

export const groupOfTime = ({ deployment, name, instanceType, priceVersion, ratedFrom }: TimeGroup): GroupId =>
  groupId(kindOf(ratedFrom), null, deployment, name, instanceType, priceVersion);

/** The group of a line; undefined for a line that is a row of its own. */
export const groupOfLine = (line: InvoiceLine): GroupId | undefined => {
  const { kind, is_correction, model, deployment, deployment_name, instance_type, price_version } = line;
  if (is_correction) return undefined;
  if (kind === 'prepaid_credit') return CREDIT_GROUP;
  const of = [model, deployment, deployment_name, instance_type, price_version] as const;
  if (kind === 'adjustment') return groupId('adjustment', ...of);
  return kind === 'tokens' || kind === 'gpu_time' || kind === 'metering_difference' ? groupId('usage', ...of) : undefined;
};

/** The place of a group's line on the invoice, from 0. @param isLine which of the group's lines */
export const findLine = (
  { invoice }: BilledMonth,
  group: GroupId,
  isLine: (line: InvoiceLine) => boolean = () => true,
): number | undefined => {
  const place = invoice?.lines.findIndex((line) => groupOfLine(line) === group && isLine(line)) ?? -1;
  return place === -1 ? undefined : place;
};

/** Whether a group was rated again after its month was closed: a later invoice has its charges, as corrections. */
export const isBilledLater = (billed: BilledMonth, group: GroupId, ratedFrom: string | null): boolean =>
  ratedFrom !== null && billed.invoice !== undefined && findLine(billed, group) === undefined;
