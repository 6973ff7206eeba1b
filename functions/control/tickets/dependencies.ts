import type { AuditDependencies } from '../../../shared/audit/commit.ts';
import type { AttemptStore } from '../../../shared/identity/attempt-store.ts';
import type { UserStore } from '../../../shared/identity/user-store.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import type { Clocks } from '../../../shared/tickets/clocks.ts';
import type { TicketStore } from '../../../shared/tickets/ticket-store.ts';
import type { ActorChecks } from '../access/actor.ts';
import type { AttachmentStore } from './attachments/attachment-store.ts';
import type { TicketFiles } from './attachments/ticket-files.ts';
import type { EvidenceReads } from './evidence/can-see-evidence.ts';
import type { EvidenceDependencies } from './evidence/collect-evidence.ts';

export interface DeskDependencies extends AuditDependencies, EvidenceReads {
  tickets: TicketStore;
  clocks: Clocks;
  outbox: Outbox;
  users: ActorChecks & Pick<UserStore, 'get'>;
}

export interface TicketDependencies extends DeskDependencies, EvidenceDependencies {
  attachments: AttachmentStore;
  ticketFiles: TicketFiles;
  attempts: Pick<AttemptStore, 'toCountInSpan'>;
}
