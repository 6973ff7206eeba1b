import { Link } from 'wouter';
import { can, isOfPlatform, type Me, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlStates } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import { SelectField } from '../../design/controls/fields.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { NewTicket } from './new-ticket.tsx';
import { draftAbout } from './new-ticket-draft.ts';
import { readerOf, TicketDue, TicketSeverity, TicketState } from './ticket-chips.tsx';
import { byClock } from './ticket-clock.ts';
import { stateChoices, TICKET_FILTERS, type TicketFilters, ticketsQueryOf } from './ticket-filters.ts';
import { CATEGORIES, SEVERITIES, type TicketEntry, type TicketReader } from './ticket-words.ts';
import { useSupporters } from './use-supporters.ts';

const AT_ONCE = 100;
const REFRESH_MS = 30_000;

const assigneeName = (me: Me, names: ReadonlyMap<string, string>, id: string | null | undefined) => {
  if (!id) return 'unassigned';
  if (id === me.id) return 'you';
  return names.get(id) ?? <CopyText text={id} />;
};

const columnsFor = (me: Me, names: ReadonlyMap<string, string>): readonly Column<TicketEntry>[] => {
  const isSupport = can(me, 'tickets:answer');
  const ofSupport: readonly Column<TicketEntry>[] = [
    { title: 'Assigned to', isWhole: true, render: ({ assignee }) => assigneeName(me, names, assignee) },
    { title: 'Organization', render: ({ organization }) => <IdLink id={organization} /> },
  ];
  return [
    { title: 'Subject', render: ({ id, subject }) => <Link to={`/tickets/${id}`}>{subject}</Link> },
    ...(isSupport ? [{ title: 'Next due', render: (ticket: TicketEntry) => <TicketDue ticket={ticket} /> }] : []),
    { title: 'State', render: ({ status }) => <TicketState status={status} reader={readerOf(me)} /> },
    { title: 'Severity', render: ({ severity }) => <TicketSeverity severity={severity} /> },
    { title: 'Category', render: ({ category }) => category },
    ...(isSupport ? ofSupport : []),
    { title: 'Last change', isWhole: true, render: ({ updated_at }) => <Time seconds={updated_at} /> },
  ];
};

const NothingFound = ({ isFiltered, reader }: { isFiltered: boolean; reader: TicketReader }) => {
  if (isFiltered) return <Empty title="No ticket matches these filters" />;
  if (reader === 'support')
    return (
      <Empty title="No tickets waiting for support">
        <p>New tickets and customers' replies appear here, with the earliest due time first.</p>
      </Empty>
    );
  return (
    <Empty title="No unresolved tickets">
      <p>
        {reader === 'customer'
          ? 'Open a ticket to ask support. If you name a request or deployment, support sees its details.'
          : 'The questions of your organization to support appear here, with their answers.'}
      </p>
    </Empty>
  );
};

const TicketList = ({ filters, names }: { filters: TicketFilters; names: ReadonlyMap<string, string> }) => {
  const me = useSignedIn();
  const isSupport = can(me, 'tickets:answer');
  const tickets = useList(
    'GET /v1/tickets',
    { query: { ...ticketsQueryOf(filters, readerOf(me), me.id), limit: AT_ONCE } },
    { refetchMs: REFRESH_MS },
  );
  const rows = tickets.data?.flatMap(({ data }) => data);
  const sorted = rows && [{ data: isSupport ? byClock(rows, Date.now() / 1_000) : rows }];
  return (
    <PagedTable
      label="Tickets"
      query={{ ...tickets, data: sorted }}
      keyOf={({ id }) => id}
      columns={columnsFor(me, names)}
      progress={isSupport && tickets.hasNextPage && <span>sorted within the tickets shown</span>}
      empty={<NothingFound isFiltered={Object.values(filters).some(Boolean)} reader={readerOf(me)} />}
    />
  );
};

interface FilterProps {
  filters: TicketFilters;
  change: (changes: Partial<TicketFilters>) => void;
}

const AssigneeField = ({ filters: { assignee }, change, names }: FilterProps & { names: ReadonlyMap<string, string> }) => {
  const isKnown = ['', 'me', 'none'].includes(assignee) || names.has(assignee);
  return (
    <SelectField
      label="Assigned to"
      value={assignee}
      onChange={(next) => change({ assignee: next })}
      choices={[['', 'Anyone'], ['me', 'Me'], ['none', 'Unassigned'], ...names, ...(isKnown ? [] : [[assignee, assignee] as const])]}
    />
  );
};

const TicketFilterFields = ({ filters, change, names }: FilterProps & { names: ReadonlyMap<string, string> }) => {
  const me = useSignedIn();
  const isSupport = can(me, 'tickets:answer');
  const choices = stateChoices(readerOf(me));
  const [[standard]] = choices as [readonly [string, string]];
  return (
    <Filters>
      <SelectField
        label="State"
        value={filters.state || standard}
        onChange={(state) => change({ state: state === standard ? '' : state })}
        choices={choices}
      />
      <SelectField
        label="Severity"
        value={filters.severity}
        onChange={(severity) => change({ severity })}
        choices={[['', 'All'], ...SEVERITIES.map(([value]) => [value, value] as const)]}
      />
      <SelectField
        label="Category"
        value={filters.category}
        onChange={(category) => change({ category })}
        choices={[['', 'All'], ...CATEGORIES]}
      />
      {isSupport && <AssigneeField filters={filters} change={change} names={names} />}
      <OrganizationField value={filters.organization} onChange={(organization) => change({ organization })} />
    </Filters>
  );
};

/** The tickets of an organization; for support, those of all. */
export const Screen = () => {
  const me = useSignedIn();
  const [filters, change] = useUrlStates(TICKET_FILTERS);
  const [{ dialog, request, deployment, invoice }, changeDialog] = useUrlStates(['dialog', 'request', 'deployment', 'invoice']);
  const names = new Map(useSupporters(me));
  // Only the organization's own users can open tickets.
  const canOpen = !isOfPlatform(me) && can(me, 'tickets:write');
  return (
    <Page
      title="Tickets"
      description={
        can(me, 'tickets:answer')
          ? 'Questions from all organizations, with the earliest due time first.'
          : can(me, 'tickets:write')
            ? 'Your questions to support and their answers.'
            : "Your organization's questions to support and their answers."
      }
      actions={
        canOpen && (
          <Button look="primary" onClick={() => changeDialog({ dialog: 'new' })}>
            Open ticket
          </Button>
        )
      }
    >
      <TicketFilterFields filters={filters} change={change} names={names} />
      <TicketList filters={filters} names={names} />
      {dialog === 'new' && canOpen && (
        <NewTicket
          about={draftAbout({ request, deployment, invoice })}
          onClose={() => changeDialog({ dialog: '', request: '', deployment: '', invoice: '' })}
        />
      )}
    </Page>
  );
};
