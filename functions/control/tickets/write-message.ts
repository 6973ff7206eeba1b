import { Conflict, PreconditionFailed } from '../../../shared/http/errors.ts';
import type { Page, PageRequest } from '../../../shared/http/page.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { afterMessage } from '../../../shared/tickets/lifecycle.ts';
import type { Message } from '../../../shared/tickets/ticket.ts';
import type { Audience } from '../../../shared/tickets/ticket-store.ts';
import type { Actor } from '../access/actor.ts';
import type { DeskDependencies } from './dependencies.ts';
import { inOrder } from './merge-pages.ts';
import { placeInTime, saveTicket, toNotify } from './save-ticket.ts';
import { requireSupport, sideOf, visibleTicket } from './ticket-access.ts';
import { type MessageResource, type NewMessage, toMessageResource } from './ticket-resource.ts';

/** Messages of a ticket, and notes. */
const MAX_MESSAGES = 1_000;
/** A message depends on no version, so it is tried again after another change. */
const MAX_TRIES = 5;

const tooMany = (): Conflict =>
  new Conflict({
    code: 'too_many_messages',
    message: `A ticket can have ${MAX_MESSAGES} messages. Open a new one, and name this one in it.`,
  });

/** @param placeMs the time in its id */
const newMessage = (actor: Actor, { body }: NewMessage, placeMs: number): Message => {
  const { nowMs } = actor.origin;
  return {
    id: newTimedId('message', placeMs),
    author: { side: sideOf(actor), user: actor.userId },
    body,
    attachments: [],
    at: nowMs,
  };
};

/** Writes a note, which only support can read. The ticket stays as it is. */
const writeNote = async (deps: DeskDependencies, actor: Actor, id: string, body: NewMessage): Promise<MessageResource> => {
  requireSupport(actor, 'visibility');
  const ticket = await visibleTicket(deps, actor, id);
  const note = newMessage(actor, body, placeInTime(actor.origin, ticket, ticket));
  await saveTicket(
    deps,
    actor,
    [{ action: 'ticket.note_added', before: ticket, after: ticket, audience: 'support' }],
    [deps.tickets.toCountNote(id, MAX_MESSAGES, tooMany), deps.tickets.toAddMessage(id, note, 'support')],
  );
  return toMessageResource(id, note, 'internal', 'support');
};

const writePublic = async (deps: DeskDependencies, actor: Actor, id: string, body: NewMessage): Promise<MessageResource> => {
  const { nowMs } = actor.origin;
  const side = sideOf(actor);
  const before = await visibleTicket(deps, actor, id);
  const moved = afterMessage(deps.clocks, before, side, nowMs);
  if (before.message_count >= MAX_MESSAGES) throw tooMany();
  const after = { ...moved, message_count: before.message_count + 1 };
  const message = newMessage(actor, body, placeInTime(actor.origin, before, after));
  await saveTicket(
    deps,
    actor,
    [{ action: 'ticket.message_added', before, after, audience: 'everyone' }],
    [
      ...deps.tickets.toReplace(before, after),
      deps.tickets.toAddMessage(id, message, 'everyone'),
      toNotify(deps, 'sluice.ticket.message_added.v1', actor, after, message),
    ],
  );
  return toMessageResource(id, message, 'public', side);
};

/** Writes a message, which makes it the other side's turn, or a note. @throws 403, 404, 409 */
export const writeMessage = async (deps: DeskDependencies, actor: Actor, id: string, body: NewMessage): Promise<MessageResource> => {
  if (body.visibility === 'internal') return writeNote(deps, actor, id, body);
  for (let tries = 1; ; tries++) {
    try {
      return await writePublic(deps, actor, id, body);
    } catch (error) {
      if (!(error instanceof PreconditionFailed) || tries === MAX_TRIES) throw error;
    }
  }
};

/** A page of messages, oldest first. Support's has the notes among them. @throws 404 */
export const listMessages = async (
  deps: Pick<DeskDependencies, 'tickets'>,
  actor: Actor,
  id: string,
  page: PageRequest,
): Promise<Page<MessageResource>> => {
  await visibleTicket(deps, actor, id);
  const side = sideOf(actor);
  const of = async (audience: Audience, visibility: MessageResource['visibility']) => {
    const { entries, hasMore } = await deps.tickets.messages(id, audience, page);
    return { entries: entries.map((message) => toMessageResource(id, message, visibility, side)), hasMore };
  };
  const lists = [await of('everyone', 'public'), ...(side === 'support' ? [await of('support', 'internal')] : [])];
  const { entries, ...rest } = inOrder(lists, page.limit);
  return { object: 'list', data: entries, ...rest };
};
