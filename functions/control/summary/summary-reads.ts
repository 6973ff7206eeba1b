import { type LimiterItem, shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { shardIds } from '../../../shared/admission/item/shards.ts';
import type { LimiterConfigurationStore } from '../../../shared/admission/stores/limiter-configuration-store.ts';
import type { AllInvoicesStore } from '../../../shared/billing/all-invoices-store.ts';
import type { InvoiceStore } from '../../../shared/billing/invoice-store.ts';
import type { NumberStore } from '../../../shared/billing/number-store.ts';
import type { CatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import type { UserStore } from '../../../shared/identity/user-store.ts';
import type { ModelStore } from '../../../shared/models/model-store.ts';
import type { DeliveryStore } from '../../../shared/notifications/delivery-store.ts';
import type { WebhookStore } from '../../../shared/notifications/webhook-store.ts';
import type { RefusalStore } from '../../../shared/observability/refusal-store.ts';
import type { TicketStore } from '../../../shared/tickets/ticket-store.ts';
import type { GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import type { OrganizationTotalsStore } from '../../../shared/usage/organization-totals-store.ts';
import { type Actor, seesOnlyOwn } from '../access/actor.ts';
import type { StoredApiKey } from '../api-keys/api-key.ts';
import type { ApiKeyStore, KeyCounts } from '../api-keys/api-key-store.ts';
import type { ListDependencies } from '../deployments/find-deployment.ts';
import type { Organization } from '../organizations/organization.ts';
import { type ScopeDependencies, scopeOf } from '../query/scope.ts';

export interface SummaryDependencies extends ScopeDependencies {
  organizationTotals: Pick<OrganizationTotalsStore, 'list'>;
  gpuEvents: Pick<GpuEventStore, 'listDays'>;
  refusals: Pick<RefusalStore, 'list'>;
  apiKeys: Pick<ApiKeyStore, 'list' | 'listAll' | 'counts' | 'haveHadKeys'>;
  limiters: Pick<LimiterConfigurationStore, 'getMany' | 'lastUses'>;
  deployments: Pick<DeploymentStore, 'list' | 'getMany'>;
  liveDeployments: ListDependencies['liveDeployments'];
  catalogue: CatalogueStore;
  tickets: Pick<TicketStore, 'list'>;
  webhooks: Pick<WebhookStore, 'list'>;
  deliveries: Pick<DeliveryStore, 'listGivenUp'>;
  invoices: Pick<InvoiceStore, 'list'>;
  allInvoices: Pick<AllInvoicesStore, 'countOpen' | 'getCheck'>;
  numbers: Pick<NumberStore, 'last'>;
  models: Pick<ModelStore, 'list'>;
  users: Pick<UserStore, 'list'>;
}

/** The reads that several sections of an organization share, each made once. */
export interface OrganizationReads {
  deps: SummaryDependencies;
  actor: Actor;
  organization: string;
  /** The organization's limiter items; none in an older organization without limits. */
  limiter: () => Promise<LimiterItem[]>;
  keyCounts: () => Promise<KeyCounts>;
  /** The newest keys that the actor can see. `hasMore`: the organization has keys that were not read. */
  keys: () => Promise<{ keys: StoredApiKey[]; hasMore: boolean }>;
  /** The ids of a member's keys; undefined for those who see the whole organization. */
  ownKeys: () => Promise<ReadonlySet<string> | undefined>;
}

/** The reads that several sections of the platform share. */
export interface PlatformReads {
  deps: SummaryDependencies;
  actor: Actor;
  /** The newest organizations, at most 100. `hasMore`: there are others. */
  newest: () => Promise<{ organizations: Organization[]; hasMore: boolean }>;
}

// An organization with the default limits has fewer.
const LIKELY_SHARDS = 16;

// One read instead of two, unless there are more shards.
const shardsOfOrganization = async ({ limiters }: SummaryDependencies, organization: string): Promise<LimiterItem[]> => {
  const items = await limiters.getMany(shardIds(organization, LIKELY_SHARDS));
  const [own] = items;
  if (own?.id !== organization) return [];
  const ids = shardIds(organization, shardsOf(own));
  return [...items.slice(0, ids.length), ...(await limiters.getMany(ids.slice(LIKELY_SHARDS)))];
};

// A page of the database ends at 1 MB, which has about as many keys.
const MAX_KEYS_READ = 1_500;

const once = <Result>(read: () => Promise<Result>): (() => Promise<Result>) => {
  let reading: Promise<Result> | undefined;
  return () => {
    reading ??= read();
    return reading;
  };
};

const MAX_ORGANIZATIONS = 100;

/** Creates the reads of a summary of the platform. */
export const platformReadsOf = (deps: SummaryDependencies, actor: Actor): PlatformReads => ({
  deps,
  actor,
  newest: once(async () => {
    const { data, has_more } = await deps.organizations.list({ limit: MAX_ORGANIZATIONS });
    return { organizations: data, hasMore: has_more };
  }),
});

/** Creates the reads of a summary of an organization. */
export const readsOf = (deps: SummaryDependencies, actor: Actor, organization: string): OrganizationReads => ({
  deps,
  actor,
  organization,
  limiter: once(() => shardsOfOrganization(deps, organization)),
  keyCounts: once(() => deps.apiKeys.counts(organization, actor.userId)),
  keys: once(async () => {
    const { keys, hasMore } = await deps.apiKeys.list(organization, { limit: MAX_KEYS_READ });
    return { keys: seesOnlyOwn(actor) ? keys.filter(({ created_by }) => created_by === actor.userId) : keys, hasMore };
  }),
  ownKeys: once(async () => (await scopeOf(deps, actor, undefined)).ownKeys),
});
