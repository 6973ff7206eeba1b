import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, Count } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Section, Stack } from '../../design/layout/layout.tsx';
import type { Deployment } from '../deployments/deployment-state.ts';
import { type ComparedMeasure, comparedMeasures, type Comparison as Report } from './comparison-rows.ts';

const REFETCH_MS = 10_000;

const VERDICTS = {
  promote: 'The new generation is as good as the old one.',
  roll_back: 'The new generation is worse than the old one.',
  undecided: 'Undecided.',
} as const;

const columns = [
  { title: 'Measure', render: ({ measure }: ComparedMeasure) => measure, isWhole: true },
  { title: 'Old', render: ({ old }: ComparedMeasure) => old, isNumeric: true },
  { title: 'New', render: ({ next }: ComparedMeasure) => next, isNumeric: true },
  { title: 'Responses', render: ({ of }: ComparedMeasure) => <Count value={of} />, isNumeric: true },
];

interface ChangeProps {
  deployment: Deployment;
  body: { traffic_percent: number } | { shadow: null };
  title: string;
  text: string;
  onClose: () => void;
}

const Change = ({ deployment: { id, version }, body, title, text, onClose }: ChangeProps) => (
  <Confirm
    title={title}
    action={title}
    look="primary"
    onClose={onClose}
    onConfirm={async () => {
      await request('PATCH /v1/deployments/{id}', { parameters: { id }, body, version });
      await readAgain('/v1/deployments');
    }}
  >
    <p>{text}</p>
  </Confirm>
);

type Opened = Omit<ChangeProps, 'deployment' | 'onClose'>;

const applyOf = ({ apply, generation }: Report): Opened | undefined => {
  if (!apply) return undefined;
  return apply.body.traffic_percent === 100
    ? { body: apply.body, title: 'Promote generation', text: `Generation ${generation} gets all requests, and the old one is removed.` }
    : { body: apply.body, title: 'Roll back generation', text: `Generation ${generation} is removed. The old one keeps all requests.` };
};

const END: Opened = {
  body: { shadow: null },
  title: 'End comparison',
  text: 'No more requests are sent to the new generation. It keeps running and costing money until you complete the rollout or roll back.',
};

const Result = ({ report, deployment }: { report: Report; deployment: Deployment }) => {
  const me = useSignedIn();
  const [opened, setOpened] = useState<Opened>();
  const apply = applyOf(report);
  const canWrite = can(me, 'deployments:write');
  const measures = comparedMeasures(report);
  return (
    <Stack>
      <p>
        Comparison {report.number} also sends {report.percent}% of requests to generation {report.generation}, after their replies.{' '}
        <Chip state={report.status} /> It has used <Count value={report.used_requests} /> of <Count value={report.max_requests} /> requests
        and <Count value={report.used_tokens} /> of <Count value={report.max_tokens} /> tokens, which are free of charge.
      </p>
      {measures.length > 0 && (
        <Table label="Measures of both generations" columns={columns} rows={measures} keyOf={({ measure }) => measure} />
      )}
      <Notice {...(report.verdict !== 'undecided' && { tone: report.verdict === 'promote' ? 'good' : 'warn' })}>
        {VERDICTS[report.verdict]} {report.reasons.join(' ')}
      </Notice>
      {canWrite && apply && (
        <Button look="primary" onClick={() => setOpened(apply)}>
          {apply.title}
        </Button>
      )}
      {canWrite && report.status !== 'ended' && <Button onClick={() => setOpened(END)}>{END.title}</Button>}
      {opened && <Change {...opened} deployment={deployment} onClose={() => setOpened(undefined)} />}
    </Stack>
  );
};

/** The last comparison of a deployment's new generation with its old one. */
export const Comparison = ({ deployment }: { deployment: Deployment }) => {
  const query = useRead('GET /v1/deployments/{id}/shadow', { parameters: { id: deployment.id } }, { refetchMs: REFETCH_MS });
  return (
    <Section title="Comparison" isCard>
      <Loaded query={query}>{(report) => <Result report={report} deployment={deployment} />}</Loaded>
    </Section>
  );
};
