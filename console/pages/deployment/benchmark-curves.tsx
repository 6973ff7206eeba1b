import type { ReplyBody } from '../../client/routes.ts';
import { type Column, Table } from '../../design/data/table.tsx';
import { Chip, Count, Money, Time } from '../../design/data/values.tsx';
import { Section } from '../../design/layout/layout.tsx';
import { driftText, kneeOf } from './benchmark-draft.ts';

type KeptCurve = ReplyBody<'GET /v1/deployments/{id}/benchmark'>['curves'][number];

const COLUMNS: readonly Column<KeptCurve>[] = [
  { title: 'Ended', isWhole: true, render: ({ ended_at }) => <Time seconds={ended_at} /> },
  { title: 'Generation', isNumeric: true, render: ({ generation }) => generation },
  { title: 'Instance type', isWhole: true, render: ({ instance_type }) => instance_type },
  { title: 'Concurrency per copy', isNumeric: true, render: ({ result }) => <Count value={result} /> },
  { title: 'Tokens per second', isNumeric: true, render: (curve) => <Count value={kneeOf(curve)?.tokens_per_second} /> },
  { title: 'Cost per 1M tokens', isNumeric: true, render: (curve) => <Money amount={kneeOf(curve)?.cost_per_million} /> },
  { title: 'Drift', render: ({ drift }) => drift && <Chip state={driftText(drift.percent)} tone={drift.percent < 0 ? 'warn' : 'good'} /> },
];

/** The results that are kept of a deployment's benchmarks, newest first. */
export const KeptCurves = ({ curves }: { curves: readonly KeptCurve[] }) =>
  curves.length === 0 ? null : (
    <Section title="Previous results">
      <Table label="Previous benchmark results" columns={COLUMNS} rows={curves} keyOf={({ id }) => id} />
    </Section>
  );
