import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import type { FederationRule } from '../../../shared/federation/rule.ts';
import type { RuleStore } from '../../../shared/federation/rule-store.ts';
import type { SignInEvents } from '../../../shared/federation/sign-in-events.ts';
import { InvalidRequest, InvalidValue, ResourceNotFound } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import type { Networks } from '../../../shared/network/networks.ts';
import type { ServiceAccountStore, StoredServiceAccount } from '../../../shared/service-accounts/service-account-store.ts';
import { type Actor, requirePermission } from '../access/actor.ts';
import type { ApiKeyDependencies } from '../api-keys/create-api-key.ts';
import { checkTemporaryLimits } from '../api-keys/create-temporary-key.ts';
import { endSeries, revokeTemporaryKeys } from '../api-keys/revoke-temporary-keys.ts';
import { issuerUrlFault } from '../identity/issuer-url-fault.ts';
import { checkGivenRights, visibleServiceAccount } from '../service-accounts/service-account-rights.ts';
import { tooWide } from './known-issuers.ts';
import {
  type FederationRuleResource,
  type FederationRuleUpdate,
  type NewFederationRule,
  type SignInEventResource,
  toFederationRuleResource,
  toSignInEventResource,
} from './rule-resource.ts';

export interface FederationRuleDependencies extends AuditDependencies, ApiKeyDependencies {
  rules: RuleStore;
  signInEvents: Pick<SignInEvents, 'list'>;
  serviceAccounts: ServiceAccountStore;
  networks: Networks;
}

type Expected = readonly number[] | undefined;

const checkIssuer = (networks: Networks, issuer: string): void => {
  const fault = issuerUrlFault(networks, issuer);
  if (fault !== undefined) throw new InvalidValue('issuer', fault, 'invalid_issuer');
};

const checkWidth = (rule: Pick<FederationRule, 'issuer' | 'subject' | 'claims'>): void => {
  const fault = tooWide(rule);
  if (fault !== undefined) throw new InvalidRequest({ param: 'claims', code: 'rule_too_wide', message: fault });
};

// With such a rule, its workloads get what the actor could create.
const checkApiKey = (actor: Actor, account: StoredServiceAccount, settings: FederationRule['api_key'] | undefined): void => {
  if (!settings) return;
  for (const permission of ['keys:write', 'keys:limit'] as const) requirePermission(actor, permission);
  if (account.organization === null)
    throw new InvalidRequest({
      param: 'api_key',
      message: "Service accounts of the platform belong to no organization, so they can't have API keys. Leave out 'api_key'.",
    });
  checkTemporaryLimits(settings.limits, 'api_key');
};

const recorded = ({ issuer, audience, subject, claims, api_key, description, status }: FederationRule) => ({
  issuer,
  audience,
  subject,
  claims,
  api_key,
  description,
  status,
});

interface Change {
  action: string;
  before?: FederationRule;
  after?: FederationRule;
}

const save = (
  deps: FederationRuleDependencies,
  actor: Actor,
  { organization, id: account }: StoredServiceAccount,
  { action, before, after }: Change,
  writes: readonly Write[],
): Promise<void> =>
  commit(
    deps,
    actor.origin,
    {
      action,
      organization,
      target: { type: 'federation_rule', id: (after ?? before)?.id ?? account },
      ...(before && { before: recorded(before) }),
      ...(after && { after: recorded(after) }),
      texts: ['description'],
    },
    [...deps.users.toCheckActor(actor), ...writes],
  );

const find = async (deps: FederationRuleDependencies, actor: Actor, accountId: string, id: string) => {
  const account = await visibleServiceAccount(deps, actor, accountId);
  const rule = await deps.rules.find(account.id, id);
  if (!rule) throw new ResourceNotFound('federation rule', id);
  return { account, rule };
};

/** Creates a rule of a service account. @throws 400, 403, 404, 409 */
export const createRule = async (
  deps: FederationRuleDependencies,
  actor: Actor,
  accountId: string,
  body: NewFederationRule,
): Promise<FederationRuleResource> => {
  const account = await visibleServiceAccount(deps, actor, accountId);
  // With a rule, its workloads can do what the account can.
  checkGivenRights(actor, account);
  checkApiKey(actor, account, body.api_key);
  checkIssuer(deps.networks, body.issuer);
  checkWidth(body);
  const { nowMs } = actor.origin;
  const rule: FederationRule = {
    id: newTimedId('federationRule', nowMs),
    service_account: account.id,
    ...body,
    status: 'active',
    created_at: nowMs,
    updated_at: nowMs,
    version: 1,
  };
  const change = { action: 'federation_rule.created', after: rule };
  await deps.rules.withIssuers(account.organization, (issuers) =>
    save(deps, actor, account, change, [deps.serviceAccounts.toCheckExists(account.id), ...deps.rules.toCreate(rule, issuers)]),
  );
  return toFederationRuleResource(rule);
};

/** Lists the rules of a service account, oldest first. @throws 404 */
export const listRules = async (deps: FederationRuleDependencies, actor: Actor, accountId: string) => {
  const { id } = await visibleServiceAccount(deps, actor, accountId);
  const data = (await deps.rules.list(id)).map(toFederationRuleResource);
  return { object: 'list' as const, data, has_more: false, next: null };
};

/** Returns a rule. @throws 404 */
export const retrieveRule = async (deps: FederationRuleDependencies, actor: Actor, accountId: string, id: string) =>
  toFederationRuleResource((await find(deps, actor, accountId, id)).rule);

/**
 * Changes a rule. Sessions that it created end by themselves, within 15 minutes. If it is disabled or creates no more
 * API keys, those that are live are revoked; repeating the request completes that.
 * @throws 400, 403, 404, 412
 */
export const updateRule = async (
  deps: FederationRuleDependencies,
  actor: Actor,
  { account: accountId, rule: id }: { account: string; rule: string },
  body: FederationRuleUpdate,
  expected: Expected,
): Promise<FederationRuleResource> => {
  const { account, rule: before } = await find(deps, actor, accountId, id);
  // A rule that is only disabled gives no rights.
  const isOnlyDisabled = Object.keys(body).length === 1 && body.status === 'disabled';
  if (!isOnlyDisabled) checkGivenRights(actor, account);
  checkVersion(before, expected);
  const changed = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Partial<FederationRule>;
  const after: FederationRule = { ...before, ...changed, updated_at: actor.origin.nowMs };
  if (!isOnlyDisabled) checkApiKey(actor, account, after.api_key);
  checkWidth(after);
  await save(deps, actor, account, { action: 'federation_rule.updated', before, after }, [deps.rules.toReplace(after)]);
  if (body.status === 'disabled' || body.api_key === null) await revokeTemporaryKeys(deps, actor, account.id, id);
  return toFederationRuleResource({ ...after, version: before.version + 1 });
};

/** Deletes a rule, and revokes the API keys that it created. @throws 404, 409, 412 */
export const deleteRule = async (
  deps: FederationRuleDependencies,
  actor: Actor,
  { account: accountId, rule: id }: { account: string; rule: string },
  expected: Expected,
) => {
  const { account, rule: before } = await find(deps, actor, accountId, id);
  checkVersion(before, expected);
  // After a crash, nobody could find the keys of a rule that is gone. More can be created until it is deleted.
  await revokeTemporaryKeys(deps, actor, account.id, id);
  const change = { action: 'federation_rule.deleted', before };
  await deps.rules.withIssuers(account.organization, (issuers) => save(deps, actor, account, change, deps.rules.toDelete(before, issuers)));
  await endSeries(deps, actor, account.id, id);
  return { id, object: 'federation_rule' as const, deleted: true as const };
};

/** Lists the newest exchanges of a service account, newest first. @throws 404 */
export const listSignInEvents = async (deps: FederationRuleDependencies, actor: Actor, accountId: string) => {
  const { id } = await visibleServiceAccount(deps, actor, accountId);
  const data: SignInEventResource[] = (await deps.signInEvents.list(id)).map(toSignInEventResource);
  return { object: 'list' as const, data, has_more: false, next: null };
};
