import type { ReplyBody } from '../../client/routes.ts';
import type { Choice } from '../../design/controls/choice.ts';
import type { Tone } from '../../design/data/tone.ts';

export type Ticket = ReplyBody<'GET /v1/tickets/{id}'>;
export type TicketEntry = ReplyBody<'GET /v1/tickets'>['data'][number];
export type TicketStatus = Ticket['status'];
type Severity = Ticket['severity'];

export const SEVERITIES: readonly Choice<Severity>[] = [
  ['low', 'Low: a question'],
  ['normal', 'Normal: something is wrong'],
  ['high', 'High: much of our work is affected'],
  ['urgent', 'Urgent: nothing works'],
];

export const CATEGORIES: readonly Choice<Ticket['category']>[] = [
  ['api', 'API'],
  ['billing', 'Billing'],
  ['deployment', 'Deployment'],
  ['account', 'Account'],
  ['other', 'Other'],
];

export const SEVERITY_TONES: Readonly<Record<Severity, Tone | undefined>> = {
  low: undefined,
  normal: undefined,
  high: 'warn',
  urgent: 'bad',
};

const STATUS_WORDS: Readonly<Record<Exclude<TicketStatus, 'waiting_on_customer'>, string>> = {
  open: 'open',
  waiting_on_support: 'waiting for support',
  resolved: 'resolved',
  closed: 'closed',
};

/** Those who read tickets. `viewer`: a customer who can't answer. */
export type TicketReader = 'support' | 'customer' | 'viewer';

/** The side that has to answer a ticket that waits for the customer, as each reader calls it. */
export const CUSTOMER_WORDS: Readonly<Record<TicketReader, string>> = {
  support: 'the customer',
  customer: 'you',
  viewer: 'your organization',
};

/** A status as its reader calls it, loud if it is their turn. */
export const statusFor = (status: TicketStatus, reader: TicketReader): { words: string; tone: Tone | undefined } => {
  if (status === 'resolved') return { words: STATUS_WORDS.resolved, tone: 'good' };
  if (status === 'closed') return { words: STATUS_WORDS.closed, tone: undefined };
  const isOwnTurn = reader === (status === 'waiting_on_customer' ? 'customer' : 'support');
  // A newer release can have other statuses.
  const words = status === 'waiting_on_customer' ? `waiting for ${CUSTOMER_WORDS[reader]}` : (STATUS_WORDS[status] ?? status);
  return { words, tone: isOwnTurn ? 'warn' : 'accent' };
};
