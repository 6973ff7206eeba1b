import type { AuditDependencies } from '../../shared/audit/commit.ts';
import type { MintKey } from '../../shared/federation/mint-key.ts';
import type { RuleStore } from '../../shared/federation/rule-store.ts';
import type { LoginAttempts } from '../../shared/identity/login-attempts.ts';
import type { Caller } from '../../shared/identity/request-origin.ts';
import type { SignInTickets } from '../../shared/identity/sign-in-tickets.ts';
import type { UserPool } from '../../shared/identity/user-pool.ts';
import type { QuotaStore } from '../../shared/quotas/quota-store.ts';
import type { ServiceAccountStore, StoredServiceAccount } from '../../shared/service-accounts/service-account-store.ts';
import type { ExchangeDependencies } from './token-exchange/prove-by-token.ts';
import type { TokenRequest } from './token-request.ts';

export interface MachineSignInDependencies extends AuditDependencies {
  mintKey: MintKey;
  serviceAccounts: ServiceAccountStore;
  attempts: Pick<LoginAttempts, 'count' | 'forget'>;
  quotas: Pick<QuotaStore, 'count'>;
  tickets: Pick<SignInTickets, 'issue'>;
  userPool: Pick<UserPool, 'signInWithTicket'>;
  exchange: ExchangeDependencies & Pick<RuleStore, 'findRule'>;
}

/** An accepted proof of who a program is. */
export interface Proof {
  account: StoredServiceAccount;
  /** The proof in the audit log, such as `secret:<id>`. */
  name: string;
  /** More facts for the audit log, such as those of an identity token. */
  facts?: Readonly<Record<string, string>>;
  /** Uses the proof up before a session is issued, if it counts once. @throws 401 if it was used */
  use?: () => Promise<void>;
  /** Makes a used proof usable again, because no session was issued. */
  release?: () => Promise<void>;
  /** Called when a session or an API key was issued. @param apiKey the id of the key */
  noteSession?: (apiKey?: string) => Promise<void>;
  /** The rule whose workloads get an API key, if the request asks for one instead of an access token. */
  keyOfRule?: string;
  /** The type of the issued token, if the grant is an exchange of tokens. */
  issuedTokenType?: string;
}

/** Checks a request with one grant type. @throws 400 for a missing parameter, 401 from `refuse` for a failed proof */
export type TokenGrant = (deps: MachineSignInDependencies, request: TokenRequest, caller: Caller) => Promise<Proof>;
