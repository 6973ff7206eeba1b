import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { keptKey } from '../../../shared/tickets/ticket-files.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import type { AttachmentResource } from './attachments/attachment-resource.ts';
import { DOWNLOAD_SECONDS } from './attachments/ticket-files.ts';
import type { OpenTicketDependencies } from './dependencies.ts';
import { audiencesOf, visibleTicket } from './ticket-access.ts';

/** Returns a file of a message, or for support of a note, with a URL to download it from. @throws 404 */
export const retrieveAttachment = async (
  deps: Pick<OpenTicketDependencies, 'tickets' | 'attachments' | 'ticketFiles'>,
  actor: Actor,
  id: string,
  attachment: string,
): Promise<AttachmentResource> => {
  const { organization } = await visibleTicket(deps, actor, id);
  const { nowMs } = actor.origin;
  for (const audience of audiencesOf(actor)) {
    const file = await deps.attachments.attached(id, audience, attachment);
    if (!file) continue;
    const url = await deps.ticketFiles.signDownload(keptKey({ organization, ticket: id, attachment }), file.name, nowMs);
    return { object: 'ticket.attachment', ...file, url, expires_at: unixSeconds(nowMs) + DOWNLOAD_SECONDS };
  }
  throw new ResourceNotFound('attachment', attachment);
};
