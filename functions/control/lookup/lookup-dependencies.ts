import type { CreditNoteStore } from '../../../shared/billing/credit-note-store.ts';
import type { ExportStore } from '../../../shared/billing/export-store.ts';
import type { InvoiceStore } from '../../../shared/billing/invoice-store.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import type { UserStore } from '../../../shared/identity/user-store.ts';
import type { ModelStore } from '../../../shared/models/model-store.ts';
import type { WebhookStore } from '../../../shared/notifications/webhook-store.ts';
import type { RequestRowStore } from '../../../shared/observability/request-row-store.ts';
import type { IdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import type { TicketStore } from '../../../shared/tickets/ticket-store.ts';
import type { ApiKeyReads } from '../api-keys/api-key-rights.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import type { ProjectStore } from '../projects/project-store.ts';

export interface LookupDependencies extends ApiKeyReads {
  organizations: Pick<OrganizationStore, 'get' | 'list'>;
  projects: Pick<ProjectStore, 'find'>;
  users: UserStore;
  identityProviders: Pick<IdentityProviderStore, 'find'>;
  deployments: Pick<DeploymentStore, 'find' | 'idOf'>;
  models: Pick<ModelStore, 'get'>;
  invoices: InvoiceStore;
  creditNotes: CreditNoteStore;
  exports: Pick<ExportStore, 'get'>;
  webhooks: Pick<WebhookStore, 'find'>;
  tickets: Pick<TicketStore, 'find'>;
  requestRows: Pick<RequestRowStore, 'get'>;
}
