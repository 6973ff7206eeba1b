import { useMemo } from 'react';
import { Button, ButtonLink } from '../../design/controls/button.tsx';
import { CopyButton } from '../../design/controls/copy.tsx';
import { Chart } from '../../design/data/chart.tsx';
import { Count, Money } from '../../design/data/values.tsx';
import { Empty, Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { formatAxisMoney, formatCount, formatMoney } from '../../design/format/amounts.ts';
import { formatDay } from '../../design/format/times.ts';
import { Section, Tile, Tiles } from '../../design/layout/layout.tsx';
import { cacheShare, seriesOf, tabulate, type UsageSums } from './tabulate.ts';
import { usageCsv } from './usage-csv.ts';
import { type Grouping, type Measure, sentenceName } from './usage-query.ts';
import { UsageTable } from './usage-table.tsx';
import { useUsage } from './use-usage.ts';

const axisCount = (value: number): string => formatCount(Math.round(value));

const Totals = ({ total, measure }: { total: UsageSums; measure: Measure }) => (
  <Tiles>
    {measure === 'cost' ? (
      <Tile label="Total cost" value={<Money amount={total.cost} />} />
    ) : (
      <>
        <Tile label="Requests" value={<Count value={String(total.requests)} />} />
        <Tile
          label="Input tokens"
          value={<Count value={String(total.input)} />}
          note={`${formatCount(String(total.cached))} cached (${cacheShare(total)})`}
        />
        <Tile label="Output tokens" value={<Count value={String(total.output)} />} />
        <Tile label="Token cost" value={<Money amount={total.cost} />} />
      </>
    )}
  </Tiles>
);

const NothingUsed = () => (
  <Empty title="No usage in this period">
    <p>Requests are counted here a few minutes after they end. Choose a longer period, or send a first request.</p>
    <ButtonLink to="/api-keys">See API keys</ButtonLink>
  </Empty>
);

interface UsageResultsProps {
  measure: Measure;
  groupBy: Grouping;
  /** The name of the grouping. */
  title: string;
  times: { start_time: string; end_time?: string };
  organization: string;
  project: string;
  nameOf: (name: string | null) => string;
}

type Tabulated = ReturnType<typeof tabulate>;

const UsageChart = ({ table, measure, title, nameOf }: Pick<UsageResultsProps, 'measure' | 'title' | 'nameOf'> & { table: Tabulated }) => {
  const isCost = measure === 'cost';
  const series = useMemo(() => seriesOf(table, measure, nameOf, isCost ? formatMoney : formatCount), [table, measure, nameOf, isCost]);
  return (
    <Chart
      label={`${isCost ? 'Cost' : measure === 'tokens' ? 'Tokens' : 'Requests'} by day and ${title}`}
      times={table.days}
      series={series}
      format={isCost ? formatAxisMoney : axisCount}
      formatTime={formatDay}
      isStacked
    />
  );
};

/** The usage of a range: its total, a chart by day, and a table by group. */
export const UsageResults = ({ measure, groupBy, title, times, organization, project, nameOf }: UsageResultsProps) => {
  const { query, buckets, isComplete, isCut } = useUsage({ measure, groupBy, times, organization, project });
  const table = useMemo(() => tabulate(buckets, groupBy, measure), [buckets, groupBy, measure]);
  return (
    <Loaded<readonly unknown[]> query={query}>
      {() =>
        isComplete && table.groups.length === 0 ? (
          <NothingUsed />
        ) : (
          <>
            {!isComplete && !isCut && <Notice>Still loading. The totals below will increase.</Notice>}
            {isCut && (
              <Notice tone="warn">
                This range is large, so the totals below are partial. <Button onClick={() => void query.fetchNextPage()}>Load more</Button>
              </Notice>
            )}
            <Totals total={table.total} measure={measure} />
            <UsageChart table={table} measure={measure} title={title} nameOf={nameOf} />
            <Section
              title={`By ${sentenceName(title)}`}
              actions={<CopyButton text={usageCsv(table, groupBy, measure)} label="Copy days as CSV" />}
            >
              <UsageTable table={table} measure={measure} title={title} nameOf={nameOf} />
            </Section>
          </>
        )
      }
    </Loaded>
  );
};
