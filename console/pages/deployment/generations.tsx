import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Row, Section } from '../../design/layout/layout.tsx';
import { type Deployment, rolloutOf } from '../deployments/deployment-state.ts';
import { ReasonText } from './reason-text.tsx';

interface Shift {
  deployment: Deployment;
  percent: 0 | 100;
}

const ShiftTraffic = ({ shift: { deployment, percent }, onClose }: { shift: Shift; onClose: () => void }) => {
  const { id, version } = deployment;
  const rollout = rolloutOf(deployment);
  const isReturn = percent === 0;
  const [stays, goes] = isReturn ? [rollout?.old, rollout?.next] : [rollout?.next, rollout?.old];
  return (
    <Confirm
      title={isReturn ? 'Roll back to the old generation' : 'Complete rollout'}
      action={isReturn ? 'Roll back' : 'Complete rollout'}
      look={isReturn ? 'danger' : 'primary'}
      onClose={onClose}
      onConfirm={async () => {
        await request('PATCH /v1/deployments/{id}', { parameters: { id }, body: { traffic_percent: percent }, version });
        await readAgain('/v1/deployments');
      }}
    >
      <p>
        Generation {stays?.number} ({stays?.runtime}) gets all requests. Generation {goes?.number} ({goes?.runtime}) is removed, and its
        instances no longer cost anything.
      </p>
    </Confirm>
  );
};

/** The generations of a deployment, and the actions on a rollout that is not finished. */
export const Generations = ({ deployment }: { deployment: Deployment }) => {
  const me = useSignedIn();
  const [shift, setShift] = useState<Shift>();
  const canShift = can(me, 'deployments:write') && rolloutOf(deployment) !== undefined;
  return (
    <Section
      title="Generations"
      actions={
        canShift && (
          <Row>
            <Button onClick={() => setShift({ deployment, percent: 0 })}>Roll back</Button>
            <Button look="primary" onClick={() => setShift({ deployment, percent: 100 })}>
              Complete rollout
            </Button>
          </Row>
        )
      }
    >
      <Table
        label="All generations"
        rows={[...deployment.generations].reverse()}
        keyOf={({ number }) => String(number)}
        columns={[
          {
            title: 'Generation',
            isWhole: true,
            render: ({ number, status }) => (
              <>
                {number} <Chip state={status} />
              </>
            ),
          },
          { title: 'Requests', isNumeric: true, render: ({ traffic_percent }) => `${traffic_percent}%` },
          { title: 'Runtime', isWhole: true, render: ({ runtime }) => runtime },
          { title: 'Model', render: ({ model }) => <code>{model}</code> },
          { title: 'Instance types', isWhole: true, render: ({ instance_types }) => instance_types.join(', ') },
          {
            title: 'Environment variables',
            render: ({ environment }) =>
              Object.keys(environment).length === 0
                ? '–'
                : Object.entries(environment).map(([name, value]) => <div key={name}>{`${name}=${value}`}</div>),
          },
          { title: 'Created', isWhole: true, render: ({ created_at }) => <Time seconds={created_at} /> },
          { title: 'Reason', render: ({ reason }) => (reason ? <ReasonText reason={reason} /> : '–') },
        ]}
      />
      {shift && <ShiftTraffic shift={shift} onClose={() => setShift(undefined)} />}
    </Section>
  );
};
