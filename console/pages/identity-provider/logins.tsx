import { useRead } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Section } from '../../design/layout/layout.tsx';
import { type PartProps, placeOf } from './place.ts';
import { adviceFor } from './refusals.ts';

type Login = ReplyBody<'GET /v1/identity-providers/{id}/events'>['data'][number];

const COLUMNS: readonly Column<Login>[] = [
  { title: 'Time', isWhole: true, render: ({ at }) => <Time seconds={at} /> },
  { title: 'Outcome', render: ({ outcome }) => <Chip state={outcome} tone={outcome === 'refused' ? 'bad' : 'good'} /> },
  { title: 'Email', render: ({ email, is_verified }) => (is_verified ? (email ?? '–') : 'not verified') },
  {
    title: 'Result',
    render: ({ reason, role }) =>
      reason === null ? (
        (role ?? 'role unchanged')
      ) : (
        <>
          <code>{reason}</code> {adviceFor(reason)}
        </>
      ),
  },
  { title: 'Claims', render: ({ claims }) => Object.keys(claims).length > 0 && <code>{JSON.stringify(claims)}</code> },
  { title: 'IP address', render: ({ ip_address }) => ip_address },
  { title: 'Request', render: ({ request_id }) => <CopyText text={request_id} /> },
];

/** The newest logins with a provider, and why others were refused. */
export const Logins = (part: PartProps) => {
  const events = useRead('GET /v1/identity-providers/{id}/events', placeOf(part));
  return (
    <Section
      title="Logins"
      actions={
        <Button onClick={() => void events.refetch()} isBusy={events.isFetching}>
          Refresh
        </Button>
      }
    >
      <Loaded query={events}>
        {({ data }) =>
          data.length === 0 ? (
            <p>Nobody has signed in with the provider yet. If a login is refused, the reason appears here.</p>
          ) : (
            <Table label="Latest logins" rows={data} keyOf={({ request_id, at }) => `${request_id}-${at}`} columns={COLUMNS} />
          )
        }
      </Loaded>
    </Section>
  );
};
