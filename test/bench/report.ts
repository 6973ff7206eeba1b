import { median } from './lib/statistics.ts';
import { shownRatio, toTable } from './lib/table.ts';
import type { ServerName } from './stack.ts';

/** One figure, with the same figure of the other servers if they have it. */
export interface Row extends Partial<Record<ServerName, number>> {
  figure: string;
  /** The number of decimal places. */
  digits: number;
  /** Ratios of other gateways to the same proxy, measured side by side on one machine. */
  peers?: string;
  /** The limit for Sluice, or for its ratio to the proxy. */
  target?: number;
  targetRatio?: number;
  /**
   * The ratio of Sluice to the proxy in each round of a figure that swings from round to round; their median counts.
   */
  toProxy?: readonly number[];
  /** Ratios of this figure are meaningful; true if absent. */
  hasRatios?: boolean;
}

/** The results of a phase, with notes. */
export interface Findings {
  rows: Row[];
  notes: string[];
}

const COLUMNS = ['figure', 'direct', 'proxy', 'sluice', 'sluice/proxy', 'sluice/direct', 'peers/proxy', 'target'];

const shown = (value: number | undefined, digits: number): string => (value === undefined ? '' : value.toFixed(digits));

const ratio = (a: number | undefined, b: number | undefined): string => (a === undefined || b === undefined ? '' : shownRatio(a / b));

const ratioToProxy = ({ proxy, sluice, toProxy }: Row): number | undefined => {
  if (toProxy) return median(toProxy);
  return proxy === undefined || sluice === undefined ? undefined : sluice / proxy;
};

const verdict = (value: number, limit: number, unit = ''): string => `≤ ${limit}${unit} ${value <= limit ? 'ok' : 'MISS'}`;

const toVerdict = (row: Row): string => {
  const { sluice, target, targetRatio } = row;
  if (sluice === undefined) return '';
  const toProxy = ratioToProxy(row);
  if (targetRatio !== undefined && toProxy !== undefined) return verdict(toProxy, targetRatio, '×');
  return target === undefined ? '' : verdict(sluice, target);
};

const toCells = (row: Row): string[] => {
  const { figure, digits, direct, proxy, sluice, peers = '', hasRatios = true } = row;
  const toProxy = hasRatios ? ratioToProxy(row) : undefined;
  return [
    figure,
    shown(direct, digits),
    shown(proxy, digits),
    shown(sluice, digits),
    toProxy === undefined ? '' : shownRatio(toProxy),
    hasRatios ? ratio(sluice, direct) : '',
    peers,
    toVerdict(row),
  ];
};

// The distance of single rounds' ratios from their medians.
const toSpread = (rows: readonly Row[]): string[] => {
  const spreads = rows.flatMap(({ figure, toProxy }) =>
    toProxy ? [`${figure} ${shownRatio(Math.min(...toProxy))} to ${shownRatio(Math.max(...toProxy))} in ${toProxy.length} rounds`] : [],
  );
  if (spreads.length === 0) return [];
  return [`\nA CPU figure is the median of its rounds, and so is its ratio, taken within each round. The rounds: ${spreads.join('; ')}.`];
};

const toMisses = (rows: readonly Row[]): string => {
  const short = rows.filter((row) => toVerdict(row).endsWith('MISS')).map(({ figure }) => figure);
  return short.length > 0 ? `Falls short of its target: ${short.join('; ')}.` : 'Every target is kept.';
};

/** All results as Markdown. */
export const toReport = (findings: readonly Findings[]): string => {
  const all = findings.flatMap(({ rows }) => rows);
  return `${toTable([COLUMNS, ...all.map(toCells)])}\n\n${toMisses(all)}\n${[...toSpread(all), ...findings.flatMap(({ notes }) => notes)].join('\n')}\n`;
};
