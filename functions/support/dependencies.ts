import type { AuditDependencies } from '../../shared/audit/commit.ts';
import type { Outbox } from '../../shared/notifications/outbox.ts';
import type { TicketStore } from '../../shared/tickets/ticket-store.ts';

export interface SupportDependencies extends AuditDependencies {
  tickets: TicketStore;
  outbox: Outbox;
  /** Deletes the stored files of a ticket. @returns true if none is left */
  deleteFiles: (ticket: { organization: string; ticket: string }) => Promise<boolean>;
  /** How long a closed ticket is kept. */
  retentionMs: number;
  now: () => number;
  /** Returns false if there is no time for one more ticket. The next run does the rest. */
  hasTime: () => boolean;
}
