import { useEffect } from 'react';
import { useList } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { IdLink } from '../../design/controls/id-link.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Chip, Count, Money } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { sumOf } from '../../design/format/amounts.ts';
import { Section } from '../../design/layout/layout.tsx';
import { formatDifference, isWorking, type Rerate } from '../rerates/rerate-draft.ts';

type Effect = ReplyBody<'GET /v1/billing/rerates/{id}/organizations'>['data'][number];
type Month = Effect['months'][number];

const REFRESH_MS = 5_000;
const AT_ONCE = 100;

const sumOfMonths = ({ months }: Effect, name: 'old_cost' | 'new_cost' | 'difference'): string =>
  sumOf(months.map((month: Month) => month[name]));

// A rerate of all organizations looks at each, and most have no such usage.
const isAffected = ({ months }: Effect): boolean => months.length > 0;

const COLUMNS: readonly Column<Effect>[] = [
  { title: 'Organization', render: ({ organization }) => <IdLink id={organization} /> },
  { title: 'Months (UTC)', render: ({ months }) => months.map(({ month }) => month).join(', ') || '–' },
  { title: 'Events', isNumeric: true, render: ({ months }) => <Count value={months.reduce((sum, { events }) => sum + events, 0)} /> },
  { title: 'Old cost', isNumeric: true, render: (effect) => <Money amount={sumOfMonths(effect, 'old_cost')} /> },
  { title: 'New cost', isNumeric: true, render: (effect) => <Money amount={sumOfMonths(effect, 'new_cost')} /> },
  { title: 'Difference', isNumeric: true, render: (effect) => formatDifference(sumOfMonths(effect, 'difference')) },
  {
    title: 'State',
    isWhole: true,
    render: ({ is_done }) => <Chip state={is_done ? 'computed' : 'in progress'} tone={is_done ? 'good' : 'accent'} />,
  },
];

/** The exact difference for each organization. */
export const Effects = ({ rerate }: { rerate: Rerate }) => {
  const refetchMs = isWorking(rerate) ? REFRESH_MS : undefined;
  const query = useList(
    'GET /v1/billing/rerates/{id}/organizations',
    { parameters: { id: rerate.id }, query: { limit: AT_ONCE } },
    { refetchMs },
  );
  const { hasNextPage, isFetching, fetchNextPage } = query;
  const pages = query.data?.map(({ data }) => ({ data: data.filter(isAffected) }));
  // Each reading goes on to a page that has something to show.
  const isBare = pages?.at(-1)?.data.length === 0;
  useEffect(() => {
    if (isBare && hasNextPage && !isFetching) void fetchNextPage();
  }, [isBare, hasNextPage, isFetching, fetchNextPage]);
  return (
    <Section title="By organization">
      <PagedTable
        label="Differences by organization"
        query={{ ...query, data: pages }}
        keyOf={({ organization }) => organization}
        columns={COLUMNS}
        empty={
          <Empty title={isWorking(rerate) ? 'Reading organizations' : 'No organization is affected'}>
            <p>Organizations with usage that the old price version rated in this period appear here.</p>
          </Empty>
        }
      />
    </Section>
  );
};
