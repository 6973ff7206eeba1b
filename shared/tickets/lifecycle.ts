import { Conflict, Forbidden } from '../http/errors.ts';
import { DAY_MS } from '../time/units.ts';
import type { Clocks } from './clocks.ts';
import type { Severity, Side, Ticket, TicketStatus } from './ticket.ts';

// How long a resolved ticket stays open for an answer.
const CLOSE_AFTER_MS = 7 * DAY_MS;
// How long a closed ticket can be reopened.
const REOPEN_WITHIN_MS = 30 * DAY_MS;

/**
 * Returns the status at a time. A resolved ticket closes at `closes_at`, even if the schedule has not written that yet,
 * so that no answer depends on when the schedule runs.
 */
export const statusAt = ({ status, closes_at }: Pick<Ticket, 'status' | 'closes_at'>, nowMs: number): TicketStatus =>
  status === 'resolved' && closes_at !== null && closes_at <= nowMs ? 'closed' : status;

/** Rejects changes of a closed ticket. @throws 409 */
export const requireNotClosed = (ticket: Ticket, nowMs: number): void => {
  if (statusAt(ticket, nowMs) === 'closed')
    throw new Conflict({
      code: 'ticket_closed',
      message: `This ticket is closed. Reopen it within ${REOPEN_WITHIN_MS / DAY_MS} days of its closing, or open a new one.`,
    });
};

interface Moved {
  status: TicketStatus;
  severity?: Severity;
  /** Set if support answers with it. */
  isAnswered?: boolean;
}

// `updated_at` grows, so that lists have an order even if clocks differ.
const moved = (
  clocks: Clocks,
  before: Ticket,
  { status, severity = before.severity, isAnswered = false }: Moved,
  nowMs: number,
): Ticket => ({
  ...before,
  status,
  severity,
  updated_at: Math.max(nowMs, before.updated_at + 1),
  closes_at: status !== 'resolved' ? null : before.status === 'resolved' ? before.closes_at : nowMs + CLOSE_AFTER_MS,
  clocks: clocks.change(before, { status, severity }, isAnswered, nowMs),
});

const reopened = (clocks: Clocks, ticket: Ticket, nowMs: number): Ticket => ({
  ...moved(clocks, ticket, { status: 'waiting_on_support' }, nowMs),
  clocks: clocks.restart(ticket, nowMs),
});

/**
 * Returns the ticket after a message: it is the other side's turn, except that a message of support leaves a resolved
 * ticket resolved. A customer's message reopens it.
 * @throws 409
 */
export const afterMessage = (clocks: Clocks, ticket: Ticket, side: Side, nowMs: number): Ticket => {
  requireNotClosed(ticket, nowMs);
  if (side === 'customer')
    return ticket.status === 'resolved' ? reopened(clocks, ticket, nowMs) : moved(clocks, ticket, { status: 'waiting_on_support' }, nowMs);
  const status = ticket.status === 'resolved' ? 'resolved' : 'waiting_on_customer';
  return moved(clocks, ticket, { status, isAnswered: true }, nowMs);
};

// Nobody sets `open` and `closed`: a ticket is opened once, and time closes it.
const SETTABLE: Readonly<Record<Side, readonly TicketStatus[]>> = {
  customer: ['resolved'],
  support: ['waiting_on_support', 'waiting_on_customer', 'resolved'],
};

interface Update {
  status?: TicketStatus | undefined;
  severity?: Severity | undefined;
  subject?: string | undefined;
}

/**
 * Returns the ticket after a change of status, severity or subject.
 * @throws 403 for a status that the side can't set; 409
 */
export const afterUpdate = (
  clocks: Clocks,
  ticket: Ticket,
  side: Side,
  { status: wanted, severity, subject = ticket.subject }: Update,
  nowMs: number,
): Ticket => {
  requireNotClosed(ticket, nowMs);
  const status = wanted ?? ticket.status;
  if (status !== ticket.status && !SETTABLE[side].includes(status))
    throw new Forbidden({
      code: 'status_not_settable',
      param: 'status',
      message: `You can't set this status. Set one of these: ${SETTABLE[side].join(', ')}. Other statuses are set automatically.`,
    });
  const isAnswered = side === 'support' && wanted === 'resolved';
  return { ...moved(clocks, ticket, { status, isAnswered, ...(severity && { severity }) }, nowMs), subject };
};

/**
 * Returns a resolved or closed ticket as support's turn again.
 * @throws 409 for any other, and for one that closed too long ago
 */
export const afterReopening = (clocks: Clocks, ticket: Ticket, nowMs: number): Ticket => {
  if (ticket.closes_at === null)
    throw new Conflict({ code: 'ticket_not_resolved', message: 'Only resolved or closed tickets can be reopened. Add a message instead.' });
  if (ticket.closes_at + REOPEN_WITHIN_MS <= nowMs)
    throw new Conflict({
      code: 'ticket_closed_for_good',
      message: `This ticket closed more than ${REOPEN_WITHIN_MS / DAY_MS} days ago. Open a new ticket and mention this one.`,
    });
  return reopened(clocks, ticket, nowMs);
};

/** Returns a resolved ticket as closed, if it is due; otherwise undefined. */
export const afterClosing = (ticket: Ticket, nowMs: number): Ticket | undefined =>
  ticket.status === 'resolved' && statusAt(ticket, nowMs) === 'closed'
    ? { ...ticket, status: 'closed', updated_at: Math.max(nowMs, ticket.updated_at + 1) }
    : undefined;
