import type { InvoiceLine, TokenKind } from '../../../shared/billing/invoice.ts';
import { chargeRow, type FocusCharge, type InvoicedMonth, periodOfDay } from './charge-row.ts';
import { costOfNanos } from './charge-units.ts';
import type { CostAndUsageRow } from './columns.ts';
import { type Charged, CREDIT_GROUP, findLine, type GroupId, isBilledLater } from './line-groups.ts';

/** A row of usage: a quantity with its price. */
export interface PricedRow {
  tokenKind: TokenKind | null;
  description: string;
  cost: bigint;
  columns: Partial<CostAndUsageRow>;
}

/** The sums of a day that share a model or deployment and a price version. */
export interface GroupSums {
  id: GroupId;
  /** The name of the usage in descriptions. */
  name: string;
  day: string;
  kind: 'tokens' | 'gpu_time';
  ratedFrom: string | null;
  priceVersion: string | null;
  costNanos: bigint;
  prepaidNanos: bigint;
  /** Columns of all its rows. */
  columns: Partial<CostAndUsageRow>;
  /** The quantity as text, for the description of the only row, if the price is unknown. */
  quantity: string;
  /** Undefined if the price is unknown. */
  priced: readonly PricedRow[] | undefined;
}

/**
 * The rows of a group: usage by price, the difference to the events' sum, and the payment from credit. They add up to
 * the events' cost, less the credit.
 */
export const groupCharges = (billed: InvoicedMonth, sums: GroupSums): Charged => {
  const { id, ratedFrom, costNanos, prepaidNanos } = sums;
  if (isBilledLater(billed, id, ratedFrom)) return { rows: [], sums: [] };
  const cost = costOfNanos(costNanos);
  const credit = costOfNanos(-prepaidNanos);
  return {
    rows: [...usageCharges(sums), ...creditCharges(sums)].map(({ group = id, tokenKind = null, ...charge }) =>
      chargeRow(billed, {
        ...charge,
        ...periodOfDay(sums.day),
        // An invoice has no line for a difference below a nano-dollar, which then belongs to the group's first line.
        line: findLine(billed, group, (line) => line.kind === charge.kind && line.token_kind === tokenKind) ?? findLine(billed, group),
        columns: { ...sums.columns, x_PriceVersionId: sums.priceVersion, ...charge.columns },
      }),
    ),
    sums: [{ group: id, cost }, ...(prepaidNanos === 0n ? [] : [{ group: CREDIT_GROUP, cost: credit }])],
  };
};

type ChargeDraft = Pick<FocusCharge, 'category' | 'description' | 'cost'> & {
  kind: InvoiceLine['kind'];
  group?: GroupId;
  tokenKind?: TokenKind | null;
  columns?: Partial<CostAndUsageRow>;
};

const usageCharges = ({ name, kind, ratedFrom, priceVersion, costNanos, quantity, priced }: GroupSums): ChargeDraft[] => {
  const cost = costOfNanos(costNanos);
  if (ratedFrom !== null)
    return [{ kind: 'adjustment', description: `${name}: rated again, from price ${ratedFrom} to ${priceVersion}`, cost }];
  // FOCUS has quantities of usage only, and usage has a price.
  if (priced === undefined) return [{ kind, category: 'Adjustment', description: `${name}: ${quantity} without a known price`, cost }];
  const difference = cost - priced.reduce((sum, row) => sum + row.cost, 0n);
  // Each event is rounded, and costs at most what was held for it.
  const rest = { kind: 'metering_difference' as const, description: `${name}: difference to the sum of all events`, cost: difference };
  return [...priced.map((row) => ({ kind, ...row })), ...(difference === 0n ? [] : [rest])];
};

const creditCharges = ({ name, prepaidNanos }: GroupSums): ChargeDraft[] =>
  prepaidNanos === 0n
    ? []
    : [
        {
          kind: 'prepaid_credit',
          group: CREDIT_GROUP,
          description: `${name}: paid from prepaid credit`,
          cost: costOfNanos(-prepaidNanos),
        },
      ];
