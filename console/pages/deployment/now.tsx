import { seesOnlyOwn, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { Money, Time } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { sumOf } from '../../design/format/amounts.ts';
import { rangeOf } from '../../design/format/ranges.ts';
import { Section, Stack, Tile, Tiles } from '../../design/layout/layout.tsx';
import { type Deployment, expectedAt, nowOf, rolloutOf } from '../deployments/deployment-state.ts';
import { ReasonText } from './reason-text.tsx';

const MAX_DAYS = 31;

const instancesText = ({ instances }: Deployment): string =>
  instances
    .map(({ count, instance_type, generation, phase }) => `${count} × ${instance_type}, generation ${generation}, ${phase}`)
    .join('; ') || 'no running instances';

const MonthCost = ({ deployment: { id, organization } }: { deployment: Deployment }) => {
  const { startS = 0 } = rangeOf('month', { from: '', to: '' }, Date.now() / 1_000);
  const { data } = useRead('GET /v1/organization/costs', {
    query: { organization, start_time: String(startS), limit: String(MAX_DAYS), group_by: ['deployment'] },
  });
  const amounts = data?.data.flatMap(({ results }) => results.filter(({ deployment }) => deployment === id).map(({ cost }) => cost));
  return (
    <Tile
      label="Cost this month"
      value={<Money amount={amounts && sumOf(amounts)} />}
      note={<ScreenLink to="/usage?group=deployment&range=month">Compare deployments</ScreenLink>}
    />
  );
};

const Progress = ({ deployment }: { deployment: Deployment }) => {
  const [expected] = useUrlState<string>('expected', '');
  const { state, progress } = deployment;
  const end = expectedAt(deployment, /^\d{1,11}$/.test(expected) ? Number(expected) : undefined);
  const isStarting = state === 'pending' || state === 'creating' || state === 'waking' || state === 'updating';
  if (!isStarting) return null;
  const steps = [
    ['waiting for an instance', progress.pending_capacity],
    ['downloading the model', progress.downloading],
    ['loading the model', progress.loading],
    ['ready', progress.ready],
  ] as const;
  const counts = steps.filter(([, count]) => count > 0).map(([step, count]) => `${count} ${step}`);
  return (
    <Stack>
      {end !== undefined && (
        <p>Expected to answer {end * 1_000 > Date.now() ? <Time seconds={end} /> : 'any moment: this start is taking longer than most'}.</p>
      )}
      {counts.length > 0 && <p>Copies: {counts.join(', ')}.</p>}
    </Stack>
  );
};

const Windows = ({ deployment: { current_window: current, next_window: next } }: { deployment: Deployment }) => (
  <>
    {current && (
      <p>
        A scheduled window is open, with at least {current.min_copies} {current.min_copies === 1 ? 'copy' : 'copies'}. It ends{' '}
        <Time seconds={current.ends_at} />.
      </p>
    )}
    {next && (
      <p>
        The next window opens <Time seconds={next.starts_at} />.
      </p>
    )}
  </>
);

/** The present state of a deployment, its cost, and what comes next. */
export const Now = ({ deployment }: { deployment: Deployment }) => {
  const me = useSignedIn();
  const { state, state_since, reason, progress, copies, price_per_hour, last_used_at, published_as } = deployment;
  const rollout = rolloutOf(deployment);
  return (
    <>
      <Section title="Status" isCard>
        <Stack>
          <p role="status">
            {nowOf(state)} The state changed <Time seconds={state_since} />.
          </p>
          {rollout?.next.status === 'ready' && (
            <p>
              A rollout is in progress: generation {rollout.next.number} gets {rollout.next.traffic_percent}% of requests. Complete it or
              roll back below.
            </p>
          )}
          <Progress deployment={deployment} />
          {state !== 'stopped' && <Windows deployment={deployment} />}
          {reason && (
            <Notice tone="warn">
              <ReasonText reason={reason} />
            </Notice>
          )}
          {published_as !== null && <p>It also serves the shared model {published_as}, whose callers pay per token.</p>}
        </Stack>
      </Section>
      <Tiles>
        <Tile label="Current cost per hour" value={<Money amount={price_per_hour} />} note={instancesText(deployment)} />
        {!seesOnlyOwn(me) && <MonthCost deployment={deployment} />}
        <Tile
          label="Copies ready"
          value={`${progress.ready} of ${progress.wanted}`}
          note={copies.min === copies.max ? `always ${copies.min} while awake` : `${copies.min} to ${copies.max}, depending on load`}
        />
        <Tile
          label="Last used"
          value={<Time seconds={last_used_at} />}
          note={
            <ScreenLink
              to={`/requests?${new URLSearchParams({ deployment: deployment.id, ...(me.organization === null && { organization: deployment.organization }) })}`}
            >
              Show requests
            </ScreenLink>
          }
        />
      </Tiles>
    </>
  );
};
