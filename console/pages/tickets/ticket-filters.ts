import type { Query } from '../../client/routes.ts';
import type { Choice } from '../../design/controls/choice.ts';
import { CUSTOMER_WORDS, type TicketReader, type TicketStatus } from './ticket-words.ts';

type TicketsQuery = NonNullable<Query<'GET /v1/tickets'>>;

/** The parameters of the address that the screen reads. */
export const TICKET_FILTERS = ['state', 'severity', 'category', 'assignee', 'organization'] as const;
export type TicketFilters = Readonly<Record<(typeof TICKET_FILTERS)[number], string>>;

const STATUSES: Readonly<Record<string, readonly TicketStatus[] | undefined>> = {
  support: ['open', 'waiting_on_support'],
  customer: ['waiting_on_customer'],
  unresolved: ['open', 'waiting_on_support', 'waiting_on_customer'],
  resolved: ['resolved'],
  closed: ['closed'],
  all: undefined,
};

/** The states that each reader can choose; the first is shown without a choice. */
export const stateChoices = (reader: TicketReader): readonly Choice[] => {
  const ofSupport: Choice = ['support', 'Waiting for support'];
  const ofCustomer: Choice = ['customer', `Waiting for ${CUSTOMER_WORDS[reader]}`];
  const unresolved: Choice = ['unresolved', 'Unresolved'];
  const rest: readonly Choice[] = [
    ['resolved', 'Resolved'],
    ['closed', 'Closed'],
    ['all', 'All'],
  ];
  return reader === 'support' ? [ofSupport, ofCustomer, unresolved, ...rest] : [unresolved, ofCustomer, ofSupport, ...rest];
};

/** The query of a list with the filters of an address. `assignee=me` stands for the user's own id. */
export const ticketsQueryOf = (filters: TicketFilters, reader: TicketReader, ownId: string): TicketsQuery => {
  const { state, severity, category, assignee, organization } = filters;
  const [standard] = stateChoices(reader)[0] ?? ['all'];
  const status = STATUSES[state || standard];
  return {
    ...(status && { status: [...status] }),
    ...(severity && { severity: [severity] as TicketsQuery['severity'] }),
    ...(category && { category: [category] as TicketsQuery['category'] }),
    ...(reader === 'support' && assignee && { assignee: assignee === 'me' ? ownId : assignee }),
    ...(reader === 'support' && organization && { organization }),
  };
};
