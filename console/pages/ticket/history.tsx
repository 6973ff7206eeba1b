import { useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import { Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Section } from '../../design/layout/layout.tsx';
import { Author } from './conversation.tsx';
import { changeTexts, nameOfAction } from './history-words.ts';

const AT_ONCE = 100;

const Changes = ({ ticket }: { ticket: string }) => {
  const me = useSignedIn();
  const history = useList('GET /v1/tickets/{id}/history', { parameters: { id: ticket }, query: { limit: AT_ONCE } });
  return (
    <PagedTable
      label="Changes of this ticket"
      query={history}
      keyOf={({ id }) => id}
      empty={<Empty title="No changes yet" />}
      columns={[
        { title: 'Change', render: ({ action }) => nameOfAction(action) },
        {
          title: 'Values',
          render: ({ changes }) => changeTexts(changes).map((text) => <div key={text}>{text}</div>),
        },
        { title: 'By', render: ({ actor }) => <Author author={actor} me={me} /> },
        { title: 'When', isWhole: true, render: ({ created_at }) => <Time seconds={created_at} /> },
      ]}
    />
  );
};

/** The changes of a ticket, read when somebody asks for them. */
export const TicketHistory = ({ ticket }: { ticket: string }) => {
  const [shown, setShown] = useUrlState<'' | 'shown'>('history', '');
  return (
    <Section
      title="History"
      actions={<Button onClick={() => setShown(shown ? '' : 'shown')}>{shown ? 'Hide history' : 'Show history'}</Button>}
    >
      {shown && <Changes ticket={ticket} />}
    </Section>
  );
};
