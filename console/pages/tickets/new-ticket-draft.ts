import type { RequestBody } from '../../client/routes.ts';
import type { Ticket } from './ticket-words.ts';

/** The fields of a new ticket as its form has them. */
export interface NewTicketDraft {
  subject: string;
  body: string;
  severity: Ticket['severity'];
  category: Ticket['category'];
  /** Ids with spaces or commas between them. */
  requests: string;
  deployment: string;
  invoice: string;
}

/** A new ticket about what an address names. */
export const draftAbout = ({
  request,
  deployment,
  invoice,
}: Readonly<Record<'request' | 'deployment' | 'invoice', string>>): NewTicketDraft => ({
  subject: '',
  body: '',
  severity: 'normal',
  category: request ? 'api' : deployment ? 'deployment' : invoice ? 'billing' : 'other',
  requests: request,
  deployment,
  invoice,
});

/** The ids of a text, each once. */
export const idsIn = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter(Boolean))];

const MOST_REQUESTS = 20;

/** Why the ids of requests can't be sent; undefined: they can. */
export const faultOfRequests = (text: string): string | undefined =>
  idsIn(text).length > MOST_REQUESTS ? `Name at most ${MOST_REQUESTS} requests.` : undefined;

/** The text with an id added, or without it if it is there. */
export const toggled = (text: string, id: string): string => {
  const ids = idsIn(text);
  return (ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]).join(' ');
};

/** The body that opens a ticket. */
export const newTicketOf = ({ requests, deployment, invoice, ...fields }: NewTicketDraft): RequestBody<'POST /v1/tickets'> => ({
  ...fields,
  ...(idsIn(requests).length > 0 && { request_ids: idsIn(requests) }),
  ...(deployment.trim() && { deployment: deployment.trim() }),
  ...(invoice.trim() && { invoice: invoice.trim() }),
});
