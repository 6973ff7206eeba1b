import { CopyButton } from '../../design/controls/copy.tsx';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import { Chip, Count, Gauge, Money } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Columns, Section, Tile, Tiles } from '../../design/layout/layout.tsx';
import { daysOf, type EconomicsRow, economicsCsv, hours, isUnused, tokensOf, totalOf } from './economics-sums.ts';

interface ResultsProps {
  rows: readonly EconomicsRow[];
  /** True: with the platform's cost, revenue and margin. */
  isPlatform: boolean;
  hasListPrice: boolean;
}

const NO_DEPLOYMENT = 'Without a deployment';
const titleOf = ({ model, deployment, organization }: EconomicsRow): string =>
  deployment === null ? `${NO_DEPLOYMENT} (${organization})` : (model ?? deployment);
const keyOf = ({ from, organization, deployment }: EconomicsRow): string => `${from} ${organization} ${deployment}`;

const Known = ({ amount }: { amount: string | null }) => (amount === null ? 'unknown' : <Money amount={amount} />);

const money = (title: string, amountOf: (row: EconomicsRow) => string | null): Column<EconomicsRow> => ({
  title,
  isNumeric: true,
  render: (row) => <Known amount={amountOf(row)} />,
});
const perMillion = (title: string, amountOf: (row: EconomicsRow) => string | null): Column<EconomicsRow> => ({
  title,
  isNumeric: true,
  render: (row) => <Money amount={amountOf(row)} />,
});
const rate = (title: string, rateOf: (row: EconomicsRow) => string | null): Column<EconomicsRow> => ({
  title,
  isNumeric: true,
  render: (row) => <Count value={rateOf(row)} />,
});

const Name = ({ row }: { row: EconomicsRow }) => (
  <>
    {row.deployment === null ? titleOf(row) : <ScreenLink to={`/deployments/${row.deployment}`}>{titleOf(row)}</ScreenLink>}{' '}
    {isUnused(row) && <Chip state="unused" tone="warn" />}
  </>
);

const days: Column<EconomicsRow> = { title: 'Days', isWhole: true, render: daysOf };

const totals = ({ isPlatform, hasListPrice }: ResultsProps): Column<EconomicsRow>[] => [
  { title: 'Deployment', render: (row) => <Name row={row} /> },
  days,
  { title: 'Requests', isNumeric: true, render: ({ requests }) => <Count value={requests} /> },
  { title: 'Tokens', isNumeric: true, render: (row) => <Count value={String(tokensOf(row))} /> },
  money('Cost', ({ cost }) => cost),
  ...(isPlatform ? [money('Revenue', ({ revenue }) => revenue?.total ?? null), money('Margin', ({ margin }) => margin)] : []),
  ...(hasListPrice ? [money('At list price', ({ list_cost }) => list_cost)] : []),
];

const rates = ({ isPlatform, hasListPrice }: ResultsProps): Column<EconomicsRow>[] => [
  { title: 'Deployment', render: titleOf },
  days,
  perMillion('All tokens', ({ cost_per_million }) => cost_per_million.tokens),
  perMillion('Prompt tokens', ({ cost_per_million }) => cost_per_million.prompt),
  perMillion('Completion tokens', ({ cost_per_million }) => cost_per_million.completion),
  rate('Tokens per second', ({ tokens_per_second }) => tokens_per_second),
  ...(isPlatform
    ? [rate('Break-even (tokens per second)', ({ break_even_tokens_per_second }) => break_even_tokens_per_second.at_sold_price)]
    : []),
  ...(hasListPrice
    ? [rate('Break-even at list price', ({ break_even_tokens_per_second }) => break_even_tokens_per_second.at_list_price)]
    : []),
];

const Missing = ({ rows }: { rows: readonly EconomicsRow[] }) => {
  const missing = new Set(rows.flatMap(({ cost_missing }) => cost_missing));
  return (
    <>
      {missing.has('no_cost_price') && (
        <Notice tone="warn">Some costs are unknown. Add your own cost per hour of each instance type under Instance types.</Notice>
      )}
      {missing.has('not_metered') && (
        <Notice>Requests without a deployment have revenue but no known cost, because their instances are not metered.</Notice>
      )}
    </>
  );
};

const Utilization = ({ row: { instance_seconds: seconds, ...row } }: { row: EconomicsRow }) => (
  <div>
    <Gauge label={`${titleOf(row as EconomicsRow)}: busy hours`} used={String(seconds.busy)} limit={String(seconds.total)} format={hours} />
    <p>
      {hours(String(seconds.idle))} h awake and idle, {hours(String(seconds.waking))} h waking, {hours(String(seconds.draining))} h draining
      {row.unused_days > 0 && `; unused on ${row.unused_days} of ${row.awake_days} days`}
    </p>
  </div>
);

/** The sums of all rows, their utilization and a table. */
export const EconomicsResults = (props: ResultsProps) => {
  const { rows, isPlatform, hasListPrice } = props;
  const withTime = rows.filter(({ awake_days }) => awake_days > 0);
  return (
    <>
      <Missing rows={rows} />
      <Tiles>
        <Tile label="Cost" value={<Known amount={totalOf(rows, ({ cost }) => cost)} />} />
        {isPlatform && <Tile label="Revenue" value={<Known amount={totalOf(rows, ({ revenue }) => revenue?.total ?? null)} />} />}
        {isPlatform && <Tile label="Margin" value={<Known amount={totalOf(rows, ({ margin }) => margin)} />} />}
        <Tile label="Tokens" value={<Count value={String(rows.reduce((sum, row) => sum + tokensOf(row), 0n))} />} />
        {hasListPrice && <Tile label="At list price" value={<Known amount={totalOf(rows, ({ list_cost }) => list_cost)} />} />}
      </Tiles>
      <Section title="By deployment" actions={<CopyButton text={economicsCsv(rows)} label="Copy as CSV" />}>
        <Table label="Economics by deployment" rows={rows} keyOf={keyOf} columns={totals(props)} />
      </Section>
      <Section title="Cost per million tokens">
        <Table label="Cost per million tokens by deployment" rows={rows} keyOf={keyOf} columns={rates(props)} />
      </Section>
      {withTime.length > 0 && (
        <Section title="Utilization">
          <Columns>
            {withTime.map((row) => (
              <Utilization key={keyOf(row)} row={row} />
            ))}
          </Columns>
        </Section>
      )}
    </>
  );
};
