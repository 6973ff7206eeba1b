import type { NewestMinute } from '../../../../shared/observability/newest-minute.ts';
import { timeOf } from '../../../../shared/time/utc.ts';
import { type Histogram, quantiles } from '../../../../shared/usage/histogram.ts';
import type { Totals } from '../../../../shared/usage/totals.ts';

// The first two columns are names, all others numbers.
const HEADER = ['model', 'API key', 'requests', 'errors', 'input', 'output', 'p50 ms', 'p99 ms', 'first p50', 'first p99', 'in flight'];
const NAMES = 2;
const MAX_NAME = 30;

const number = (value: number | bigint): string => value.toLocaleString('en-US');

const cutName = (name: string): string => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name);

const latencies = (histogram: Histogram): string[] =>
  (quantiles(histogram, [0.5, 0.99]) ?? [null, null]).map((ms) => (ms === null ? '-' : number(Math.round(ms))));

const errorsOf = ({ errors }: Totals): number => [...errors.values()].reduce((sum, times) => sum + times, 0);

const cells = (totals: Totals): string[] => [
  number(totals.requests),
  number(errorsOf(totals)),
  number(totals.prompt_tokens),
  number(totals.completion_tokens),
  ...latencies(totals.duration_ms),
  ...latencies(totals.time_to_first_token_ms),
];

const table = (rows: readonly string[][]): string[] => {
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number): string =>
    column < NAMES ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(pad).join('  ').trimEnd());
};

/** Draws a minute as a table for a terminal. */
export const drawTop = ({ startMs, rows, others, whole, isPartial }: NewestMinute, nowMs: number): string => {
  if (startMs === undefined) return 'There was no usage in the last minutes. Totals are up to about a minute late.\n';
  const ageSeconds = Math.max(0, Math.floor((nowMs - startMs) / 1_000));
  const lines = table([
    HEADER,
    ...rows.map(({ model, keyId, totals, inFlight }) => [cutName(model ?? '(unknown)'), keyId, ...cells(totals), number(inFlight)]),
    ['all', '', ...cells(whole), ''],
  ]);
  return [
    `The minute of ${timeOf(startMs)} UTC, which began ${ageSeconds} s ago; requests that have ended and were counted.`,
    '',
    ...lines,
    ...(others > 0 ? [`${number(others)} more rows are not shown; "all" includes them.`] : []),
    ...(isPartial ? ['There are more organizations than can be read at once. Choose one with --org.'] : []),
    '',
  ].join('\n');
};
