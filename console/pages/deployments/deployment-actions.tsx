import { type ReactNode, useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button, type Look } from '../../design/controls/button.tsx';
import { Menu } from '../../design/controls/menu.tsx';
import { Money } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { type Action, actionsFor, type Deployment } from './deployment-state.ts';
import { hourCostOf } from './hour-cost.ts';

const LABELS: Readonly<Record<Action, string>> = {
  stop: 'Stop deployment',
  start: 'Start deployment',
  retry: 'Retry deployment',
  wake: 'Wake deployment',
  delete: 'Delete deployment',
};

const LOOKS: Readonly<Record<Action, { look?: Look }>> = {
  stop: {},
  start: { look: 'primary' },
  retry: { look: 'primary' },
  wake: { look: 'primary' },
  delete: { look: 'danger' },
};

const send = (action: Action, { id, version }: Deployment): Promise<unknown> => {
  const options = { parameters: { id }, version };
  switch (action) {
    case 'stop':
      return request('POST /v1/deployments/{id}/stop', options);
    case 'start':
      return request('POST /v1/deployments/{id}/start', options);
    case 'retry':
      return request('POST /v1/deployments/{id}/retry', options);
    case 'wake':
      // A deployment that may not sleep wakes. No route wakes it otherwise.
      return request('PATCH /v1/deployments/{id}', { ...options, body: { scale_to_zero_after_seconds: null } });
    case 'delete':
      return request('DELETE /v1/deployments/{id}', options);
  }
};

const RunningCost = ({ deployment: { accelerators, copies, instance_types } }: { deployment: Deployment }) => {
  const { data } = useRead('GET /v1/instance-types', {});
  const type = data?.data.find(({ id }) => id === instance_types[0]);
  const cost = hourCostOf(type, accelerators, copies.min);
  return cost === undefined ? (
    <>the price of its instances</>
  ) : (
    <>
      <Money amount={cost} /> per hour with {copies.min === 1 ? 'one copy' : `${copies.min} copies`} on {type?.id}
    </>
  );
};

const consequencesOf = (action: Action, deployment: Deployment): ReactNode => {
  const { name, price_per_hour } = deployment;
  const cost = <RunningCost deployment={deployment} />;
  switch (action) {
    case 'stop':
      return (
        <p>
          Requests to {name} get a 503 from now on, and requests in progress may fail. All its AWS resources are removed, which ends its
          cost of <Money amount={price_per_hour} /> per hour within minutes. Its settings are kept, so you can start it again.
        </p>
      );
    case 'start':
      return (
        <p>
          All its AWS resources are created again, which takes minutes. From then on it costs {cost}. Requests are answered once it is in
          service.
        </p>
      );
    case 'retry':
      return <p>A new generation is created with the same settings. If it starts, it costs {cost}, and requests are answered again.</p>;
    case 'wake':
      return (
        <p>
          It starts now and no longer sleeps automatically: it costs {cost} until you stop it or set a time to sleep after. To wake it only
          once, send it a request instead.
        </p>
      );
    case 'delete':
      return (
        <p>
          Requests to {name} return 404 or 503 from now on. All its AWS resources are removed, which ends its cost of{' '}
          <Money amount={price_per_hour} /> per hour within minutes, and its settings are lost. The model files stay in your bucket.
        </p>
      );
  }
};

interface ActionDialogProps {
  action: Action;
  deployment: Deployment;
  onClose: () => void;
}

const ActionDialog = ({ action, deployment, onClose }: ActionDialogProps) => {
  const { name, published_as } = deployment;
  const ends = action === 'stop' || action === 'delete';
  return (
    <Confirm
      title={`${LABELS[action].replace(' deployment', '')} ${name}`}
      action={LABELS[action]}
      look={ends ? 'danger' : 'primary'}
      {...(action === 'delete' && { typed: name })}
      onClose={onClose}
      onConfirm={async () => {
        await send(action, deployment);
        await readAgain('/v1/deployments', '/v1/summary');
      }}
    >
      {consequencesOf(action, deployment)}
      {ends && published_as !== null && (
        <Notice tone="warn">It serves the shared model {published_as}. An admin must unpublish it first.</Notice>
      )}
    </Confirm>
  );
};

interface DeploymentActionsProps {
  deployment: Deployment;
  /** True: as a menu, in a list. */
  isMenu?: boolean;
}

/** Stops, starts, retries, wakes and deletes a deployment. */
export const DeploymentActions = ({ deployment, isMenu = false }: DeploymentActionsProps) => {
  const me = useSignedIn();
  // A dialog acts on the version that it was opened with.
  const [chosen, setChosen] = useState<{ action: Action; deployment: Deployment }>();
  const actions = can(me, 'deployments:write') ? actionsFor(deployment) : [];
  const open = (action: Action) => setChosen({ action, deployment });
  return (
    <>
      {isMenu ? (
        <Menu
          label={`Actions of ${deployment.name}`}
          items={actions.map((action) => ({ label: LABELS[action], onSelect: () => open(action), isDangerous: action === 'delete' }))}
        />
      ) : (
        actions.map((action) => (
          <Button key={action} {...LOOKS[action]} onClick={() => open(action)}>
            {LABELS[action]}
          </Button>
        ))
      )}
      {chosen && <ActionDialog {...chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
};
