import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { type Alignment, toTable } from '../table.ts';
import type { BreakEven } from './break-even.ts';
import type { Estimate, Month } from './estimate.ts';

const NANOS_PER_CENT = 10_000_000n;
const NONE = '–';

/** Dollars, rounded to cents. What is more than nothing and rounds to nothing is `< $0.01`. */
export const shownDollars = (nanos: bigint | undefined): string => {
  if (nanos === undefined) return NONE;
  const cents = (2n * nanos + NANOS_PER_CENT) / (2n * NANOS_PER_CENT);
  if (cents === 0n && nanos > 0n) return '< $0.01';
  return `$${shownCount(cents / 100n)}.${String(cents % 100n).padStart(2, '0')}`;
};

const shownCount = (count: bigint | undefined): string => (count === undefined ? NONE : count.toLocaleString('en-US'));

/** A table of the months, side by side. */
export const monthsTable = ({ months }: Estimate): string => {
  const row = (title: string, cell: (month: Month) => string): string[] => [title, ...months.map(cell)];
  const services = [...new Set(months.flatMap((month) => [...month.services.keys()]))];
  const breakEvenRow = (title: string, cell: (numbers: BreakEven) => bigint | undefined): string[] =>
    row(title, ({ breakEven }) => shownCount(breakEven && cell(breakEven)));
  const rows = [
    row('', ({ name }) => name),
    row('Requests', ({ usage }) => shownCount(usage.requests)),
    row('Prompt and completion tokens of each', ({ usage }) => `${shownCount(usage.promptTokens)} + ${shownCount(usage.completionTokens)}`),
    row('Seconds of each', ({ usage }) => String(Number(usage.milliseconds) / 1_000)),
    ...services.map((service) => row(service, (month) => shownDollars(month.services.get(service) ?? 0n))),
    row('**Sluice**', ({ total }) => `**${shownDollars(total)}**`),
    row('of it at rest', ({ atRest }) => shownDollars(atRest)),
    row("after the account's allowances", ({ afterAllowances }) => shownDollars(afterAllowances)),
    row('What a million more requests add', ({ aMillionMore }) => shownDollars(aMillionMore)),
    row('**A gateway that always runs**', ({ gateway }) => `**${shownDollars(gateway)}**`),
    row('**The same tokens from Bedrock**', ({ bedrock }) => `**${shownDollars(bedrock)}**`),
    breakEvenRow('Requests a month from which the gateway is cheaper', ({ gateway }) => gateway),
    breakEvenRow('Requests a month from which Sluice with an instance is cheaper than Bedrock', ({ bedrock }) => bedrock),
    breakEvenRow('Tokens a second that this instance must then generate', ({ bedrockTokensPerSecond }) => bedrockTokensPerSecond),
  ];
  return toTable(rows, ['left', ...months.map((): Alignment => 'right')]);
};

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

/** A table of what is billed at rest. */
export const atRestTable = ({ atRest }: Estimate): string => {
  const rows = atRest.map(({ item, total, afterAllowances, toZero }) => [item, shownDollars(total), shownDollars(afterAllowances), toZero]);
  const totals = [sum(atRest.map(({ total }) => total)), sum(atRest.map(({ afterAllowances }) => afterAllowances))].map(shownDollars);
  return toTable(
    [
      ['Billed at rest', 'A month', 'After allowances', 'To bring it to zero'],
      ...rows,
      ['**Together**', ...totals.map((total) => `**${total}**`), ''],
    ],
    ['left', 'right', 'right', 'left'],
  );
};

/** A table of what is billed once. */
export const onceTable = ({ once }: Estimate): string =>
  toTable([['Billed once', 'Dollars'], ...once.map(({ item, total }) => [item, shownDollars(total)])], ['left', 'right']);

/** The estimate for a terminal. */
export const toReport = (numbers: Estimate): string =>
  [
    'Dollars a month at list prices of us-east-1 (infra/tools/cost/prices.ts). docs/cost.md says how they are made.',
    monthsTable(numbers),
    atRestTable(numbers),
    ...(numbers.once.length > 0 ? [onceTable(numbers)] : []),
  ].join('\n\n');

/** The estimate for programs: dollars are text, because a JSON number is not exact. */
export const toJson = ({ months, atRest, once }: Estimate): string => {
  const number = (count: bigint | undefined): number | null => (count === undefined ? null : Number(count));
  const document = {
    months: months.map(({ name, usage, services, breakEven, aMillionMore, ...month }) => ({
      name,
      requests: Number(usage.requests),
      services: Object.fromEntries([...services].map(([service, nanos]) => [service, dollarsOf(nanos)])),
      total: dollarsOf(month.total),
      at_rest: dollarsOf(month.atRest),
      after_allowances: dollarsOf(month.afterAllowances),
      a_million_more: aMillionMore === undefined ? null : dollarsOf(aMillionMore),
      gateway: dollarsOf(month.gateway),
      bedrock: dollarsOf(month.bedrock),
      break_even_requests: breakEven ? { gateway: number(breakEven.gateway), bedrock: number(breakEven.bedrock) } : null,
    })),
    at_rest: atRest.map(({ item, total, afterAllowances, toZero }) => ({
      item,
      total: dollarsOf(total),
      after_allowances: dollarsOf(afterAllowances),
      to_zero: toZero,
    })),
    once: once.map(({ item, total }) => ({ item, total: dollarsOf(total) })),
  };
  return JSON.stringify(document, null, 2);
};
