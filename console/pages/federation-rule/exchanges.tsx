import { useRead } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Section } from '../../design/layout/layout.tsx';
import { adviceFor } from './refusals.ts';

type Exchange = ReplyBody<'GET /v1/service-accounts/{id}/events'>['data'][number];

const Explanation = ({ reason, differing_claims, api_key }: Exchange) => {
  if (reason === null) return api_key === null ? 'access token' : <IdLink id={api_key} />;
  return (
    <>
      <code>{reason}</code> {adviceFor(reason)}
      {differing_claims.map(({ claim, expected, actual }) => (
        <div key={claim}>
          <code>{claim}</code>: expected <code>{expected}</code>, and the token has{' '}
          {actual === null ? 'no such text' : <code>{actual}</code>}
        </div>
      ))}
    </>
  );
};

const COLUMNS: readonly Column<Exchange>[] = [
  { title: 'Time', isWhole: true, render: ({ at }) => <Time seconds={at} /> },
  { title: 'Outcome', render: ({ outcome }) => <Chip state={outcome} tone={outcome === 'accepted' ? 'good' : 'bad'} /> },
  { title: 'Result', render: (exchange) => <Explanation {...exchange} /> },
  { title: 'Subject', render: ({ subject, is_verified }) => (is_verified ? <code>{subject}</code> : 'not verified') },
  { title: 'IP address', render: ({ ip_address }) => ip_address },
  { title: 'Request', render: ({ request_id }) => <CopyText text={request_id} /> },
];

/** The newest tokens that were exchanged with a rule, or refused. */
export const Exchanges = ({ account, rule }: { account: string; rule: string }) => {
  const events = useRead('GET /v1/service-accounts/{id}/events', { parameters: { id: account } });
  return (
    <Section
      title="Token exchanges"
      actions={
        <Button onClick={() => void events.refetch()} isBusy={events.isFetching}>
          Refresh
        </Button>
      }
    >
      <Loaded query={events}>
        {({ data }) => {
          const own = data.filter(({ federation_rule }) => federation_rule === rule);
          if (own.length === 0) return <p>No job has sent a token for this rule yet. If a token is refused, the reason appears here.</p>;
          return (
            <Table label="Latest token exchanges" rows={own} keyOf={({ request_id, at }) => `${request_id}-${at}`} columns={COLUMNS} />
          );
        }}
      </Loaded>
    </Section>
  );
};
