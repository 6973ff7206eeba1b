import type { Model } from '../../../shared/models/model.ts';
import { rows } from './measure.ts';
import { textOf, type Verdict } from './verdict.ts';

/** The results for a container in one dialect: a verdict for each row. */
export interface Findings {
  dialect: Model['dialect'];
  verdicts: readonly Verdict[];
}

/** The findings as an aligned table, a column for each dialect, and a summary of each. */
export const toTerminal = (all: readonly Findings[]): string => {
  const head = ['field', ...all.map(({ dialect }) => dialect)];
  const lines = rows.map(({ label }, index) => [label, ...all.map(({ verdicts }) => shown(verdicts[index]))]);
  const table = [head, ...lines];
  const widths = head.map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  const aligned = table.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...aligned, '', ...all.map(summaryOf)].join('\n');
};

const shown = (verdict: Verdict | undefined): string => (verdict ? textOf(verdict) : '');

/** The number of rows with each result, in the order in which the results first appear. */
export const summaryOf = ({ dialect, verdicts }: Findings): string => {
  const counts = new Map<string, number>();
  for (const { result } of verdicts) counts.set(result, (counts.get(result) ?? 0) + 1);
  return `${dialect}: ${[...counts].map(([result, count]) => `${count} ${result}`).join(', ')}`;
};

/** A field fails, or the container rejected every request. */
export const hasFailed = ({ verdicts }: Findings): boolean => {
  const results = new Set(verdicts.map(({ result }) => result));
  const isRejected = results.has('refused') && !results.has('works') && !results.has('accepted');
  return results.has('fails') || isRejected;
};
