/** How a column is aligned. */
export type Alignment = 'left' | 'right';

/** Rows as a table of Markdown whose columns are also aligned for a terminal. The first row is the head. */
export const toTable = (rows: readonly (readonly string[])[], alignments: readonly Alignment[]): string => {
  const widths = alignments.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? '').length)));
  const aligned = (cell: string, column: number): string =>
    alignments[column] === 'left' ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const line = (cells: readonly string[]): string => `| ${cells.map(aligned).join(' | ')} |`;
  const rule = widths.map((width, column) => (alignments[column] === 'left' ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [head = [], ...body] = rows;
  return [line(head), line(rule), ...body.map(line)].join('\n');
};
