import type { InvoiceLine } from '../../../shared/billing/invoice.ts';
import type { InvoicedMonth } from './charge-row.ts';
import type { CostAndUsageRow } from './columns.ts';
import type { TimeGroup, TokenGroup } from './day-groups.ts';

/** The id of the lines of an invoice that together charge the same as some rows. */
export type GroupId = string;

/** Rows, and the cost that they add to each group. */
export interface Charged {
  rows: CostAndUsageRow[];
  sums: { group: GroupId; cost: bigint }[];
}

const groupId = (...parts: readonly (string | null)[]): GroupId => JSON.stringify(parts);

/** The group of payments from prepaid credit. */
export const CREDIT_GROUP: GroupId = groupId('credit');

/** The names of the usage in a group. */
export interface UsageNames {
  model: string | null;
  deployment: string | null;
  deployment_name: string | null;
  instance_type: string | null;
  price_version: string | null;
}

const usageGroup = ({ model, deployment, deployment_name, instance_type, price_version }: UsageNames): GroupId =>
  groupId('usage', model, deployment, deployment_name, instance_type, price_version);

// Lines of release 0.1.0 have no rerate_from: all adjustments to a price version are in one group.
const adjustmentGroup = (names: UsageNames, ratedFrom: string | null | undefined): GroupId => {
  const { model, deployment, deployment_name, instance_type, price_version } = names;
  const of = ['adjustment', model, deployment, deployment_name, instance_type, price_version];
  return ratedFrom === undefined ? groupId(...of) : groupId(...of, ratedFrom);
};

const namesRatedFrom = ({ invoice }: InvoicedMonth): boolean => invoice?.lines.at(0)?.rerate_from !== undefined;

const groupOf = (billed: InvoicedMonth, names: UsageNames, ratedFrom: string | null): GroupId => {
  if (ratedFrom === null) return usageGroup(names);
  return adjustmentGroup(names, namesRatedFrom(billed) ? ratedFrom : undefined);
};

export const groupOfTokens = (billed: InvoicedMonth, { model, priceVersion, ratedFrom }: TokenGroup): GroupId => {
  const names = { model, deployment: null, deployment_name: null, instance_type: null, price_version: priceVersion };
  return groupOf(billed, names, ratedFrom);
};

export const groupOfTime = (billed: InvoicedMonth, { deployment, name, instanceType, priceVersion, ratedFrom }: TimeGroup): GroupId => {
  const names = { model: null, deployment, deployment_name: name, instance_type: instanceType, price_version: priceVersion };
  return groupOf(billed, names, ratedFrom);
};

/** The group of a line; undefined for a line that is a row of its own. */
export const groupOfLine = (line: InvoiceLine): GroupId | undefined => {
  const { kind, is_correction, rerate_from } = line;
  if (is_correction) return undefined;
  if (kind === 'prepaid_credit') return CREDIT_GROUP;
  if (kind === 'adjustment') return adjustmentGroup(line, rerate_from);
  return kind === 'tokens' || kind === 'gpu_time' || kind === 'metering_difference' ? usageGroup(line) : undefined;
};

/** The names of a group's usage; undefined for payments from prepaid credit. */
export const namesOfGroup = (group: GroupId): UsageNames | undefined => {
  const [, model, deployment, deployment_name, instance_type, price_version] = JSON.parse(group);
  return group === CREDIT_GROUP ? undefined : { model, deployment, deployment_name, instance_type, price_version };
};

/**
 * The positions of an invoice's lines, from 0, by group. A month has a row for each day and key, so lines must be found
 * without a search.
 */
export const placesOfLines = (lines: readonly InvoiceLine[]): Map<GroupId, number[]> => {
  const places = new Map<GroupId, number[]>();
  for (const [place, line] of lines.entries()) {
    const group = groupOfLine(line);
    if (group !== undefined) places.set(group, [...(places.get(group) ?? []), place]);
  }
  return places;
};

/** The position of a group's line on the invoice, from 0. @param isLine selects among the group's lines */
export const findLine = (
  { invoice, places }: InvoicedMonth,
  group: GroupId,
  isLine: (line: InvoiceLine) => boolean = () => true,
): number | undefined => places.get(group)?.find((place) => isLine(invoice?.lines[place] as InvoiceLine));

/** True if a group was rated again after its month was closed: a later invoice charges it as a correction. */
export const isBilledLater = (billed: InvoicedMonth, group: GroupId, ratedFrom: string | null): boolean =>
  ratedFrom !== null && billed.invoice !== undefined && findLine(billed, group) === undefined;
