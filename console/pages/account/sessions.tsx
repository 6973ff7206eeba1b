import { useState } from 'react';
import { needsSecondFactor } from '../../client/api-failure.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Section } from '../../design/layout/layout.tsx';

type Session = ReplyBody<'GET /v1/me/sessions'>['data'][number];

const proofText = ({ proof, second_factor }: Session): string => {
  const first = proof.startsWith('sso:') ? 'single sign-on' : proof;
  return second_factor ? `${first}, second factor` : first;
};

const columnsFor = (onEnd: (session: Session) => void): readonly Column<Session>[] => [
  {
    title: 'Signed in with',
    render: (session) => (
      <>
        {session.client === 'browser' ? 'browser' : 'API'}, {proofText(session)}{' '}
        {session.is_current && <Chip state="this session" tone="accent" />}
      </>
    ),
  },
  { title: 'Last used', render: ({ last_used_at }) => <Time seconds={last_used_at} /> },
  { title: 'IP address', render: ({ ip_address }) => ip_address },
  { title: 'User agent', isLong: true, render: ({ user_agent }) => user_agent },
  { title: 'Started', render: ({ created_at }) => <Time seconds={created_at} /> },
  { title: 'Expires', render: ({ ends_at }) => <Time seconds={ends_at} /> },
  { title: 'Actions', render: (session) => !session.is_current && <Button onClick={() => onEnd(session)}>End session</Button> },
];

/** Where the user is signed in. */
export const Sessions = () => {
  const sessions = useRead('GET /v1/me/sessions', {});
  const [ended, setEnded] = useState<Session | 'others'>();
  const end = async () => {
    if (ended === 'others') await request('DELETE /v1/me/sessions', {});
    else if (ended) await request('DELETE /v1/me/sessions/{id}', { parameters: { id: ended.id } });
    await readAgain('/v1/me/sessions');
  };
  // The page has the button that sets it up.
  if (needsSecondFactor(sessions.error)) return null;
  return (
    <Section title="Sessions" actions={<Button onClick={() => setEnded('others')}>End all other sessions</Button>}>
      <Loaded query={sessions}>
        {({ data }) => <Table label="Your sessions" rows={data} keyOf={({ id }) => id} columns={columnsFor(setEnded)} />}
      </Loaded>
      {ended && (
        <Confirm
          title={ended === 'others' ? 'End all other sessions' : 'End session'}
          action={ended === 'others' ? 'End other sessions' : 'End session'}
          onConfirm={end}
          onClose={() => setEnded(undefined)}
        >
          <p>
            {ended === 'others'
              ? 'You will have to sign in again everywhere except here.'
              : `The browser or program at ${ended.ip_address} will have to sign in again.`}
          </p>
        </Confirm>
      )}
    </Section>
  );
};
