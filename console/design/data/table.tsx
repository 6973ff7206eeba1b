import { type ReactNode, useRef } from 'react';
import { Button } from '../controls/button.tsx';
import { formatCount } from '../format/amounts.ts';
import classes from './data.module.css';
import { useRowWindow } from './use-row-window.ts';

export interface Column<Row> {
  title: string;
  render: (row: Row) => ReactNode;
  /** True: numbers, which are compared digit by digit. */
  isNumeric?: boolean;
  /** True: short texts, which stay on one line. */
  isWhole?: boolean;
  /** True: sentences, which are unreadable in a narrow column. */
  isLong?: boolean;
  /** True: ids, names of models or addresses of users, which are unreadable in pieces. */
  hasIds?: boolean;
}

interface TableProps<Row> {
  /** Names the table for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}

const alignOf = <Row,>({ isNumeric }: Column<Row>) => (isNumeric ? 'end' : undefined);

// In the place of rows that are not rendered, so that the page keeps its height.
const Space = ({ columns, heightPx }: { columns: number; heightPx: number }) =>
  heightPx > 0 && (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row of a table can't be focused
    <tr aria-hidden="true">
      <td className={classes.space} colSpan={columns} style={{ height: heightPx }} />
    </tr>
  );

/** Rows of things with the same columns. On a narrow screen it scrolls sideways by itself. */
export const Table = <Row,>({ label, columns, rows, keyOf }: TableProps<Row>) => {
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, end, rowPx } = useRowWindow(body, rows.length);
  const isCut = end - first < rows.length;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable table must be reachable by keyboard
    <section className={classes.scroll} tabIndex={0} aria-label={label}>
      <table className={classes.table} aria-rowcount={isCut ? rows.length + 1 : undefined}>
        <thead>
          <tr aria-rowindex={isCut ? 1 : undefined}>
            {columns.map((column) => (
              <th key={column.title} scope="col" data-align={alignOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <Space columns={columns.length} heightPx={first * rowPx} />
          {rows.slice(first, end).map((row, i) => (
            <tr key={keyOf(row)} aria-rowindex={isCut ? first + i + 2 : undefined}>
              {columns.map((column) => (
                <td
                  key={column.title}
                  data-align={alignOf(column)}
                  data-whole={column.isWhole || undefined}
                  data-long={column.isLong || undefined}
                  data-ids={column.hasIds || undefined}
                >
                  {column.render(row)}
                </td>
              ))}
            </tr>
          ))}
          <Space columns={columns.length} heightPx={(rows.length - end) * rowPx} />
        </tbody>
      </table>
    </section>
  );
};

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
    <span>
      {formatCount(count)} {hasMore ? 'shown' : 'in all'}
    </span>
    {progress}
    {hasMore && (
      <Button onClick={onMore} isBusy={isLoading}>
        {isLoading ? 'Loading…' : 'Load more'}
      </Button>
    )}
  </div>
);
