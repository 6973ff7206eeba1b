import { isDeepStrictEqual } from 'node:util';
import { permissionsOf } from '../../../shared/hosts/permissions.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { afterReopening, afterUpdate } from '../../../shared/tickets/lifecycle.ts';
import type { Ticket } from '../../../shared/tickets/ticket.ts';
import type { Actor } from '../access/actor.ts';
import type { TicketDependencies } from './dependencies.ts';
import { saveTicket, type TicketChange, toNotify } from './save-ticket.ts';
import { requireSupport, sideOf, visibleTicket } from './ticket-access.ts';
import { type TicketResource, type TicketUpdate, toTicketResource } from './ticket-resource.ts';

type Expected = readonly number[] | undefined;

const checkAssignee = async ({ users }: Pick<TicketDependencies, 'users'>, assignee: string | null | undefined): Promise<void> => {
  if (assignee === null || assignee === undefined) return;
  const user = await users.get(assignee);
  if (user?.status !== 'active' || !permissionsOf(user.role).has('tickets:answer'))
    throw new InvalidValue('assignee', "expected the id of an active user with the role 'support' or 'admin'");
};

const save = async (
  deps: TicketDependencies,
  actor: Actor,
  before: Ticket,
  after: Ticket,
  changes: readonly TicketChange[],
): Promise<TicketResource> => {
  const isMoved = after.status !== before.status;
  await saveTicket(deps, actor, changes, [
    ...deps.tickets.toReplace(before, after),
    ...(isMoved ? [toNotify(deps, 'sluice.ticket.status_changed.v1', actor, after)] : []),
  ]);
  return toTicketResource({ ...after, version: before.version + 1 }, sideOf(actor), actor.origin.nowMs);
};

// A status that is set again can count as support's first answer.
const isSame = (before: Ticket, after: Ticket): boolean => isDeepStrictEqual({ ...after, updated_at: before.updated_at }, before);

/**
 * Changes a ticket; absent fields keep their values. An update that changes nothing leaves the ticket where it is in
 * lists, and its history as it is.
 * @throws 400, 403, 404, 409, 412
 */
export const updateTicket = async (
  deps: TicketDependencies,
  actor: Actor,
  id: string,
  { assignee, ...fields }: TicketUpdate,
  expected?: Expected,
): Promise<TicketResource> => {
  const before = checkVersion(await visibleTicket(deps, actor, id), expected);
  if (assignee !== undefined) requireSupport(actor, 'assignee');
  await checkAssignee(deps, assignee);
  const moved = afterUpdate(deps.clocks, before, sideOf(actor), fields, actor.origin.nowMs);
  const after = { ...moved, assignee: assignee === undefined ? before.assignee : assignee };
  if (isSame(before, after)) return toTicketResource(before, sideOf(actor), actor.origin.nowMs);
  const isPublic = Object.values(fields).some((value) => value !== undefined);
  return save(deps, actor, before, after, [
    ...(isPublic ? [{ action: 'ticket.updated', before, after, audience: 'everyone' } as const] : []),
    ...(after.assignee !== before.assignee ? [{ action: 'ticket.assigned', before, after, audience: 'support' } as const] : []),
  ]);
};

/** Reopens a resolved or closed ticket, which makes it support's turn. @throws 404, 409, 412 */
export const reopenTicket = async (deps: TicketDependencies, actor: Actor, id: string, expected?: Expected): Promise<TicketResource> => {
  const before = checkVersion(await visibleTicket(deps, actor, id), expected);
  const after = afterReopening(deps.clocks, before, actor.origin.nowMs);
  return save(deps, actor, before, after, [{ action: 'ticket.reopened', before, after, audience: 'everyone' }]);
};
