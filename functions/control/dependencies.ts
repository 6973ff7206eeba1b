import type { AuditStore } from '../../shared/audit/audit-store.ts';
import type { Database } from '../../shared/database/client.ts';
import type { UserPool } from '../../shared/identity/user-pool.ts';
import type { TokenVerifier } from '../../shared/identity/verify-token.ts';
import type { ApiKeyStore } from '../../shared/keys/api-key-store.ts';
import type { LimiterDesk } from '../../shared/limiters/limiter-desk.ts';
import type { CheckModel } from '../../shared/models/check-model.ts';
import type { ModelStore } from '../../shared/models/model-store.ts';
import type { CreditStore } from '../../shared/organizations/credit-store.ts';
import type { OrganizationStore } from '../../shared/organizations/organization-store.ts';
import type { RollupStore } from '../../shared/rollups/rollup-store.ts';
import type { AttemptStore } from '../../shared/sessions/attempt-store.ts';
import type { UserStore } from '../../shared/users/user-store.ts';

/** What the routes of the control plane work with. */
export interface ControlDependencies {
  database: Database;
  audit: AuditStore;
  organizations: OrganizationStore;
  users: UserStore;
  apiKeys: ApiKeyStore;
  limiters: LimiterDesk;
  models: ModelStore;
  /** Whether a model's targets could serve it. */
  checkModel: CheckModel;
  credit: CreditStore;
  rollups: RollupStore;
  attempts: AttemptStore;
  userPool: UserPool;
  tokens: TokenVerifier;
  /** Of the tokens that users come with. */
  issuer: string;
  now: () => number;
  wait: (ms: number) => Promise<unknown>;
}
