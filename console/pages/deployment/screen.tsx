import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { can, isOfPlatform, type Me, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { Button, ButtonLink } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { Count, Time } from '../../design/data/values.tsx';
import { later } from '../../design/feedback/later.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Facts, Page, Section, Stack } from '../../design/layout/layout.tsx';
import { DeploymentActions } from '../deployments/deployment-actions.tsx';
import { type Deployment, isMoving, roughly } from '../deployments/deployment-state.ts';
import { StateChip } from '../deployments/state-chip.tsx';
import { linesOfWindows } from '../deployments/windows.ts';
import { taskFacts } from '../model/task-facts.tsx';
import { playgroundPath } from '../playground/model-choice.ts';
import { Adapters } from './adapters.tsx';
import { Comparison } from './comparison.tsx';
import { EditSettings } from './edit-settings.tsx';
import { FirstRequest } from './first-request.tsx';
import { Generations } from './generations.tsx';
import { History } from './history.tsx';
import { Now } from './now.tsx';
import { PublishDeployment, UnpublishDeployment } from './publish.tsx';
import { RollOut } from './roll-out.tsx';
import { WhenToSleep } from './when-to-sleep.tsx';

const MOVING_MS = 5_000;
const RESTING_MS = 30_000;

const Measure = later(async () => (await import('./benchmark.tsx')).Measure);

const DIALOGS = {
  settings: EditSettings,
  sleep: WhenToSleep,
  measure: Measure,
  rollout: RollOut,
  publish: PublishDeployment,
  unpublish: UnpublishDeployment,
} as const;
type DialogName = keyof typeof DIALOGS;

const isEnding = ({ state }: Deployment): boolean => state === 'deleting' || state === 'deleted';

// Requests to others get a 503 whatever they ask for.
const canAnswer = ({ state }: Deployment): boolean => !['deleting', 'deleted', 'failed', 'stopping', 'stopped'].includes(state);

const PageActions = ({ deployment }: { deployment: Deployment }) => {
  const me = useSignedIn();
  // A dialog acts on the version that it was opened with.
  const [opened, setOpened] = useState<{ name: DialogName; deployment: Deployment }>();
  const OpenDialog = opened && DIALOGS[opened.name];
  const open = (name: DialogName) => () => setOpened({ name, deployment });
  const canWrite = can(me, 'deployments:write') && !isEnding(deployment);
  return (
    <>
      {canAnswer(deployment) && deployment.task === 'generate' && <ButtonLink to={playgroundPath(deployment)}>Try it</ButtonLink>}
      {canWrite && <Button onClick={open('settings')}>Change settings</Button>}
      {canWrite && <Button onClick={open('sleep')}>Sleep advice</Button>}
      {canWrite && deployment.task === 'generate' && <Button onClick={open('measure')}>Benchmark</Button>}
      {canWrite && <Button onClick={open('rollout')}>Roll out change</Button>}
      {can(me, 'deployments:publish') && deployment.published_as === null && deployment.state === 'in_service' && (
        <Button onClick={open('publish')}>Publish deployment</Button>
      )}
      {can(me, 'deployments:publish') && deployment.published_as !== null && (
        <Button onClick={open('unpublish')}>Unpublish deployment</Button>
      )}
      <DeploymentActions deployment={deployment} />
      {opened && OpenDialog && <OpenDialog deployment={opened.deployment} onClose={() => setOpened(undefined)} />}
    </>
  );
};

const factsOf = (deployment: Deployment, me: Me) =>
  [
    ['Id', <CopyText key="id" text={deployment.id} />],
    ['Organization', isOfPlatform(me) ? <IdLink key="organization" id={deployment.organization} /> : undefined],
    [
      'Sleep',
      deployment.scale_to_zero_after_seconds === null
        ? 'never'
        : `after ${roughly(deployment.scale_to_zero_after_seconds)} without a request`,
    ],
    [
      'Windows',
      deployment.schedule.length > 0 ? (
        <Stack key="windows">
          {linesOfWindows(deployment.schedule)
            .split('\n')
            .map((line) => (
              <span key={line}>{line}</span>
            ))}
        </Stack>
      ) : undefined,
    ],
    ['Concurrent requests', `${deployment.max_concurrency_per_copy} per copy`],
    ...taskFacts(deployment),
    ['Context length', <Count key="context" value={deployment.context_length} />],
    ['Maximum output tokens', deployment.task === 'generate' ? <Count key="output" value={deployment.max_output_tokens} /> : undefined],
    ['Prompt tokens counted', deployment.tokenizer ? 'before the request is admitted' : 'by the runtime only'],
    [
      'Tags',
      Object.keys(deployment.tags).length > 0
        ? Object.entries(deployment.tags)
            .map(([name, value]) => `${name}: ${value}`)
            .join(', ')
        : undefined,
    ],
    [
      'Created',
      <span key="created">
        <Time seconds={deployment.created_at} /> by <IdLink id={deployment.created_by} />
      </span>,
    ],
    ['Settings updated', <Time key="updated" seconds={deployment.updated_at} />],
  ] as const;

const DeploymentPage = ({ deployment }: { deployment: Deployment }) => {
  const me = useSignedIn();
  const { id, name, state, organization } = deployment;
  const auditPath = `/audit-log?${new URLSearchParams({ target: id, range: '90d', ...(me.organization === null && { organization }) })}`;
  return (
    <Page
      title={name}
      status={<StateChip state={state} />}
      description={<Link to="/deployments">All deployments</Link>}
      actions={<PageActions deployment={deployment} />}
    >
      <Now deployment={deployment} />
      {canAnswer(deployment) && <FirstRequest deployment={deployment} />}
      <Generations deployment={deployment} />
      {deployment.adapters && <Adapters deployment={deployment} />}
      {deployment.shadow && <Comparison deployment={deployment} />}
      <Section title="Settings" isCard actions={can(me, 'audit:read') && <ButtonLink to={auditPath}>Show audit log</ButtonLink>}>
        <Facts facts={factsOf(deployment, me)} />
      </Section>
      <History deployment={deployment} />
    </Page>
  );
};

export const Screen = () => {
  const { id = '' } = useParams();
  const [moves, setMoves] = useState(false);
  const query = useRead('GET /v1/deployments/{id}', { parameters: { id } }, { refetchMs: moves ? MOVING_MS : RESTING_MS });
  const movesNow = query.data !== undefined && isMoving(query.data);
  if (movesNow !== moves) setMoves(movesNow);
  return query.data ? (
    <DeploymentPage deployment={query.data} />
  ) : (
    <Page title="Deployment">
      <Loaded query={query}>{() => null}</Loaded>
    </Page>
  );
};
