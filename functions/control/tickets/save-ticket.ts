import { type AuditedChange, commit } from '../../../shared/audit/commit.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { type NotificationType, newNotification } from '../../../shared/notifications/notification.ts';
import type { HistoryLine, Ticket, TicketMessage } from '../../../shared/tickets/ticket.ts';
import type { Audience } from '../../../shared/tickets/ticket-store.ts';
import type { Actor } from '../access/actor.ts';
import type { TicketDependencies } from './dependencies.ts';
import { sideOf } from './ticket-access.ts';

// Organizations don't see the assignee.
const RECORDED: Record<Audience, readonly (keyof Ticket)[]> = {
  everyone: ['subject', 'severity', 'category', 'status', 'evidence'],
  support: ['assignee'],
};

const recorded = (ticket: Ticket, audience: Audience): Record<string, unknown> =>
  Object.fromEntries(RECORDED[audience].map((field) => [field, ticket[field]]));

/** A change of a ticket, or a message that changes nothing else. */
export interface TicketChange {
  /** Such as `ticket.updated`. */
  action: string;
  before?: Ticket;
  after: Ticket;
  audience: Audience;
}

/**
 * Returns the time in the id of an entry, by which entries are sorted: that of the change, which is later than the one
 * before it even if clocks differ. A note changes nothing, so it comes right after the last change.
 */
export const placeInTime = ({ nowMs }: Actor['origin'], before: Ticket | undefined, after: Ticket): number =>
  before?.updated_at === after.updated_at ? Math.max(nowMs, after.updated_at + 1) : after.updated_at;

const lineOf = (actor: Actor, { action, before, after, audience }: TicketChange): HistoryLine => {
  const { nowMs } = actor.origin;
  const [from, to] = [before ? recorded(before, audience) : {}, recorded(after, audience)];
  const changed = Object.keys(to).filter((field) => JSON.stringify(from[field]) !== JSON.stringify(to[field]));
  return {
    id: newTimedId('event', placeInTime(actor.origin, before, after)),
    action,
    actor: { side: sideOf(actor), user: actor.userId },
    changes: Object.fromEntries(changed.map((field) => [field, { from: from[field] ?? null, to: to[field] ?? null }])),
    at: nowMs,
  };
};

// Without texts of the ticket, which are deleted with it. An organization does not see changes that only concern
// support.
const auditedChange = ({ action, before, after, audience }: TicketChange): AuditedChange => ({
  action,
  organization: audience === 'everyone' ? after.organization : null,
  target: { type: 'ticket', id: after.id },
  ...(before && { before: recorded(before, audience) }),
  after: recorded(after, audience),
  texts: ['subject'],
});

/**
 * Saves changes of a ticket with their lines in its history and their entries in the audit log, in one transaction.
 * @throws 403, 409, 412
 */
export const saveTicket = (
  deps: TicketDependencies,
  actor: Actor,
  changes: readonly TicketChange[],
  writes: readonly Write[],
): Promise<void> =>
  commit(deps, actor.origin, changes.map(auditedChange), [
    ...deps.users.toCheckActor(actor),
    ...writes,
    // All changes of one transaction have the ticket before it and after it.
    ...changes.slice(0, 1).flatMap(({ before, after }) => deps.tickets.toCountUnresolved(before, after)),
    ...changes.map((change) => deps.tickets.toAddHistory(change.after.id, lineOf(actor, change), change.audience)),
  ]);

/**
 * Plans the notification of the organization's webhooks and of the person who waits for an answer. Notes are never
 * notified of.
 */
export const toNotify = (
  { outbox }: Pick<TicketDependencies, 'outbox'>,
  type: NotificationType,
  actor: Actor,
  ticket: Ticket,
  message?: TicketMessage,
): Write => {
  const { id, organization, subject, severity, category, status } = ticket;
  const data = {
    ticket: id,
    subject,
    severity,
    category,
    status,
    by: sideOf(actor),
    ...(message && { message: message.id, body: message.body }),
  };
  return outbox.toEmit(
    newNotification({ type, organization, subject: id, at: ticket.updated_at, data, recipient: ticket.email, user: ticket.created_by }),
  );
};
