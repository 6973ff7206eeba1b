import { needsSecondFactor } from '../../client/api-failure.ts';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { ButtonLink } from '../../design/controls/button.tsx';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Items, Note, Page, Row, Section } from '../../design/layout/layout.tsx';
import { attentionOf, type Summary } from './attention.ts';
import { FirstSteps, hasOpenSteps } from './first-steps.tsx';
import { PlatformLinks, PlatformNow } from './platform.tsx';
import { SummaryTiles } from './tiles.tsx';

const REFRESH_MS = 60_000;
// So that a step is seen to be done soon after it was.
const REFRESH_DURING_STEPS_MS = 10_000;

const refreshMs = (summary: Summary | undefined): number => (summary && hasOpenSteps(summary) ? REFRESH_DURING_STEPS_MS : REFRESH_MS);

const Attention = ({ summary }: { summary: Summary }) => {
  const me = useSignedIn();
  const entries = attentionOf(summary, { canWriteTickets: can(me, 'tickets:write') });
  if (entries.length === 0) return null;
  return (
    <Section title="Needs attention" isCard>
      <Items>
        {entries.map(({ text, to, tone }) => (
          <li key={text}>
            <Row>
              <Chip state={tone === 'bad' ? 'now' : 'soon'} tone={tone} />
              <ScreenLink to={to}>{text}</ScreenLink>
            </Row>
          </li>
        ))}
      </Items>
    </Section>
  );
};

const Overview = ({ summary }: { summary: Summary }) => (
  <>
    {summary.unavailable.length > 0 && (
      <Notice tone="warn">Some data could not be loaded: {summary.unavailable.map((name) => name.replaceAll('_', ' ')).join(', ')}.</Notice>
    )}
    <FirstSteps summary={summary} />
    <Attention summary={summary} />
    <PlatformNow />
    <SummaryTiles summary={summary} />
    <Note>
      Updated <Time seconds={summary.created_at} />
    </Note>
  </>
);

export const Screen = () => {
  const me = useSignedIn();
  const summary = useRead('GET /v1/summary', {}, { refetchMs: refreshMs });
  const isRefused = needsSecondFactor(summary.error);
  const organization = isOfPlatform(me) ? 'The platform' : (me.organization_name ?? 'Your organization');
  return (
    <Page
      title="Home"
      description={`${organization} · Your role: ${me.role.replaceAll('_', ' ')}`}
      actions={
        can(me, 'keys:write') &&
        !isOfPlatform(me) && (
          <>
            <ButtonLink to="/playground">Try a model</ButtonLink>
            <ButtonLink to="/api-keys?dialog=create">Create API key</ButtonLink>
          </>
        )
      }
    >
      {me.second_factor === 'off' && !isRefused && (
        <Notice>
          <p>
            Your account has no second factor. <ScreenLink to="/account">Set one up</ScreenLink> so that nobody can sign in with your
            password alone.
          </p>
        </Notice>
      )}
      {isOfPlatform(me) && <PlatformLinks />}
      <Loaded query={summary}>{(data) => <Overview summary={data} />}</Loaded>
      {!summary.data && !isRefused && <PlatformNow />}
    </Page>
  );
};
