import { useEffect, useState } from 'react';
import { Link, useParams } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { Count, Money, Time } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { formatUtc } from '../../design/format/times.ts';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Facts, Page, Section, Tile, Tiles } from '../../design/layout/layout.tsx';
import { formatDifference, isWorking, phaseOf, type Rerate } from '../rerates/rerate-draft.ts';
import { RerateState } from '../rerates/rerate-state.tsx';
import { Effects } from './effects.tsx';

const REFRESH_MS = 5_000;

const Totals = ({ rerate }: { rerate: Rerate }) => {
  const phase = phaseOf(rerate);
  if (!phase) return null;
  const { events, old_cost, new_cost, difference, organizations, organizations_done } = phase;
  return (
    <Tiles>
      <Tile
        label={isWorking(rerate) ? 'Difference so far' : 'Difference'}
        value={formatDifference(difference)}
        note={rerate.execution ? 'Billed or credited' : 'Not billed or credited yet'}
      />
      <Tile label="Old cost" value={<Money amount={old_cost} />} />
      <Tile label="New cost" value={<Money amount={new_cost} />} />
      <Tile label="Usage events" value={<Count value={events} />} />
      <Tile
        label="Organizations"
        value={<Count value={organizations_done} />}
        note={organizations === null ? 'Being counted' : `of ${organizations}`}
      />
    </Tiles>
  );
};

const Details = ({ rerate }: { rerate: Rerate }) => (
  <Section title="Details" isCard>
    <Facts
      facts={[
        ['Id', <CopyText key="id" text={rerate.id} />],
        [rerate.model === null ? 'Instance type' : 'Model', rerate.model ?? rerate.instance_type],
        ['From price version', <CopyText key="from" text={rerate.from_version} />],
        ['To price version', <CopyText key="to" text={rerate.to_version} />],
        ['Usage', `from ${formatUtc(rerate.start_time)} until ${formatUtc(rerate.end_time)}`],
        ['Organization', rerate.organization === null ? 'all' : <IdLink key="organization" id={rerate.organization} />],
        ['Reason', rerate.reason],
        ['Created', <Time key="created" seconds={rerate.created_at} />],
        ['Executed', <Time key="executed" seconds={rerate.executed_at} never="not yet" />],
      ]}
    />
  </Section>
);

const ExecuteDialog = ({ rerate, onClose }: { rerate: Rerate; onClose: () => void }) => (
  <Confirm
    title="Execute rerate"
    action="Execute rerate"
    onClose={onClose}
    onConfirm={async () => {
      await request('POST /v1/billing/rerates/{id}/execute', { parameters: { id: rerate.id } });
      await readAgain('/v1/billing/rerates');
    }}
  >
    <p>
      Sluice bills or credits {formatDifference(phaseOf(rerate)?.difference ?? '0')} in total to the organizations below, with their next
      invoice or prepaid credit. This can't be undone, but another rerate can correct it.
    </p>
  </Confirm>
);

const RerateNotice = ({ rerate }: { rerate: Rerate }) => {
  if (rerate.state === 'previewing') return <Notice>Sluice is computing the differences. Nothing has been billed or credited.</Notice>;
  if (rerate.state === 'previewed')
    return <Notice tone="warn">Nothing has been billed or credited yet. Review the differences below, then execute the rerate.</Notice>;
  if (rerate.state === 'executing') return <Notice>Sluice is billing and crediting the differences.</Notice>;
  return null;
};

const ReratePage = ({ rerate }: { rerate: Rerate }) => {
  const me = useSignedIn();
  const [isExecuting, setExecuting] = useState(false);
  return (
    <Page
      title={`Rerate of ${rerate.model ?? rerate.instance_type}`}
      status={<RerateState rerate={rerate} />}
      description={<Link to="/rerates">All rerates</Link>}
      actions={
        can(me, 'rerates:write') &&
        rerate.state === 'previewed' && (
          <Button look="primary" onClick={() => setExecuting(true)}>
            Execute rerate
          </Button>
        )
      }
    >
      <RerateNotice rerate={rerate} />
      <Totals rerate={rerate} />
      <Effects rerate={rerate} />
      <Details rerate={rerate} />
      {isExecuting && <ExecuteDialog rerate={rerate} onClose={() => setExecuting(false)} />}
    </Page>
  );
};

/** One rerate: what it changes for each organization, and its execution. */
export const Screen = () => {
  const { id = '' } = useParams();
  const [refetchMs, setRefetch] = useState<number>();
  const query = useRead('GET /v1/billing/rerates/{id}', { parameters: { id } }, { refetchMs });
  const works = query.data !== undefined && isWorking(query.data);
  useEffect(() => {
    setRefetch(works ? REFRESH_MS : undefined);
    // The last organizations can be computed after the list was read.
    if (!works) void readAgain('/v1/billing/rerates/{id}/organizations');
  }, [works]);
  if (query.data) return <ReratePage rerate={query.data} />;
  return (
    <Page title="Rerate">
      <Loaded query={query}>{() => null}</Loaded>
    </Page>
  );
};
