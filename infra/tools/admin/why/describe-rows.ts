import { toTable } from '../../table.ts';
import type { LogRow } from './query-logs.ts';

const MAX_PRINTED_ROWS = 50;
const MAX_VALUE_CHARACTERS = 160;

const cellOf = (value: string): string => {
  const line = value.replaceAll(/\s+/g, ' ');
  return line.length > MAX_VALUE_CHARACTERS ? `${line.slice(0, MAX_VALUE_CHARACTERS - 1)}…` : line;
};

/** Rows of a query as a table, with those columns that have values. */
export const describeRows = (rows: readonly LogRow[]): string => {
  if (rows.length === 0) return 'The logs have no such lines in this time.';
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const cells = rows.slice(0, MAX_PRINTED_ROWS).map((row) => columns.map((column) => cellOf(row.get(column) ?? '')));
  const table = toTable(
    [columns, ...cells],
    columns.map(() => 'left'),
  );
  return rows.length > MAX_PRINTED_ROWS ? `${table}\n${rows.length - MAX_PRINTED_ROWS} more` : table;
};
