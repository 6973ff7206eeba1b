import { useState } from 'react';
import { Link } from 'wouter';
import { can, isOfPlatform, type Me, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { ButtonLink } from '../../design/controls/button.tsx';
import { SelectField } from '../../design/controls/fields.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Money, Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { DeploymentActions } from './deployment-actions.tsx';
import { type Deployment, type DeploymentState, isMoving, LISTED_STATES, shortModel } from './deployment-state.ts';
import { StateChip } from './state-chip.tsx';

const MOVING_MS = 5_000;
const RESTING_MS = 30_000;

const COPIES: Column<Deployment> = {
  title: 'Copies ready',
  isNumeric: true,
  render: ({ progress: { ready, wanted } }) => `${ready} of ${wanted}`,
};

const LAST_USED: Column<Deployment> = {
  title: 'Last used',
  isWhole: true,
  render: ({ last_used_at }) => <Time seconds={last_used_at} />,
};

const columnsFor = (me: Me): readonly Column<Deployment>[] => [
  { title: 'Deployment', render: ({ id, name }) => <Link to={`/deployments/${id}`}>{name}</Link> },
  ...(isOfPlatform(me)
    ? [{ title: 'Organization', render: ({ organization }: Deployment) => <IdLink id={organization} /> } satisfies Column<Deployment>]
    : []),
  {
    title: 'State',
    isWhole: true,
    render: ({ state, state_since }) => (
      <>
        <StateChip state={state} /> <Time seconds={state_since} />
      </>
    ),
  },
  COPIES,
  { title: 'Current cost per hour', isNumeric: true, render: ({ price_per_hour }) => <Money amount={price_per_hour} /> },
  { title: 'Instance type', isWhole: true, render: ({ instance_types }) => instance_types.map((type) => <div key={type}>{type}</div>) },
  { title: 'Model', render: ({ model }) => <code title={model}>{shortModel(model)}</code> },
  ...(isOfPlatform(me) ? [] : [LAST_USED]),
  { title: 'Created by', render: ({ created_by }) => (created_by === me.id ? 'you' : <IdLink id={created_by} />) },
  ...(can(me, 'deployments:write')
    ? [
        {
          title: 'Actions',
          render: (deployment: Deployment) => <DeploymentActions deployment={deployment} isMenu />,
        } satisfies Column<Deployment>,
      ]
    : []),
];

const NoDeployment = ({ newPath }: { newPath: string | undefined }) => (
  <Empty title="No deployments yet">
    <p>
      A deployment runs your own model on dedicated GPU instances. You pay per second while its instances run, and it can sleep while it is
      idle.
    </p>
    {newPath === undefined ? (
      <p>An owner of the organization can deploy a model. It then appears here.</p>
    ) : (
      <ButtonLink to={newPath} look="primary">
        Deploy a model
      </ButtonLink>
    )}
  </Empty>
);

interface DeploymentListProps {
  organization: string;
  state: string;
  newPath: string | undefined;
}

const DeploymentList = ({ organization, state, newPath }: DeploymentListProps) => {
  const me = useSignedIn();
  const [moves, setMoves] = useState(false);
  const deployments = useList(
    'GET /v1/deployments',
    { query: { organization, ...(state && { state: state as Exclude<DeploymentState, 'deleted'> }) } },
    { refetchMs: moves ? MOVING_MS : RESTING_MS },
  );
  const movesNow = deployments.data?.some(({ data }) => data.some(isMoving)) ?? false;
  if (movesNow !== moves) setMoves(movesNow);
  return (
    <PagedTable
      label="Deployments"
      query={deployments}
      keyOf={({ id }) => id}
      columns={columnsFor(me)}
      empty={state ? <Empty title={`No deployments are ${state.replaceAll('_', ' ')}`} /> : <NoDeployment newPath={newPath} />}
    />
  );
};

export const Screen = () => {
  const me = useSignedIn();
  const [organization, setOrganization] = useUrlState<string>('organization', '');
  const [state, setState] = useUrlState<string>('state', '');
  const newPath = can(me, 'deployments:write')
    ? `/deployments/new${organization && `?${new URLSearchParams({ organization })}`}`
    : undefined;
  return (
    <Page
      title="Deployments"
      description={
        isOfPlatform(me) ? 'Models that organizations run on dedicated GPU instances.' : 'Your own models on dedicated GPU instances.'
      }
      actions={
        newPath && (
          <ButtonLink to={newPath} look="primary">
            Deploy a model
          </ButtonLink>
        )
      }
    >
      <Filters>
        <OrganizationField value={organization} onChange={setOrganization} />
        <SelectField
          label="State"
          value={state}
          onChange={setState}
          choices={[['', 'All states'], ...LISTED_STATES.map((one) => [one, one.replaceAll('_', ' ')] as const)]}
        />
      </Filters>
      <DeploymentList organization={organization} state={state} newPath={newPath} />
    </Page>
  );
};
