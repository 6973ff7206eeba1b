import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Attack } from './attacks.ts';
import type { Traffic } from './traffic.ts';

const PAGE = path.join(import.meta.dirname, '../../../docs/fairness.md');
const BEGIN = '<!-- attacks: written by `UPDATE_FAIRNESS=1 npx jest e2e/fairness` -->\n';
const END = '<!-- end of attacks -->\n';
const HEADINGS = [
  'Way in',
  'The attacker sends',
  'It gets',
  'Neighbour',
  'p95 alone',
  'p95, attack elsewhere',
  'p95 beside it',
  'Ratio',
  '5xx',
  'Lost',
];

/** The effects of an attack on its neighbour. */
export interface Finding {
  attack: Attack;
  /** The attacker's replies, by status and code. */
  replies: ReadonlyMap<string, number>;
  alone: Traffic;
  /** While the attacker attacks another installation on the same machine; undefined in the small size. */
  elsewhere: Traffic | undefined;
  beside: Traffic;
}

export const ratioOf = ({ alone, elsewhere = alone, beside }: Finding): number => beside.p95Ms / elsewhere.p95Ms;

const percentages = (counts: ReadonlyMap<string, number>): string => {
  const sum = [...counts.values()].reduce((one, other) => one + other, 0);
  const parts = [...counts].sort(([, one], [, other]) => other - one);
  return parts.map(([name, count]) => `${Math.max(1, Math.round((100 * count) / sum))}% ${name.replace(/ (\w+)$/, ' `$1`')}`).join(', ');
};

const cellsOf = (finding: Finding): string[] => {
  const { attack, replies, alone, elsewhere = alone, beside } = finding;
  return [
    attack.name,
    attack.sends,
    percentages(replies),
    attack.neighbour,
    `${Math.round(alone.p95Ms)} ms`,
    `${Math.round(elsewhere.p95Ms)} ms`,
    `${Math.round(beside.p95Ms)} ms`,
    ratioOf(finding).toFixed(1),
    String(beside.failed),
    String(beside.lost),
  ];
};

const render = (findings: readonly Finding[]): string => {
  const rows = [HEADINGS, ...findings.map(cellsOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [headings = [], ...others] = rows;
  return `${[line(headings), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others.map(line)].join('\n')}\n`;
};

/** Writes what was measured into the page. */
export const writePage = async (findings: readonly Finding[]): Promise<void> => {
  const page = await readFile(PAGE, 'utf8');
  const before = page.slice(0, page.indexOf(BEGIN) + BEGIN.length);
  const after = page.slice(page.indexOf(END));
  await writeFile(PAGE, `${before}\n${render(findings)}\n${after}`);
};

/** The ways in that the page has, with what the attacker sends. */
export const waysOfPage = async (): Promise<string[][]> => {
  const page = await readFile(PAGE, 'utf8');
  const lines = page
    .slice(page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END))
    .trim()
    .split('\n');
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, 3)
      .map((cell) => cell.trim()),
  );
};
