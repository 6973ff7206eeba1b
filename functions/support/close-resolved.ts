import { commit } from '../../shared/audit/commit.ts';
import { systemOrigin } from '../../shared/audit/origin.ts';
import { PreconditionFailed } from '../../shared/http/errors.ts';
import { newTimedId } from '../../shared/ids/id.ts';
import { newNotification } from '../../shared/notifications/notification.ts';
import { afterClosing } from '../../shared/tickets/lifecycle.ts';
import type { HistoryLine, Ticket } from '../../shared/tickets/ticket.ts';
import { attemptTicket, type OnFailure } from './attempt-ticket.ts';
import type { SupportDependencies } from './dependencies.ts';

const CLOSED = 'ticket.closed';

// One transaction: a message or a reopening that comes first wins.
const close = async (deps: SupportDependencies, id: string): Promise<boolean> => {
  const nowMs = deps.now();
  const before = await deps.tickets.find(id);
  const after = before && afterClosing(before, nowMs);
  if (!before || !after) return false;
  const { organization, subject, severity, category, status, updated_at } = after;
  const line: HistoryLine = {
    id: newTimedId('event', updated_at),
    action: CLOSED,
    actor: { side: 'support', user: null },
    changes: { status: { from: before.status, to: status } },
    at: nowMs,
  };
  const data = { ticket: id, subject, severity, category, status, by: null };
  const change = {
    action: CLOSED,
    organization,
    target: { type: 'ticket', id },
    before: { status: before.status },
    after: { status },
  };
  try {
    await commit(deps, systemOrigin('support', nowMs), change, [
      ...deps.tickets.toReplace(before, after),
      deps.tickets.toAddHistory(id, line, 'everyone'),
      deps.outbox.toEmit(newNotification({ type: 'sluice.ticket.status_changed.v1', organization, subject: id, at: updated_at, data })),
    ]);
    return true;
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
    return false;
  }
};

const isDue = ({ closes_at }: Pick<Ticket, 'closes_at'>, nowMs: number): boolean => closes_at !== null && closes_at <= nowMs;

/**
 * Closes the resolved tickets that are due. A failure of one does not stop the others.
 * @returns the number of closed ones
 */
export const closeResolved = async (deps: SupportDependencies, onFailure: OnFailure): Promise<number> => {
  let closed = 0;
  for await (const ticket of deps.tickets.ofStatus('resolved')) {
    if (!deps.hasTime()) break;
    if (isDue(ticket, deps.now()) && (await attemptTicket(ticket.id, () => close(deps, ticket.id), onFailure))) closed += 1;
  }
  return closed;
};
