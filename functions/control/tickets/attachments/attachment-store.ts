import * as z from 'zod';
import type { RecordTable } from '../../../../shared/database/record-table.ts';
import type { Write } from '../../../../shared/database/transaction.ts';
import { AttachedFile, Side } from '../../../../shared/tickets/ticket.ts';
import type { Audience } from '../../../../shared/tickets/ticket-store.ts';

/** An announced file that no message names yet. */
export const AnnouncedFile = AttachedFile.extend({
  side: Side,
  created_by: z.string(),
  created_at: z.int(),
  version: z.literal(1),
});
export type AnnouncedFile = z.infer<typeof AnnouncedFile>;

const ANNOUNCED = 'upload#';
// Files of notes have keys of their own, so that no read for a customer finds them.
const ATTACHED: Record<Audience, string> = { everyone: 'file#', support: 'staff-file#' };

/**
 * Attachments in the table `tickets`, in the partitions of their tickets. A file is announced, and moves once to the
 * message that names it.
 */
export const createAttachmentStore = (table: RecordTable) => ({
  /** Announces a file, and counts it among those of its side. */
  toAnnounce: (ticket: string, file: AnnouncedFile, max: number, refused: () => Error): Write[] => [
    table.toCount({ account: ticket, record: `uploads#${file.side}` }, 1, max, refused),
    table.toCreate({ account: ticket, record: ANNOUNCED + file.id }, file, () => new Error(`${file.id} already exists.`)),
  ],

  announced: async (ticket: string, id: string): Promise<AnnouncedFile | undefined> => {
    const row = await table.get({ account: ticket, record: ANNOUNCED + id });
    return row && AnnouncedFile.parse(row);
  },

  /** Moves a file to a message. @param refused the error if another message has it already */
  toAttach: (ticket: string, file: AttachedFile, message: string, audience: Audience, refused: () => Error): Write[] => [
    { ...table.toDelete({ account: ticket, record: ANNOUNCED + file.id }, 1), refused },
    table.toCreate({ account: ticket, record: ATTACHED[audience] + file.id }, { ...file, message }, refused),
  ],

  attached: async (ticket: string, audience: Audience, id: string): Promise<AttachedFile | undefined> => {
    const row = await table.get({ account: ticket, record: ATTACHED[audience] + id });
    return row && AttachedFile.parse(row);
  },
});

export type AttachmentStore = ReturnType<typeof createAttachmentStore>;
