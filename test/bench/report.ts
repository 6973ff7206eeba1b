import type { ServerName } from './stack.ts';

/** One figure, with the same figure of the other servers if they have it. */
export interface Row extends Partial<Record<ServerName, number>> {
  figure: string;
  /** The number of decimal places. */
  digits: number;
  /** The ratio sluice/proxy of an unmetered Node gateway. */
  mark?: number;
  /** The limit for Sluice. */
  target?: number;
  /** Whether ratios of this figure are meaningful; true if absent. */
  hasRatios?: boolean;
}

/** The results of a phase, with notes. */
export interface Findings {
  rows: Row[];
  notes: string[];
}

const COLUMNS = ['figure', 'direct', 'proxy', 'sluice', 'sluice/proxy', 'sluice/direct', 'known mark', 'target'];

const shown = (value: number | undefined, digits: number): string => (value === undefined ? '' : value.toFixed(digits));

const ratio = (a: number | undefined, b: number | undefined): string => {
  if (a === undefined || b === undefined) return '';
  return `${(a / b).toFixed(a / b < 10 ? 2 : 1)}×`;
};

const toCells = ({ figure, digits, direct, proxy, sluice, mark, target, hasRatios = true }: Row): string[] => [
  figure,
  shown(direct, digits),
  shown(proxy, digits),
  shown(sluice, digits),
  hasRatios ? ratio(sluice, proxy) : '',
  hasRatios ? ratio(sluice, direct) : '',
  mark === undefined ? '' : `${mark}×`,
  target === undefined || sluice === undefined ? '' : `≤ ${target} ${sluice <= target ? 'ok' : 'MISS'}`,
];

/** Rows as a Markdown table whose columns are also aligned for a terminal. */
export const toTable = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  const [head = [], ...body] = rows;
  return [line(head), rule, ...body.map(line)].join('\n');
};

/** All results as Markdown. */
export const toReport = (findings: readonly Findings[]): string => {
  const table = toTable([COLUMNS, ...findings.flatMap(({ rows }) => rows.map(toCells))]);
  return `${table}\n\n${findings.flatMap(({ notes }) => notes).join('\n')}\n`;
};
