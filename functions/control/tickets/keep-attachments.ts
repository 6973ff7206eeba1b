import { Conflict, ResourceNotFound } from '../../../shared/http/errors.ts';
import type { AttachedFile, Ticket } from '../../../shared/tickets/ticket.ts';
import { keptKey, pendingKey } from '../../../shared/tickets/ticket-files.ts';
import type { Actor } from '../access/actor.ts';
import type { AnnouncedFile } from './attachments/attachment-store.ts';
import type { OpenTicketDependencies } from './dependencies.ts';
import { audiencesOf } from './ticket-access.ts';
import type { KeptFiles } from './write-message.ts';

type Deps = Pick<OpenTicketDependencies, 'attachments' | 'ticketFiles'>;
const param = 'attachments';

const attachmentUsed = (id: string): Conflict =>
  new Conflict({
    code: 'attachment_used',
    param,
    message: `The file '${id}' is attached to a message already. Create a new upload to attach it again.`,
  });

const notUploaded = (id: string): Conflict =>
  new Conflict({
    code: 'attachment_not_uploaded',
    param,
    message: `The uploaded file '${id}' is missing, or differs from its announced size or type. Upload it with the form that you received, then send the message again. If the form has expired, create a new upload.`,
  });

const announcedFile = async ({ attachments }: Deps, actor: Actor, ticket: Ticket, id: string): Promise<AnnouncedFile> => {
  const file = await attachments.announced(ticket.id, id);
  if (file?.created_by === actor.userId) return file;
  if (!file) for (const audience of audiencesOf(actor)) if (await attachments.attached(ticket.id, audience, id)) throw attachmentUsed(id);
  throw new ResourceNotFound('attachment', id, param);
};

// Copies an uploaded file to where its form can't replace it.
const keepAttachment = async (deps: Deps, actor: Actor, ticket: Ticket, id: string): Promise<AttachedFile> => {
  const { name, content_type, bytes } = await announcedFile(deps, actor, ticket, id);
  const place = { organization: ticket.organization, ticket: ticket.id, attachment: id };
  const isKept = await deps.ticketFiles.keep(pendingKey(place), keptKey(place), { contentType: content_type, bytes });
  if (!isKept) throw notUploaded(id);
  return { id, name, content_type, bytes };
};

/**
 * Stores the files for a message of this user.
 * @throws 404 for files of others and of other tickets; 409 for files that are not uploaded, or attached already
 */
export const keepAttachments = async (deps: Deps, actor: Actor, ticket: Ticket, ids: readonly string[]): Promise<KeptFiles> => {
  const files = await Promise.all(ids.map((id) => keepAttachment(deps, actor, ticket, id)));
  return {
    files,
    toAttach: (message, audience) =>
      files.flatMap((file) => deps.attachments.toAttach(ticket.id, file, message.id, audience, () => attachmentUsed(file.id))),
  };
};
