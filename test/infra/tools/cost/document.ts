import path from 'node:path';
import { estimate, type ItemAtRest } from '../../../../infra/tools/cost/estimate.ts';
import { costNanos, type Line } from '../../../../infra/tools/cost/line.ts';
import { linesOfUsage } from '../../../../infra/tools/cost/month.ts';
import { ALLOWANCES, PRICES, type PriceId, priceOf } from '../../../../infra/tools/cost/prices.ts';
import { atRestTable, monthsTable, shownDollars } from '../../../../infra/tools/cost/report.ts';
import type { Resources } from '../../../../infra/tools/cost/resources.ts';
import { SCENARIOS } from '../../../../infra/tools/cost/usage.ts';
import { toTable } from '../../../../infra/tools/table.ts';

export const DOCUMENT = path.join(import.meta.dirname, '../../../../docs/cost.md');

/** Settings with every option that is billed at rest. */
export const EVERY_OPTION = {
  firewall: {},
  customerManagedKey: true,
  canary: true,
  provisionedConcurrency: { inference: 1 },
  hosts: {
    serverless: {
      domain: 'api.example.com',
      certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0f5c9b1e-0000-4000-8000-000000000000',
      cloudFront: { certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0f5c9b1e-0000-4000-8000-000000000000' },
    },
  },
} as const;

const optionsTable = (plain: Resources, withOptions: Resources): string => {
  const before = new Map(estimate(plain, SCENARIOS).atRest.map(({ item, total }) => [item, total]));
  const { atRest } = estimate(withOptions, { idle: { ...SCENARIOS.idle, storedGb: 1n } });
  const added = ({ item, total }: ItemAtRest): bigint => total - (before.get(item) ?? 0n);
  const rows = atRest.filter((item) => added(item) > 0n).map((item) => [item.item, shownDollars(added(item)), item.toZero]);
  return toTable([['Billed at rest', 'A month', 'To bring it to zero'], ...rows], ['left', 'right', 'left']);
};

const shownQuantity = ({ quantity: { amount, scale } }: Line): string =>
  (Number(amount) / Number(scale)).toLocaleString('en-US', { maximumFractionDigits: 2 });

const requestLinesTable = (resources: Resources): string => {
  const rows = linesOfUsage(resources, SCENARIOS['short chats']).map((line) => {
    const { service, unit } = priceOf(line.price);
    return [service, line.item, shownQuantity(line), unit, shownDollars(costNanos(line))];
  });
  return toTable([['Service', 'What', 'Quantity', 'Unit', 'Dollars'], ...rows], ['left', 'left', 'right', 'left', 'right']);
};

const pricesTable = (): string => {
  const rows = (Object.keys(PRICES) as PriceId[]).map((id) => {
    const { service, unit, usd, per, status, date, source, readAt } = priceOf(id);
    const read = readAt === undefined ? '' : `, [read](${readAt})`;
    return [`[${service}](${source})`, unit, `$${usd}`, per === 1 ? '' : per.toLocaleString('en-US'), `${status} ${date}${read}`];
  });
  return toTable([['Service', 'Unit', 'Dollars', 'For', 'Status'], ...rows], ['left', 'left', 'right', 'right', 'left']);
};

const allowancesTable = (): string => {
  const rows = Object.entries(ALLOWANCES).map(([name, { units, date, source }]) => {
    const prices = (Object.keys(PRICES) as PriceId[]).map(priceOf).filter(({ allowance }) => allowance === name);
    const [first] = prices;
    return [`[${first?.service}](${source})`, prices.map(({ unit }) => unit).join('; '), units.toLocaleString('en-US'), date];
  });
  return toTable([['Service', 'Units', 'Free each month', 'Date'], ...rows], ['left', 'left', 'right', 'left']);
};

/** The tables of the page, by the names in its comments. */
export const tablesOf = (plain: Resources, withOptions: Resources): Readonly<Record<string, string>> => {
  const numbers = estimate(plain, SCENARIOS);
  return {
    months: monthsTable(numbers),
    'at rest': atRestTable(numbers),
    options: optionsTable(plain, withOptions),
    'short chats': requestLinesTable(plain),
    allowances: allowancesTable(),
    prices: pricesTable(),
  };
};

/** The page with these tables instead of those that it has. @throws Error for a table that the page has no place for */
export const withTables = (page: string, tables: Readonly<Record<string, string>>): string =>
  Object.entries(tables).reduce((text, [name, table]) => {
    const [start, end] = [`<!-- table: ${name} -->`, `<!-- /table: ${name} -->`];
    const [before, rest = ''] = text.split(start);
    const [, after] = rest.split(end);
    if (after === undefined) throw new Error(`docs/cost.md has no place between ${start} and ${end}.`);
    return `${before}${start}\n\n${table}\n\n${end}${after}`;
  }, page);
