import type { ReactNode } from 'react';
import type { ApiFailure } from '../../client/api-failure.ts';
import { Loaded } from '../feedback/loaded.tsx';
import { type Column, More, Table } from './table.tsx';

interface ListQuery<Row> {
  data: readonly { data: readonly Row[] }[] | undefined;
  error: ApiFailure | null;
  refetch: () => unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

interface PagedTableProps<Row> {
  label: string;
  /** From `useList`. */
  query: ListQuery<Row>;
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  /** Shown if there is nothing. */
  empty: ReactNode;
  progress?: ReactNode;
}

/** A list from the API as a table, page after page. */
export const PagedTable = <Row,>({ label, query, columns, keyOf, empty, progress }: PagedTableProps<Row>) => (
  <Loaded query={query}>
    {(pages) => {
      const rows = pages.flatMap(({ data }) => data);
      if (rows.length === 0 && !query.hasNextPage) return empty;
      return (
        <div>
          {rows.length > 0 && <Table label={label} columns={columns} rows={rows} keyOf={keyOf} />}
          <More
            count={rows.length}
            hasMore={query.hasNextPage}
            isLoading={query.isFetchingNextPage}
            onMore={() => void query.fetchNextPage()}
            progress={progress}
          />
        </div>
      );
    }}
  </Loaded>
);
