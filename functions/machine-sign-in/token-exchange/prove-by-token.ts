import { cutText } from '../../../shared/database/cut-text.ts';
import type { IdentityClaims } from '../../../shared/federation/claim-fault.ts';
import { IssuerUnavailable, TokenRejected } from '../../../shared/federation/errors.ts';
import type { FederationRule } from '../../../shared/federation/rule.ts';
import { MAX_EVENT_CHARACTERS, type SignInEvent, type SignInEvents } from '../../../shared/federation/sign-in-events.ts';
import type { VerifyIdentityToken } from '../../../shared/federation/verify-identity-token.ts';
import { TooManyAttempts } from '../../../shared/identity/errors.ts';
import type { Caller } from '../../../shared/identity/request-origin.ts';
import type { QuotaStore } from '../../../shared/quotas/quota-store.ts';
import { differingClaims } from './match-rule.ts';
import { maxLifetimeSeconds } from './max-lifetime.ts';
import type { UsedTokens } from './used-tokens.ts';

export interface ExchangeDependencies {
  verifyIdentityToken: VerifyIdentityToken;
  usedTokens: UsedTokens;
  events: Pick<SignInEvents, 'add'>;
  quotas: Pick<QuotaStore, 'count'>;
}

/** A token that is offered for the access token of a service account. */
export interface OfferedToken {
  token: string;
  rule: FederationRule;
  /** The rule's organization; null: the platform. */
  organization: string | null;
  isAccountActive: boolean;
}

/** A verified token that matches its rule. */
export interface TokenProof {
  claims: IdentityClaims;
  /** Marks the token as used. False: it was used before. */
  use: () => Promise<boolean>;
  /** Makes the token usable again, because no session was created. */
  release: () => Promise<void>;
  /** Records for the account's owner that a session or an API key was created. @param apiKey the id of the key */
  noteSession: (apiKey?: string) => Promise<void>;
}

// Six environments that start at the same time fetch two documents of each issuer: this is enough for three issuers.
const MAX_FETCHES_A_MINUTE = 36;
const TOO_MANY_FETCHES = 'too_many_fetches';
// Strangers can cause refusals.
const MAX_REFUSALS_A_MINUTE = 5;

interface Refusal {
  reason: string;
  claims?: IdentityClaims;
  differing?: SignInEvent['differing_claims'];
}

const toEvent = (
  { rule }: OfferedToken,
  caller: Caller,
  refusal: Refusal | undefined,
  claims: IdentityClaims | undefined,
): SignInEvent => ({
  object: 'sign_in_event',
  at: caller.receivedAtMs,
  outcome: refusal ? 'refused' : 'accepted',
  reason: refusal?.reason ?? null,
  federation_rule: rule.id,
  api_key: null,
  is_verified: claims !== undefined,
  subject: claims ? cutText(claims.sub, MAX_EVENT_CHARACTERS) : null,
  differing_claims: refusal?.differing ?? [],
  ip_address: caller.ipAddress,
  request_id: caller.requestId,
});

const countFetch = async ({ quotas }: ExchangeDependencies, { organization }: OfferedToken, nowMs: number): Promise<void> => {
  const quota = { kind: 'issuer_fetch', span: 'minute', account: organization ?? 'platform', max: MAX_FETCHES_A_MINUTE } as const;
  if (!(await quotas.count(quota, nowMs)).isCounted) throw new IssuerUnavailable(TOO_MANY_FETCHES);
};

const recordRefusal = async (deps: ExchangeDependencies, offered: OfferedToken, caller: Caller, refusal: Refusal): Promise<void> => {
  const event = toEvent(offered, caller, refusal, refusal.claims);
  const { service_account: account } = offered.rule;
  const kind = event.is_verified ? 'refused_verified_token' : 'refused_unverified_token';
  const { isCounted } = await deps.quotas.count({ kind, span: 'minute', account, max: MAX_REFUSALS_A_MINUTE }, caller.receivedAtMs);
  if (isCounted) await deps.events.add(account, event);
};

const verify = async (deps: ExchangeDependencies, offered: OfferedToken, nowMs: number): Promise<IdentityClaims | Refusal> => {
  const { issuer, audience } = offered.rule;
  try {
    return await deps.verifyIdentityToken(offered.token, {
      issuer,
      audience,
      isIdToken: false,
      maxLifetimeSeconds: maxLifetimeSeconds(issuer),
      beforeFetch: () => countFetch(deps, offered, nowMs),
    });
  } catch (error) {
    if (error instanceof TokenRejected || error instanceof IssuerUnavailable) return { reason: error.fault };
    throw error;
  }
};

const isRefusal = (result: IdentityClaims | Refusal): result is Refusal => !('iss' in result);

const check = async (deps: ExchangeDependencies, offered: OfferedToken, nowMs: number): Promise<IdentityClaims | Refusal> => {
  const { rule } = offered;
  if (!offered.isAccountActive) return { reason: 'service_account_disabled' };
  if (rule.status === 'disabled') return { reason: 'rule_disabled' };
  const claims = await verify(deps, offered, nowMs);
  if (isRefusal(claims)) return claims;
  const differing = differingClaims(rule, claims);
  return differing.length > 0 ? { reason: 'claims_differ', claims, differing } : claims;
};

/**
 * Checks a token against one rule: RFC 8693. The service account's owner can read why a token was refused; its sender
 * is not told.
 * @returns undefined if it is refused
 * @throws 429 if the organization has caused too many calls of issuers
 */
export const proveByToken = async (deps: ExchangeDependencies, offered: OfferedToken, caller: Caller): Promise<TokenProof | undefined> => {
  const claims = await check(deps, offered, caller.receivedAtMs);
  if (isRefusal(claims)) {
    await recordRefusal(deps, offered, caller, claims);
    // The token may be a good one.
    if (claims.reason === TOO_MANY_FETCHES) throw new TooManyAttempts();
    return undefined;
  }
  let release = async (): Promise<void> => undefined;
  return {
    claims,
    use: async () => {
      const releaseUse = await deps.usedTokens.use(offered.token, claims);
      if (releaseUse) release = releaseUse;
      else await recordRefusal(deps, offered, caller, { reason: 'token_already_used', claims });
      return releaseUse !== undefined;
    },
    release: () => release(),
    noteSession: (apiKey) =>
      deps.events.add(offered.rule.service_account, { ...toEvent(offered, caller, undefined, claims), api_key: apiKey ?? null }),
  };
};
