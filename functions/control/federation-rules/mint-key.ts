import { OrganizationSuspended } from '../../../shared/admission/item/organization.ts';
import { MintKeyCall, type MintKeyResult, type MintRefusal } from '../../../shared/federation/mint-key.ts';
import type { FederationRule, RuleApiKey } from '../../../shared/federation/rule.ts';
import type { RuleStore } from '../../../shared/federation/rule-store.ts';
import { Conflict } from '../../../shared/http/errors.ts';
import { RightsChanged } from '../../../shared/identity/errors.ts';
import type { Quota, QuotaStore } from '../../../shared/quotas/quota-store.ts';
import type { StoredServiceAccount } from '../../../shared/service-accounts/service-account-store.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import type { ApiKeyDependencies } from '../api-keys/create-api-key.ts';
import { createTemporaryKey } from '../api-keys/create-temporary-key.ts';
import { retryOvertaken } from '../retry-overtaken.ts';

export interface MintDependencies extends ApiKeyDependencies {
  rules: Pick<RuleStore, 'findRule' | 'toCheckActive'>;
  quotas: Pick<QuotaStore, 'count' | 'toCount'>;
  now: () => number;
}

const MAX_LIVE = 100;
const MAX_A_DAY = 2_000;

class MintRefused extends Error {
  readonly result: MintKeyResult;

  constructor(reason: MintRefusal, seconds?: number) {
    super(`No API key is created: ${reason}.`);
    this.result = { outcome: 'refused', reason, ...(seconds !== undefined && { retry_after_seconds: Math.max(1, Math.ceil(seconds)) }) };
  }
}

type Minting = MintKeyCall['mint_key'];

const actorOf = (account: StoredServiceAccount, { ip_address, request_id }: Minting, nowMs: number): Actor => {
  const { id, email, organization } = account;
  const origin = { actor: { type: 'user', id, email, organization }, requestId: request_id, ipAddress: ip_address, nowMs } as const;
  return { userId: id, email, role: account.role, kind: 'service_account', organization, maxApiKeys: account.max_api_keys, origin };
};

// The caller is trusted in one thing: it has accepted a token for the rule.
const find = async ({ rules }: MintDependencies, { service_account, federation_rule }: Minting) => {
  const { account, rule } = await rules.findRule(service_account, federation_rule);
  if (account?.status !== 'active') throw new MintRefused('service_account_disabled');
  if (rule?.status !== 'active') throw new MintRefused('rule_disabled');
  if (!rule.api_key || account.organization === null) throw new MintRefused('no_api_key');
  return { account, rule, organization: account.organization, settings: rule.api_key };
};

const countKey = async ({ quotas }: MintDependencies, rule: FederationRule, nowMs: number): Promise<void> => {
  const quota: Quota = { kind: 'federated_key', span: 'day', account: rule.id, max: MAX_A_DAY };
  const { isCounted, untilMs } = await quotas.count(quota, nowMs);
  if (!isCounted) throw new MintRefused('too_many_keys', (untilMs - nowMs) / SECOND_MS);
};

const fieldsOf = ({ scope, models, limits, budgets: { total } }: RuleApiKey, rule: FederationRule) => ({
  name: `Workload of ${rule.id}`,
  ...{ scope, models, limits, budgets: { day: null, month: null, total } },
  ...{ per_user: null, no_content: false, no_fallback: false, project_id: null },
  metadata: {},
});

const mint = async (deps: MintDependencies, minting: Minting): Promise<MintKeyResult> => {
  const nowMs = deps.now();
  const { account, rule, organization, settings } = await find(deps, minting);
  const { id, secret } = await createTemporaryKey(deps, actorOf(account, minting, nowMs), fieldsOf(settings, rule), {
    purpose: 'federated',
    series: { creator: account.id, organization, name: rule.id },
    lifetimeSeconds: settings.lifetime_seconds,
    maxLive: MAX_LIVE,
    refused: (seconds) => new MintRefused('too_many_keys', seconds),
    count: () => countKey(deps, rule, nowMs),
    // Whoever disables the rule at the same time finds this key and revokes it, or this key is not created.
    checks: [deps.rules.toCheckActive(rule, () => new RuleChanged())],
    facts: { ...minting.facts, proof: `rule:${rule.id}` },
  });
  return { outcome: 'created', id, secret, expires_in: settings.lifetime_seconds };
};

const HOUR_SECONDS = 3_600;
// Each time, the rule has changed since it was read.
const MAX_TRIES = 3;

class RuleChanged extends Error {}

const refusalOf = (error: unknown): MintKeyResult => {
  if (error instanceof MintRefused) return error.result;
  if (error instanceof RightsChanged) return new MintRefused('service_account_disabled').result;
  if (error instanceof OrganizationSuspended) return new MintRefused('organization_suspended').result;
  // The organization has as many ids of keys as it can have.
  if (error instanceof Conflict && error.code === 'too_many_keys') return new MintRefused('too_many_keys', HOUR_SECONDS).result;
  throw error;
};

/**
 * Creates an API key for a workload whose token was accepted: a temporary key of the service account, with the settings
 * of the rule. Rejects what has changed since the token was checked.
 * @throws 503
 */
export const mintKey = async (deps: MintDependencies, { mint_key }: MintKeyCall): Promise<MintKeyResult> => {
  try {
    return await retryOvertaken({ what: mint_key.federation_rule, maxTries: MAX_TRIES, by: [RuleChanged] }, () => mint(deps, mint_key));
  } catch (error) {
    return refusalOf(error);
  }
};

/** Middleware: handles the invocations of `machine-sign-in` that create API keys. Requests are left to the handler. */
export const mintKeyCalls = (deps: MintDependencies) => ({
  before: ({ event }: { event: object }): Promise<MintKeyResult> | undefined =>
    'mint_key' in event ? mintKey(deps, MintKeyCall.parse(event)) : undefined,
});
