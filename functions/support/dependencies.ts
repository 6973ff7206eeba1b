import type { AuditDependencies } from '../../shared/audit/commit.ts';
import type { Outbox } from '../../shared/notifications/outbox.ts';
import type { TicketStore } from '../../shared/tickets/ticket-store.ts';

export interface SupportDependencies extends AuditDependencies {
  tickets: TicketStore;
  outbox: Outbox;
  /** Deletes the files that a ticket keeps. @returns whether none is left */
  deleteFiles: (ticket: { organization: string; ticket: string }) => Promise<boolean>;
  /** How long a closed ticket is kept. */
  retentionMs: number;
  now: () => number;
  /** Whether there is time for one more ticket. What is left is done at the next time. */
  hasTime: () => boolean;
}
