import type { S3Client } from '@aws-sdk/client-s3';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import type { StoredApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import type { ApiKeyDependencies } from '../../../../functions/control/api-keys/create-api-key.ts';
import type { Organization } from '../../../../functions/control/organizations/organization.ts';
import type { Rollups } from '../../../../functions/rollup/rollup.ts';
import type { BillingSettingsStore } from '../../../../shared/billing/billing-settings-store.ts';
import type { SdkDatabase } from '../../../../shared/database/sdk-database.ts';
import type { DeploymentStore } from '../../../../shared/deployments/deployment-store.ts';
import type { SessionStore } from '../../../../shared/identity/session-store.ts';
import type { UserPool } from '../../../../shared/identity/user-pool.ts';
import type { UserStore } from '../../../../shared/identity/user-store.ts';
import type { AliasStore } from '../../../../shared/models/alias-store.ts';
import type { ServiceAccountStore } from '../../../../shared/service-accounts/service-account-store.ts';
import type { ClientSecrets } from '../../../../shared/single-sign-on/client-secrets.ts';
import type { IdentityProviderStore } from '../../../../shared/single-sign-on/identity-provider-store.ts';
import type { TicketStore } from '../../../../shared/tickets/ticket-store.ts';

export interface DeleteDataDependencies
  extends Rollups,
    Pick<ApiKeyDependencies, 'apiKeys' | 'audit' | 'limiters' | 'organizations' | 'payloadLogs' | 'projects'> {
  database: SdkDatabase;
  users: UserStore;
  sessions: Pick<SessionStore, 'forget'>;
  userPool: Pick<UserPool, 'deleteUser'>;
  tickets: TicketStore;
  deployments: DeploymentStore;
  aliases: AliasStore;
  serviceAccounts: Pick<ServiceAccountStore, 'list' | 'toDelete'>;
  identityProviders: Pick<IdentityProviderStore, 'list'>;
  clientSecrets: Pick<ClientSecrets, 'delete'>;
  settings: BillingSettingsStore;
  s3: S3Client;
  usageTable: string;
  tables: Readonly<Record<'accounts' | 'notifications' | 'responses' | 'observability' | 'billing', string>>;
  buckets: Readonly<Record<'payloads' | 'ticketFiles' | 'billing' | 'weights', string>>;
  /** ms since the epoch. */
  now: () => number;
}

/** The data of one organization. */
export interface Deletion {
  deps: DeleteDataDependencies;
  organization: Organization;
  keys: readonly StoredApiKey[];
  operator: Actor;
  /** false: it is only counted. */
  isDeleting: boolean;
}

/** The name of organizations, keys and projects after their deletion. */
export const DELETED_NAME = 'deleted';
