import { useRead } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { useUrlState } from '../../client/url-state.ts';
import { Segments } from '../../design/controls/fields.tsx';
import { Chart } from '../../design/data/chart.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import { Count, Gauge, Money } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded, Skeleton } from '../../design/feedback/loaded.tsx';
import { formatCount, formatMoney, fromUnits, toUnits } from '../../design/format/amounts.ts';
import { formatDay } from '../../design/format/times.ts';
import { Columns, Section, Stack } from '../../design/layout/layout.tsx';
import { rangeOfDays, requestsByDay } from './key-usage.ts';

const RANGES = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;
const REFRESH_MS = 15_000;

const BUDGETS = [
  ['day', 'Budget today'],
  ['month', 'Budget this month'],
  ['total', 'Total budget'],
] as const;

type Usage = ReplyBody<'GET /v1/api-keys/{id}/usage'>;

const Limits = ({ now }: Pick<Usage, 'now'>) => (
  <Columns>
    <Gauge
      label="Requests in the last minute"
      used={String(now.requests_per_minute.limit - now.requests_per_minute.remaining)}
      limit={String(now.requests_per_minute.limit)}
    />
    <Gauge
      label="Tokens in the last minute"
      used={String(now.tokens_per_minute.limit - now.tokens_per_minute.remaining)}
      limit={String(now.tokens_per_minute.limit)}
    />
    <Gauge label="Requests in progress" used={String(now.concurrency.in_flight)} limit={String(now.concurrency.limit)} />
    {BUDGETS.map(([period, label]) => {
      const budget = now.budgets[period];
      return (
        budget && (
          <Gauge
            key={period}
            label={label}
            used={fromUnits(toUnits(budget.limit) - toUnits(budget.remaining))}
            limit={budget.limit}
            format={formatMoney}
          />
        )
      );
    })}
  </Columns>
);

const COLUMNS: readonly Column<Usage['days'][number]>[] = [
  { title: 'Day (UTC)', render: ({ day }) => day },
  { title: 'Model', render: ({ model }) => model },
  { title: 'Requests', isNumeric: true, render: ({ requests }) => <Count value={requests} /> },
  { title: 'Failed', isNumeric: true, render: ({ failed_requests }) => <Count value={failed_requests} /> },
  { title: 'Prompt tokens', isNumeric: true, render: ({ prompt_tokens }) => formatCount(String(prompt_tokens)) },
  { title: 'Cached tokens', isNumeric: true, render: ({ cached_tokens }) => formatCount(String(cached_tokens)) },
  { title: 'Completion tokens', isNumeric: true, render: ({ completion_tokens }) => formatCount(String(completion_tokens)) },
  { title: 'Cost', isNumeric: true, render: ({ cost }) => <Money amount={cost} /> },
];

const Days = ({ usage: { days, cost }, from, to }: { usage: Usage; from: string; to: string }) =>
  days.length === 0 ? (
    <Empty title="No usage in this period">
      <p>Requests appear here within a few minutes.</p>
    </Empty>
  ) : (
    <Stack>
      <p>
        <Money amount={cost} /> from {from} to {to} (UTC)
      </p>
      <Chart label="Requests per day" {...requestsByDay(days, { from, to })} format={formatCount} formatTime={formatDay} isStacked />
      <Table label="Usage by day and model" rows={[...days].reverse()} keyOf={({ day, model }) => `${day} ${model}`} columns={COLUMNS} />
    </Stack>
  );

/** How much of a key's limits is used now, and its usage by day. */
export const KeyUsage = ({ id }: { id: string }) => {
  const [chosen, setChosen] = useUrlState<string>('range', '7');
  const range = RANGES.find(([days]) => days === chosen)?.[0] ?? '7';
  const { from, to } = rangeOfDays(Number(range), Date.now() / 1_000);
  const usage = useRead('GET /v1/api-keys/{id}/usage', { parameters: { id }, query: { from, to } }, { refetchMs: REFRESH_MS });
  return (
    <>
      <Section title="Current limits" isCard>
        <Loaded query={usage}>{({ now }) => <Limits now={now} />}</Loaded>
      </Section>
      {/* The choice stays while another range is read, and so does the focus on it. */}
      <Section title="Usage" actions={<Segments label="Range" value={range} onChange={setChosen} choices={RANGES} />}>
        {usage.data ? <Days usage={usage.data} from={from} to={to} /> : !usage.error && <Skeleton />}
      </Section>
    </>
  );
};
