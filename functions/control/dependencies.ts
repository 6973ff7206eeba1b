import type { LimiterConfigurationStore } from '../../shared/admission/stores/limiter-configuration-store.ts';
import type { AuditStore } from '../../shared/audit/audit-store.ts';
import type { CreditStore } from '../../shared/credit/credit-store.ts';
import type { Database } from '../../shared/database/database.ts';
import type { BenchmarkStore } from '../../shared/deployments/benchmark-store.ts';
import type { DeploymentStore } from '../../shared/deployments/deployment-store.ts';
import type { ShadowStore } from '../../shared/deployments/shadow-store.ts';
import type { RuleStore } from '../../shared/federation/rule-store.ts';
import type { SignInEvents } from '../../shared/federation/sign-in-events.ts';
import type { LoginAttempts } from '../../shared/identity/login-attempts.ts';
import type { SessionStore } from '../../shared/identity/session-store.ts';
import type { UserPool } from '../../shared/identity/user-pool.ts';
import type { UserStore } from '../../shared/identity/user-store.ts';
import type { AliasStore } from '../../shared/models/alias-store.ts';
import type { ModelStore } from '../../shared/models/model-store.ts';
import type { RefusalStore } from '../../shared/observability/refusal-store.ts';
import type { RequestRowStore } from '../../shared/observability/request-row-store.ts';
import type { PayloadLogStore } from '../../shared/payload-log/settings-store.ts';
import type { QuotaStore } from '../../shared/quotas/quota-store.ts';
import type { ServiceAccountStore } from '../../shared/service-accounts/service-account-store.ts';
import type { IdentityProviderStore } from '../../shared/single-sign-on/identity-provider-store.ts';
import type { DeploymentDayStore } from '../../shared/usage/deployment-day-store.ts';
import type { GpuEventStore } from '../../shared/usage/gpu-event-store.ts';
import type { OrganizationTotalsStore } from '../../shared/usage/organization-totals-store.ts';
import type { RollupStore } from '../../shared/usage/rollup-store.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';
import type { CallCounter } from './access/count-call.ts';
import type { RouteDependencies } from './access/route.ts';
import type { ApiKeyStore } from './api-keys/api-key-store.ts';
import type { BillingRouteDependencies } from './billing/dependencies.ts';
import type { CreateDependencies } from './deployments/create-deployment.ts';
import type { ListDependencies } from './deployments/find-deployment.ts';
import type { IdentityProviderDependencies } from './identity-providers/dependencies.ts';
import type { CheckModel } from './model-registry/check-targets.ts';
import type { ReadObject } from './observability/payload-log/read-object.ts';
import type { OrganizationStore } from './organizations/organization-store.ts';
import type { ProjectStore } from './projects/project-store.ts';
import type { ScimDependencies } from './scim/dependencies.ts';
import type { ScimTokenDependencies } from './scim/manage-tokens.ts';
import type { SignedInUser } from './sessions/authenticate.ts';
import type { OpenTicketDependencies } from './tickets/dependencies.ts';
import type { WebhookDependencies } from './webhooks/manage-webhooks.ts';

type WebhookStores = Pick<WebhookDependencies, 'webhooks' | 'deliveries' | 'outbox' | 'networks'>;

type DeploymentDependencies = Pick<
  CreateDependencies,
  'deployments' | 'catalogue' | 'startTimes' | 'modelSources' | 'region' | 'holdStartCredit' | 'validate' | 'reconcile' | 'tokenizer'
>;

type AllDeployments = Pick<ListDependencies, 'liveDeployments'>;

type IdentityProviderParts = Pick<
  IdentityProviderDependencies,
  | 'identityProviders'
  | 'identityProviderEvents'
  | 'clientSecrets'
  | 'identityLinks'
  | 'ssoLogins'
  | 'discover'
  | 'resolveTxt'
  | 'controlUrl'
>;

export interface ControlDependencies
  extends RouteDependencies<SignedInUser>,
    Pick<ScimDependencies, 'scim'>,
    Pick<ScimTokenDependencies, 'scimTokens'>,
    DeploymentDependencies,
    AllDeployments,
    WebhookStores,
    IdentityProviderParts,
    BillingRouteDependencies {
  database: Database;
  audit: AuditStore;
  organizations: OrganizationStore;
  /** The name of an organization. @throws 404 */
  nameOf: (organization: string) => Promise<string>;
  users: UserStore;
  sessions: SessionStore;
  serviceAccounts: ServiceAccountStore;
  identityProviders: IdentityProviderStore;
  rules: RuleStore;
  signInEvents: SignInEvents;
  apiKeys: ApiKeyStore;
  projects: ProjectStore;
  limiters: LimiterConfigurationStore;
  models: ModelStore;
  aliases: AliasStore;
  checkModel: CheckModel;
  credit: CreditStore;
  rollups: RollupStore;
  usage: UsageStore;
  gpuEvents: GpuEventStore;
  deploymentDays: DeploymentDayStore;
  requestRows: RequestRowStore;
  refusals: RefusalStore;
  organizationTotals: OrganizationTotalsStore;
  deployments: DeploymentStore;
  benchmarks: BenchmarkStore;
  shadows: ShadowStore;
  attempts: LoginAttempts;
  quotas: QuotaStore;
  calls: CallCounter;
  userPool: UserPool;
  tickets: OpenTicketDependencies['tickets'];
  attachments: OpenTicketDependencies['attachments'];
  ticketFiles: OpenTicketDependencies['ticketFiles'];
  clocks: OpenTicketDependencies['clocks'];
  payloadLogs: PayloadLogStore;
  readPayload: ReadObject;
  /** The issuer of the users' access tokens. */
  issuer: string;
  now: () => number;
  wait: (ms: number) => Promise<unknown>;
}
