/**
 * Files that were uploaded, and that no message names yet. Whoever has the form of an upload can replace its file, so
 * nobody can download these.
 */
export const PENDING_FILES = 'pending/';
/** Files of messages. No form uploads to here. */
export const KEPT_FILES = 'kept/';

/** An attachment of a ticket. */
export interface TicketFile {
  organization: string;
  ticket: string;
  attachment: string;
}

/** The keys of all files of an organization's tickets begin with one of these. */
export const ticketFilePrefixes = (organization: string): string[] =>
  [PENDING_FILES, KEPT_FILES].map((folder) => `${folder}${organization}/`);

/** The keys of all files that a ticket keeps begin with this. */
export const keptPrefix = ({ organization, ticket }: Omit<TicketFile, 'attachment'>): string => `${KEPT_FILES}${organization}/${ticket}/`;

export const keptKey = (file: TicketFile): string => keptPrefix(file) + file.attachment;

export const pendingKey = ({ organization, ticket, attachment }: TicketFile): string =>
  `${PENDING_FILES}${organization}/${ticket}/${attachment}`;
