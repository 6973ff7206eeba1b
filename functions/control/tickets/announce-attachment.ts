import { transact } from '../../../shared/database/transaction.ts';
import { ApiError, Conflict } from '../../../shared/http/errors.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { requireNotClosed } from '../../../shared/tickets/lifecycle.ts';
import { pendingKey } from '../../../shared/tickets/ticket-files.ts';
import { HOUR_MS, SECOND_MS, unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import { CALL_LIMITS } from '../access/call-limits.ts';
import type { NewAttachment, UploadResource } from './attachments/attachment-resource.ts';
import { UPLOAD_SECONDS } from './attachments/ticket-files.ts';
import type { OpenTicketDependencies } from './dependencies.ts';
import { sideOf, visibleTicket } from './ticket-access.ts';

// For the users of an organization together, and for each user of support.
const { max: MAX_AN_HOUR } = CALL_LIMITS.ticket_attachments.bounds[0];
// For each side of a ticket, with the files that no message names.
const MAX_OF_TICKET = 200;

class TooManyAttachments extends ApiError {
  constructor(nowMs: number) {
    super({
      status: 429,
      type: 'requests',
      code: 'too_many_attachments',
      message: `You can attach at most ${MAX_AN_HOUR} files an hour. Put several files into one archive, or try again later.`,
      headers: { 'retry-after': String(Math.ceil((HOUR_MS - (nowMs % HOUR_MS)) / SECOND_MS)) },
    });
  }
}

const ticketIsFull = (): Conflict =>
  new Conflict({
    code: 'too_many_attachments',
    message: `A ticket can have at most ${MAX_OF_TICKET} attachments. Open a new ticket and mention this one.`,
  });

/** Announces a file, which its user can then upload and attach to a message. @throws 400, 404, 409, 429 */
export const announceAttachment = async (
  deps: OpenTicketDependencies,
  actor: Actor,
  id: string,
  { name, content_type, bytes }: NewAttachment,
): Promise<UploadResource> => {
  const ticket = await visibleTicket(deps, actor, id);
  const { nowMs } = actor.origin;
  requireNotClosed(ticket, nowMs);
  const side = sideOf(actor);
  const attachment = newTimedId('attachment', nowMs);
  const file = { id: attachment, name, content_type, bytes, side, created_by: actor.userId, created_at: nowMs, version: 1 } as const;
  const account = actor.organization ?? actor.userId;
  await transact(deps.database, [
    ...deps.users.toCheckActor(actor),
    deps.quotas.toCount({ kind: 'attachment', span: 'hour', account, max: MAX_AN_HOUR }, nowMs, () => new TooManyAttachments(nowMs)),
    ...deps.attachments.toAnnounce(id, file, MAX_OF_TICKET, ticketIsFull),
  ]);
  const key = pendingKey({ organization: ticket.organization, ticket: id, attachment });
  const form = await deps.ticketFiles.signUpload(key, { contentType: content_type, bytes }, nowMs);
  return { object: 'ticket.upload', id: attachment, ...form, expires_at: unixSeconds(nowMs) + UPLOAD_SECONDS };
};
