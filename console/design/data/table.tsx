import type { ReactNode } from 'react';
import { Button } from '../controls/button.tsx';
import classes from './data.module.css';

export interface Column<Row> {
  title: string;
  render: (row: Row) => ReactNode;
  /** True: numbers, which are compared digit by digit. */
  isNumeric?: boolean;
  /** True: short texts, which stay on one line. */
  isWhole?: boolean;
}

interface TableProps<Row> {
  /** Names the table for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}

const alignOf = <Row,>({ isNumeric }: Column<Row>) => (isNumeric ? 'end' : undefined);

/** Rows of things with the same columns. On a narrow screen it scrolls sideways by itself. */
export const Table = <Row,>({ label, columns, rows, keyOf }: TableProps<Row>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable table must be reachable by keyboard
  <section className={classes.scroll} tabIndex={0} aria-label={label}>
    <table className={classes.table}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.title} scope="col" data-align={alignOf(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column) => (
              <td key={column.title} data-align={alignOf(column)} data-whole={column.isWhole || undefined}>
                {column.render(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

interface MoreProps {
  /** How many are shown. */
  count: number;
  hasMore: boolean;
  isLoading: boolean;
  onMore: () => void;
  /** How far a search has come, if it finds entries only now and then. */
  progress?: ReactNode;
}

/** The end of a list: how many entries there are, and a button for more. */
export const More = ({ count, hasMore, isLoading, onMore, progress }: MoreProps) => (
  <div className={classes.more}>
    <span>{hasMore ? `${count} shown` : `${count} in all`}</span>
    {progress}
    {hasMore && (
      <Button onClick={onMore} disabled={isLoading}>
        {isLoading ? 'Loading…' : 'Load more'}
      </Button>
    )}
  </div>
);
