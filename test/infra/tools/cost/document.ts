import path from 'node:path';
import { quotasTable } from '../../../../infra/tools/capacity/quotas.ts';
import { linesOnce } from '../../../../infra/tools/cost/at-rest.ts';
import { estimate, type ItemAtRest } from '../../../../infra/tools/cost/estimate.ts';
import { costNanos, type Line, totalNanos } from '../../../../infra/tools/cost/line.ts';
import { linesOfUsage } from '../../../../infra/tools/cost/month.ts';
import { ALLOWANCES, PRICES, type PriceId, priceOf } from '../../../../infra/tools/cost/prices.ts';
import { atRestTable, monthsTable, onceTable, shownDollars } from '../../../../infra/tools/cost/report.ts';
import type { Resources } from '../../../../infra/tools/cost/resources.ts';
import { SCENARIOS } from '../../../../infra/tools/cost/usage.ts';
import { toTable } from '../../../../infra/tools/table.ts';
import { CEILINGS } from '../../../support/simulation/ceilings.ts';
import { NEW_TABLE, type Units } from '../../../support/simulation/throughput.ts';
import { NO_RESOURCES } from './resources-fixture.ts';

const DOCS = path.join(import.meta.dirname, '../../../../docs');
export const COST_PAGE = path.join(DOCS, 'cost.md');
export const CAPACITY_PAGE = path.join(DOCS, 'capacity.md');

/** Settings with every option that is billed at rest or once. */
export const EVERY_OPTION = {
  firewall: {},
  customerManagedKey: true,
  canary: true,
  provisionedConcurrency: { inference: 1 },
  warmThroughput: { keys: { writesPerSecond: 12_000 }, usage: { writesPerSecond: 6_000 } },
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

/** The tables of docs/cost.md, by the names in its comments. */
export const costTables = (plain: Resources, withOptions: Resources): Readonly<Record<string, string>> => {
  const numbers = estimate(plain, SCENARIOS);
  return {
    months: monthsTable(numbers),
    'at rest': atRestTable(numbers),
    options: optionsTable(plain, withOptions),
    once: onceTable(estimate(withOptions, SCENARIOS)),
    'short chats': requestLinesTable(plain),
    allowances: allowancesTable(),
    prices: pricesTable(),
  };
};

const warmTable = (): string => {
  const prices = CEILINGS.filter(({ holds }) => holds).map(({ load, tables }): [string, string] => {
    const more = (kind: keyof Units): number =>
      [load.warm?.keys, load.warm?.usage].reduce((sum, units = NEW_TABLE) => sum + units[kind] - NEW_TABLE[kind], 0);
    const lines = linesOnce({ ...NO_RESOURCES, warmUnits: { writes: more('writes'), reads: more('reads') } });
    return [tables, shownDollars(totalNanos(lines))];
  });
  return toTable([['Tables serve (writes a second)', 'Once'], ...new Map(prices)], ['left', 'right']);
};

/** The tables of docs/capacity.md that follow from the quotas. */
export const capacityTables = (plain: Resources): Readonly<Record<string, string>> => ({
  quotas: quotasTable(plain),
  warm: warmTable(),
});

/** The page with these tables instead of those that it has. @throws Error for a table that the page has no place for */
export const withTables = (page: string, tables: Readonly<Record<string, string>>): string =>
  Object.entries(tables).reduce((text, [name, table]) => {
    const [start, end] = [`<!-- table: ${name} -->`, `<!-- /table: ${name} -->`];
    const [before, rest = ''] = text.split(start);
    const [, after] = rest.split(end);
    if (after === undefined) throw new Error(`The page has no place between ${start} and ${end}.`);
    return `${before}${start}\n\n${table}\n\n${end}${after}`;
  }, page);
