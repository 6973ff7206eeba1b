import type { Write } from '../../../shared/database/transaction.ts';
import { Conflict, PreconditionFailed } from '../../../shared/http/errors.ts';
import type { Page, PageRequest } from '../../../shared/http/page.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { afterMessage } from '../../../shared/tickets/lifecycle.ts';
import type { AttachedFile, Ticket, TicketMessage } from '../../../shared/tickets/ticket.ts';
import type { Audience } from '../../../shared/tickets/ticket-store.ts';
import type { Actor } from '../access/actor.ts';
import type { TicketDependencies } from './dependencies.ts';
import { inOrder } from './merge-pages.ts';
import { placeInTime, saveTicket, toNotify } from './save-ticket.ts';
import { requireSupport, sideOf, visibleTicket } from './ticket-access.ts';
import { type MessageResource, type NewMessage, toMessageResource } from './ticket-resource.ts';

// Messages of a ticket, and notes.
const MAX_MESSAGES = 1_000;
// A message depends on no version, so it is tried again after another change.
const MAX_COMMIT_ATTEMPTS = 5;

const tooMany = (): Conflict =>
  new Conflict({
    code: 'too_many_messages',
    message: `A ticket can have at most ${MAX_MESSAGES} messages. Open a new ticket and mention this one.`,
  });

/** Stored files for a message. They stay if it is not written. */
export interface KeptFiles {
  files: AttachedFile[];
  /** Moves them to the message, in its transaction. */
  toAttach: (message: TicketMessage, audience: Audience) => Write[];
}
const NO_FILES: KeptFiles = { files: [], toAttach: () => [] };

interface Content extends KeptFiles {
  body: string;
}

const newMessage = (actor: Actor, { body, files }: Content, placeMs: number): TicketMessage => {
  const { nowMs } = actor.origin;
  return {
    id: newTimedId('message', placeMs),
    author: { side: sideOf(actor), user: actor.userId },
    body,
    attachments: files,
    at: nowMs,
  };
};

// The ticket stays as it is.
const writeNote = async (deps: TicketDependencies, actor: Actor, ticket: Ticket, content: Content): Promise<MessageResource> => {
  const { id } = ticket;
  const note = newMessage(actor, content, placeInTime(actor.origin, ticket, ticket));
  await saveTicket(
    deps,
    actor,
    [{ action: 'ticket.note_added', before: ticket, after: ticket, audience: 'support' }],
    [
      deps.tickets.toCountNote(id, MAX_MESSAGES, tooMany),
      deps.tickets.toAddMessage(id, note, 'support'),
      ...content.toAttach(note, 'support'),
    ],
  );
  return toMessageResource(id, note, 'internal', 'support');
};

const afterOneMore = ({ clocks }: TicketDependencies, actor: Actor, before: Ticket): Ticket => {
  const moved = afterMessage(clocks, before, sideOf(actor), actor.origin.nowMs);
  if (before.message_count >= MAX_MESSAGES) throw tooMany();
  return { ...moved, message_count: before.message_count + 1 };
};

const writePublic = async (deps: TicketDependencies, actor: Actor, before: Ticket, content: Content): Promise<MessageResource> => {
  const { id } = before;
  const after = afterOneMore(deps, actor, before);
  const message = newMessage(actor, content, placeInTime(actor.origin, before, after));
  await saveTicket(
    deps,
    actor,
    [{ action: 'ticket.message_added', before, after, audience: 'everyone' }],
    [
      ...deps.tickets.toReplace(before, after),
      deps.tickets.toAddMessage(id, message, 'everyone'),
      ...content.toAttach(message, 'everyone'),
      toNotify(deps, 'sluice.ticket.message_added.v1', actor, after, message),
    ],
  );
  return toMessageResource(id, message, 'public', sideOf(actor));
};

/**
 * Writes a message, which makes it the other side's turn, or a note.
 * @param keepFiles stores its files; called once it is known that the ticket takes a message
 * @throws 403, 404, 409, 412 if others changed the ticket during each attempt
 */
export const writeMessage = async (
  deps: TicketDependencies,
  actor: Actor,
  id: string,
  { body, visibility }: Pick<NewMessage, 'body' | 'visibility'>,
  keepFiles: (ticket: Ticket) => Promise<KeptFiles> = async () => NO_FILES,
): Promise<MessageResource> => {
  const isNote = visibility === 'internal';
  if (isNote) requireSupport(actor, 'visibility');
  let ticket = await visibleTicket(deps, actor, id);
  if (!isNote) afterOneMore(deps, actor, ticket);
  const content = { body, ...(await keepFiles(ticket)) };
  if (isNote) return writeNote(deps, actor, ticket, content);
  for (let tries = 1; ; tries++) {
    try {
      return await writePublic(deps, actor, ticket, content);
    } catch (error) {
      if (!(error instanceof PreconditionFailed) || tries === MAX_COMMIT_ATTEMPTS) throw error;
      ticket = await visibleTicket(deps, actor, id);
    }
  }
};

/** Lists a ticket's messages, oldest first. Support's has the notes among them. @throws 404 */
export const listMessages = async (
  deps: Pick<TicketDependencies, 'tickets'>,
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
