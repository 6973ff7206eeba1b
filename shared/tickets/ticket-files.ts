/**
 * Uploaded files that no message names yet. Anyone who has the form of an upload can replace its file, so nobody can
 * download these.
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

/** Returns the prefixes of the keys of all files of an organization's tickets. */
export const ticketFilePrefixes = (organization: string): string[] =>
  [PENDING_FILES, KEPT_FILES].map((folder) => `${folder}${organization}/`);

/** Returns the prefix of the keys of all stored files of a ticket. */
export const keptPrefix = ({ organization, ticket }: Omit<TicketFile, 'attachment'>): string => `${KEPT_FILES}${organization}/${ticket}/`;

export const keptKey = (file: TicketFile): string => keptPrefix(file) + file.attachment;

export const pendingKey = ({ organization, ticket, attachment }: TicketFile): string =>
  `${PENDING_FILES}${organization}/${ticket}/${attachment}`;
