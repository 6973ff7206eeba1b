import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import type { RuleStore } from '../../../shared/federation/rule-store.ts';
import type { SignInEvents } from '../../../shared/federation/sign-in-events.ts';
import { isPlatformRole } from '../../../shared/hosts/permissions.ts';
import { Forbidden, InvalidRequest, ServiceUnavailable } from '../../../shared/http/errors.ts';
import type { Page, PageRequest } from '../../../shared/http/page.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { newStoredUser } from '../../../shared/identity/new-user.ts';
import type { UserPool } from '../../../shared/identity/user-pool.ts';
import type { ServiceAccountStore, StoredServiceAccount } from '../../../shared/service-accounts/service-account-store.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { type Actor, isOfPlatform, organizationFor } from '../access/actor.ts';
import type { ApiKeyDependencies } from '../api-keys/create-api-key.ts';
import { openKeysOf, revokeKeysOf } from '../api-keys/keys-of-user.ts';
import { endSeries, revokeTemporaryKeys } from '../api-keys/revoke-temporary-keys.ts';
import type {
  ChangedServiceAccount,
  DeletedServiceAccount,
  NewServiceAccount,
  ServiceAccount,
  ServiceAccountUpdate,
} from './service-account.ts';
import { subsetOf, toWire } from './service-account.ts';
import { checkGivenRights, visibleServiceAccount } from './service-account-rights.ts';
import { newServiceAddress } from './service-address.ts';

export interface ServiceAccountDependencies extends AuditDependencies, ApiKeyDependencies {
  serviceAccounts: ServiceAccountStore;
  rules: Pick<RuleStore, 'list' | 'withIssuers' | 'toDeleteAll'>;
  signInEvents: Pick<SignInEvents, 'clear'>;
  userPool: Pick<UserPool, 'createSilentUser' | 'setEnabled' | 'deleteUser'>;
  organizations: ApiKeyDependencies['organizations'] & { toCheckActive: (id: string) => Write };
  issuer: string;
  now: () => number;
}

type Expected = readonly number[] | undefined;

// Customers write these, and the audit log is never deleted.
const AUDITED_TEXTS = ['description'] as const;

const organizationOf = (actor: Actor, { role, organization }: Pick<NewServiceAccount, 'role' | 'organization'>): string | null => {
  if (!isPlatformRole(role)) return organizationFor(actor, organization);
  if (organization !== undefined)
    throw new InvalidRequest({
      param: 'organization',
      message: `Service accounts with the role '${role}' don't belong to an organization. Leave out 'organization'.`,
    });
  return null;
};

/**
 * Creates a service account. Its user at the identity provider has an address of its own, which gets no mail; after a
 * crash in between, one is left over that nothing uses.
 * @throws 400, 403, 404, 409
 */
export const createServiceAccount = async (
  deps: ServiceAccountDependencies,
  actor: Actor,
  body: NewServiceAccount,
): Promise<ServiceAccount> => {
  checkGivenRights(actor, body);
  const organization = organizationOf(actor, body);
  if (organization !== null) await deps.organizations.get(organization);
  const email = newServiceAddress();
  const { subject } = await deps.userPool.createSilentUser(email);
  const { name, description, role, permissions } = body;
  const account: StoredServiceAccount = {
    ...newStoredUser({ issuer: deps.issuer, subject }, { email, name, role, organization }, actor.origin.nowMs),
    kind: 'service_account',
    description,
    ...subsetOf(permissions),
    created_by: actor.userId,
  };
  const wire = toWire(account);
  const target = { type: 'service_account', id: account.id };
  const change = { action: 'service_account.created', organization, target, after: wire, texts: AUDITED_TEXTS };
  await commit(deps, actor.origin, change, [
    ...deps.users.toCheckActor(actor),
    ...(organization === null ? [] : [deps.organizations.toCheckActive(organization)]),
    ...deps.serviceAccounts.toCreate(account),
  ]);
  return wire;
};

/** Lists the service accounts of an organization, or of the platform for an admin who names none. @throws 404 */
export const listServiceAccounts = async (
  { serviceAccounts }: Pick<ServiceAccountDependencies, 'serviceAccounts'>,
  actor: Actor,
  { organization, ...request }: PageRequest & { organization?: string | undefined },
): Promise<Page<ServiceAccount>> => {
  const isPlatform = isOfPlatform(actor) && organization === 'platform';
  const { accounts, hasMore } = await serviceAccounts.list(isPlatform ? null : organizationFor(actor, organization), request);
  return { object: 'list', data: accounts.map(toWire), has_more: hasMore, next: hasMore ? (accounts.at(-1)?.id ?? null) : null };
};

const checkRole = (account: StoredServiceAccount, role: StoredServiceAccount['role']): void => {
  if (isPlatformRole(role) !== isPlatformRole(account.role))
    throw new Forbidden({
      code: 'role_not_changeable',
      param: 'role',
      message: 'Only service accounts of the platform have roles of the platform. Create another service account.',
    });
};

const planChange = (actor: Actor, before: StoredServiceAccount, fields: ServiceAccountUpdate) => {
  const { name = before.name, description = before.description, role = before.role, status = before.status } = fields;
  const { permissions: _, ...others } = before;
  const seconds = unixSeconds(actor.origin.nowMs);
  const changesRights = fields.role !== undefined || fields.permissions !== undefined || status !== before.status;
  const after: StoredServiceAccount = {
    ...others,
    ...subsetOf(fields.permissions === undefined ? before.permissions : fields.permissions),
    name,
    description,
    role,
    status,
    updated_at: seconds,
    ...(changesRights && { tokens_valid_from: seconds + 1 }),
  };
  return { after, changesRights };
};

/**
 * Updates a service account. A change of its rights or its status ends its sessions. If it is disabled, its temporary
 * API keys are revoked, and the others are named or revoked; repeating the request completes that.
 * @throws 400, 403, 404, 412
 */
export const updateServiceAccount = async (
  deps: ServiceAccountDependencies,
  actor: Actor,
  id: string,
  { revoke_keys = false, ...fields }: ServiceAccountUpdate,
  expected?: Expected,
): Promise<ChangedServiceAccount> => {
  const before = checkVersion(await visibleServiceAccount(deps, actor, id), expected);
  const { after, changesRights } = planChange(actor, before, fields);
  checkRole(before, after.role);
  // Enabling an account gives its rights as well.
  if (changesRights && fields.status !== 'disabled') checkGivenRights(actor, after);
  const change = {
    action: 'service_account.updated',
    organization: before.organization,
    target: { type: 'service_account', id },
    before: toWire(before),
    after: toWire(after),
    texts: AUDITED_TEXTS,
  };
  await commit(deps, actor.origin, change, [
    ...(changesRights ? deps.users.toCheckActor(actor) : []),
    deps.serviceAccounts.toReplace(after, before),
  ]);
  if (fields.status === 'disabled') await revokeTemporaryKeys(deps, actor, id);
  // Our own row already rejects a disabled account. If this call fails, repeating the request completes the change.
  if (fields.status !== undefined) await deps.userPool.setEnabled(before.subject, after.status === 'active');
  const changed = { ...toWire(after), version: after.version + 1 };
  if (fields.status !== 'disabled') return changed;
  return { ...changed, open_api_keys: revoke_keys ? await revokeKeysOf(deps, actor, after) : await openKeysOf(deps, after) };
};

/**
 * Deletes a service account with its secrets, federation rules and events, and revokes its temporary API keys. Its
 * other keys stay with the organization, unless they are revoked: then the account is disabled first and deleted last,
 * so that repeating the request completes it.
 * @throws 403, 404, 409 and 412 after a lost race; 503 if there was no time to revoke all keys
 */
export const deleteServiceAccount = async (
  deps: ServiceAccountDependencies,
  actor: Actor,
  id: string,
  { revokes }: { revokes: boolean },
  expected?: Expected,
): Promise<DeletedServiceAccount> => {
  const before = checkVersion(await visibleServiceAccount(deps, actor, id), expected);
  if (revokes) {
    if (before.status === 'active') await updateServiceAccount(deps, actor, id, { status: 'disabled' }, [before.version]);
    const left = await revokeKeysOf(deps, actor, before);
    if (left.length > 0) throw new ServiceUnavailable(new Error(`${left.length} API keys of ${id} are still to be revoked.`));
  }
  const account = revokes ? await visibleServiceAccount(deps, actor, id) : before;
  const { organization } = account;
  const target = { type: 'service_account', id };
  const change = { action: 'service_account.deleted', organization, target, before: toWire(account), texts: AUDITED_TEXTS };
  // After a crash, nobody could find events and keys without their account. Exchanges can add more until it is deleted.
  await deps.signInEvents.clear(id);
  await revokeTemporaryKeys(deps, actor, id);
  await deps.rules.withIssuers(organization, async (issuers) => {
    const ofRules = deps.rules.toDeleteAll(id, await deps.rules.list(id), issuers);
    const ofAccount = await deps.serviceAccounts.toDelete(account);
    await commit(deps, actor.origin, change, [...deps.users.toCheckActor(actor), ...ofAccount, ...ofRules]);
  });
  await deps.signInEvents.clear(id);
  await endSeries(deps, actor, id);
  await deps.userPool.deleteUser(account.subject);
  return { id, object: 'service_account', deleted: true, open_api_keys: await openKeysOf(deps, account) };
};
