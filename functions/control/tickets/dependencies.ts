import type { AuditDependencies } from '../../../shared/audit/commit.ts';
import type { UserStore } from '../../../shared/identity/user-store.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import type { QuotaStore } from '../../../shared/quotas/quota-store.ts';
import type { Clocks } from '../../../shared/tickets/clocks.ts';
import type { TicketStore } from '../../../shared/tickets/ticket-store.ts';
import type { ActorChecks } from '../access/actor.ts';
import type { AttachmentStore } from './attachments/attachment-store.ts';
import type { TicketFiles } from './attachments/ticket-files.ts';
import type { EvidenceReads } from './evidence/can-see-evidence.ts';
import type { EvidenceDependencies } from './evidence/collect-evidence.ts';

export interface TicketDependencies extends AuditDependencies, EvidenceReads {
  tickets: TicketStore;
  clocks: Clocks;
  outbox: Outbox;
  users: ActorChecks & Pick<UserStore, 'get'>;
}

export interface OpenTicketDependencies extends TicketDependencies, EvidenceDependencies {
  attachments: AttachmentStore;
  ticketFiles: TicketFiles;
  quotas: Pick<QuotaStore, 'toCount'>;
}
