import { useState } from 'react';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Chart } from '../../design/data/chart.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, Count, Duration, Money, Time } from '../../design/data/values.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { formatCount } from '../../design/format/amounts.ts';
import { ActionButton } from '../../design/forms/action-button.tsx';
import { ShortFacts } from '../../design/layout/layout.tsx';
import type { Deployment } from '../deployments/deployment-state.ts';
import { KeptCurves } from './benchmark-curves.tsx';
import { driftText } from './benchmark-draft.ts';
import { StartBenchmark } from './start-benchmark.tsx';

type Reply = ReplyBody<'GET /v1/deployments/{id}/benchmark'>;
type Benchmark = NonNullable<Reply['benchmark']>;
type Point = Benchmark['points'][number];

const RUNNING_MS = 3_000;

const isRunning = (benchmark: Benchmark | null | undefined): boolean => benchmark?.status === 'queued' || benchmark?.status === 'running';

const COLUMNS = [
  { title: 'Concurrency per copy', render: ({ concurrency_per_copy: at }: Point) => <Count value={at} />, isNumeric: true },
  { title: 'Time to first token (p95)', render: ({ ttft_ms: { p95 } }: Point) => <Duration milliseconds={p95} />, isNumeric: true },
  { title: 'Between tokens (p95)', render: ({ inter_token_ms: { p95 } }: Point) => <Duration milliseconds={p95} />, isNumeric: true },
  { title: 'Tokens per second', render: ({ tokens_per_second: rate }: Point) => <Count value={rate} />, isNumeric: true },
  { title: 'Cost per 1M tokens', render: ({ cost_per_million: cost }: Point) => <Money amount={cost} />, isNumeric: true },
  { title: 'Goals', render: ({ meets_goals: meets }: Point) => (meets ? 'met' : 'missed') },
];

const Curve = ({ points }: { points: readonly Point[] }) => {
  const [series] = useState(() => [{ name: 'Tokens a second', values: points.map(({ tokens_per_second: rate }) => rate) }]);
  const [levels] = useState(() => points.map(({ concurrency_per_copy: at }) => at));
  return (
    <Chart
      label="Tokens per second by concurrency"
      times={levels}
      acrossTitle="Concurrency per copy"
      series={series}
      format={formatCount}
      formatTime={formatCount}
    />
  );
};

const outcomeOf = ({ result, applied }: Benchmark): string | undefined => {
  if (result === null) return undefined;
  const found = `A copy serves ${result} concurrent ${result === 1 ? 'request' : 'requests'} within the goals.`;
  if (applied === 'applied') return `${found} The deployment's setting was changed to this number.`;
  return applied === 'changed_meanwhile'
    ? `${found} The setting was not changed because someone changed the deployment in the meantime.`
    : found;
};

const Live = ({ live }: { live: Benchmark['live_drift'] }) => {
  if (!live?.last_span) return <>not compared yet</>;
  const { ended_at, percent } = live.last_span;
  return (
    <>
      <Chip state={driftText(percent)} tone={live.is_drifted ? 'warn' : 'good'} /> <Time seconds={ended_at} />
    </>
  );
};

const Result = ({ benchmark }: { benchmark: Benchmark }) => {
  const { id, points, end, spent, budget, sent_requests, other_requests, live_drift } = benchmark;
  const outcome = outcomeOf(benchmark);
  return (
    <>
      {outcome && <Notice tone="good">{outcome}</Notice>}
      {end && <p>{end.message}</p>}
      {live_drift?.is_drifted && (
        <Notice tone="warn">
          The speed of the deployment's own requests has drifted from the benchmark. Its owners were notified{' '}
          <Time seconds={live_drift.notified_at} />.
        </Notice>
      )}
      <ShortFacts
        facts={[
          ['Spent', <Money key="spent" amount={spent} />],
          ['Budget', <Money key="budget" amount={budget} />],
          ['Requests sent', <Count key="sent" value={sent_requests} />],
          ['Other requests during the run', <Count key="others" value={other_requests} />],
          ...(end ? [['Own requests since', <Live key="live" live={live_drift} />] as const] : []),
        ]}
      />
      {points.length > 1 && <Curve key={`${id}-${points.length}`} points={points} />}
      {points.length > 0 && (
        <Table label="Measurements" columns={COLUMNS} rows={points} keyOf={({ concurrency_per_copy: at }) => String(at)} />
      )}
    </>
  );
};

interface MeasureProps {
  deployment: Deployment;
  onClose: () => void;
}

/** Measures how many requests a deployment serves at the same time, and shows the last result. */
export const Measure = ({ deployment, onClose }: MeasureProps) => {
  const { id, name } = deployment;
  const query = useRead(
    'GET /v1/deployments/{id}/benchmark',
    { parameters: { id } },
    { refetchMs: (reply) => (isRunning(reply?.benchmark) ? RUNNING_MS : 0) },
  );
  return (
    <Dialog title={`Benchmark ${name}`} onClose={onClose}>
      <Loaded query={query}>
        {({ benchmark, curves }) => (
          <>
            {isRunning(benchmark) && <p>The benchmark is running. It continues if you close this dialog.</p>}
            {benchmark && <Result benchmark={benchmark} />}
            {isRunning(benchmark) ? (
              <ActionButton
                label="Cancel benchmark"
                onAct={async () => {
                  await request('POST /v1/deployments/{id}/benchmark/cancel', { parameters: { id } });
                  await readAgain('/v1/deployments');
                }}
              />
            ) : (
              <StartBenchmark deployment={deployment} onClose={onClose} />
            )}
            <KeptCurves curves={curves} />
          </>
        )}
      </Loaded>
    </Dialog>
  );
};
