import type { InvoiceLine, TokenKind } from '../../../shared/billing/invoice.ts';
import type { InstancePrice } from '../../../shared/prices/instance-price.ts';
import type { Price } from '../../../shared/prices/price.ts';
import { chargeRow, type InvoicedMonth, periodOfMonth, TIME_SERVICE } from './charge-row.ts';
import { costOfNanos, pricedSeconds, pricedTokens, priceText, TIME_UNIT, TOKEN_UNIT } from './charge-units.ts';
import { resourceOf, skuOf } from './charges.ts';
import type { CostAndUsageRow } from './columns.ts';
import type { TimeGroup, TokenGroup } from './day-groups.ts';
import { groupCharges, type PricedRow } from './group-charges.ts';
import type { IssuedInvoice } from './invoice-detail.ts';
import {
  type Charged,
  findLine,
  type GroupId,
  groupOfLine,
  groupOfTime,
  groupOfTokens,
  namesOfGroup,
  type UsageNames,
} from './line-groups.ts';

const TOKEN_NAMES: Readonly<Record<TokenKind, string>> = {
  prompt: 'prompt tokens',
  cached_prompt: 'cached prompt tokens',
  completion: 'completion tokens',
};

type TokenPrice = Omit<Price, 'version' | 'effective_at'>;

const consumedTokens = (tokens: bigint) => ({ ConsumedQuantity: String(tokens), ConsumedUnit: 'Tokens' });

// Usage without a price, and that of a deleted deployment, whose tokens were free.
const FREE = { prompt_nanos: 0, completion_nanos: 0, hour_nanos: 0 };

const pricedKinds = (name: string, group: TokenGroup, price: TokenPrice): PricedRow[] => {
  const { prompt_nanos, cached_prompt_nanos = prompt_nanos, completion_nanos, is_surcharge } = price;
  const kinds: [TokenKind, bigint, number][] = [
    ['prompt', group.prompt, prompt_nanos],
    ['cached_prompt', group.cachedPrompt, cached_prompt_nanos],
    ['completion', group.completion, completion_nanos],
  ];
  return kinds
    .filter(([, tokens]) => tokens !== 0n)
    .map(([tokenKind, tokens, nanos]) => {
      const { quantity, cost } = pricedTokens(tokens, BigInt(nanos));
      const { model, priceVersion } = group;
      return {
        tokenKind,
        description: `${name}: ${is_surcharge ? 'adapter surcharge on ' : ''}${TOKEN_NAMES[tokenKind]}`,
        cost,
        columns: {
          ...consumedTokens(tokens),
          ListUnitPrice: priceText(BigInt(nanos)),
          PricingQuantity: quantity,
          PricingUnit: TOKEN_UNIT,
          ...skuOf({ model, tokenKind, instanceType: null, priceVersion }),
        },
      };
    });
};

/**
 * The rows of a key's day for one project, model and price version.
 * @param price undefined if it was removed or never existed
 */
export const tokenCharges = (
  billed: InvoicedMonth,
  { keyId, day }: { keyId: string; day: string },
  group: TokenGroup,
  price: Price | undefined,
): Charged => {
  const tokens = group.prompt + group.cachedPrompt + group.completion;
  // Requests that failed before they used anything.
  if (tokens === 0n && group.costNanos === 0n) return { rows: [], sums: [] };
  const name = group.model ?? 'Requests without a model';
  const known = price ?? (group.costNanos === 0n && group.model !== null ? FREE : undefined);
  return groupCharges(billed, {
    ...group,
    id: groupOfTokens(billed, group),
    name,
    day,
    kind: 'tokens',
    columns: {
      SubAccountId: keyId,
      ...resourceOf({ model: group.model, deployment: null, name: null }),
      x_ProjectId: group.project,
    },
    quantity: `${tokens} tokens`,
    priced: known && pricedKinds(name, group, known),
  });
};

const pricedTime = (
  name: string,
  { instanceType, priceVersion, seconds }: TimeGroup,
  { hour_nanos }: Pick<InstancePrice, 'hour_nanos'>,
): PricedRow => {
  const { quantity, cost } = pricedSeconds(seconds, BigInt(hour_nanos));
  return {
    tokenKind: null,
    description: `${name}: instance-hours`,
    cost,
    columns: {
      ConsumedQuantity: String(seconds),
      ConsumedUnit: 'Seconds',
      ListUnitPrice: priceText(BigInt(hour_nanos)),
      PricingQuantity: quantity,
      PricingUnit: TIME_UNIT,
      ...skuOf({ model: null, tokenKind: null, instanceType, priceVersion }),
    },
  };
};

/**
 * The rows of a deployment's day for one instance type and price version.
 * @param price undefined if it was removed or never existed
 */
export const timeCharges = (billed: InvoicedMonth, day: string, group: TimeGroup, price: InstancePrice | undefined): Charged => {
  const { deployment, instanceType, seconds } = group;
  const name = `${group.name} on ${instanceType}`;
  const known = price ?? (group.costNanos === 0n ? FREE : undefined);
  return groupCharges(billed, {
    ...group,
    id: groupOfTime(billed, group),
    name,
    day,
    kind: 'gpu_time',
    columns: {
      ServiceName: TIME_SERVICE,
      ...resourceOf({ model: null, deployment, name: group.name }),
      x_InstanceType: instanceType,
    },
    quantity: `${seconds} seconds`,
    priced: known && [pricedTime(name, group, known)],
  });
};

/**
 * The rows of an issued invoice that no usage of its month explains: corrections, taxes, rounding, and the difference
 * between the lines and the rows of a group, whose late events a later invoice charges. With them, the rows of the
 * month add up to the invoice's total.
 * @param sums the costs of the month's rows by group
 */
export const invoiceCharges = (
  billed: InvoicedMonth & { invoice: IssuedInvoice },
  sums: ReadonlyMap<GroupId, bigint>,
): CostAndUsageRow[] => {
  const left = new Map([...sums].map(([group, cost]) => [group, -cost]));
  const rows: CostAndUsageRow[] = [];
  for (const [place, line] of billed.invoice.lines.entries()) {
    const group = groupOfLine(line);
    if (group === undefined) rows.push(lineRow(billed, line, place));
    else left.set(group, (left.get(group) ?? 0n) + costOfNanos(line.amount_nanos));
  }
  const late = [...left].filter(([, cost]) => cost !== 0n).sort(([a], [b]) => (a < b ? -1 : 1));
  return [...rows, ...late.map(([group, cost]) => lateRow(billed, group, cost))];
};

const columnsOf = ({ model, deployment, deployment_name, instance_type, price_version }: UsageNames): Partial<CostAndUsageRow> => ({
  ...(deployment !== null && { ServiceName: TIME_SERVICE }),
  ...resourceOf({ model, deployment, name: deployment_name }),
  x_InstanceType: instance_type,
  x_PriceVersionId: price_version,
});

const lineRow = (billed: InvoicedMonth, line: InvoiceLine, place: number): CostAndUsageRow =>
  chargeRow(billed, {
    kind: line.kind,
    description: line.description,
    cost: costOfNanos(line.amount_nanos),
    ...periodOfMonth(line.month),
    isCorrection: line.is_correction,
    line: place,
    columns: columnsOf(line),
  });

const lateRow = (billed: InvoicedMonth, group: GroupId, cost: bigint): CostAndUsageRow => {
  const names = namesOfGroup(group);
  return chargeRow(billed, {
    kind: 'adjustment',
    description: 'Usage that was recorded after its month was closed; a later invoice charges it',
    cost,
    ...periodOfMonth(billed.month),
    line: findLine(billed, group),
    columns: names ? columnsOf(names) : {},
  });
};
