import * as z from 'zod';
import { commit } from '../../../shared/audit/commit.ts';
import type { BillingSettingsStore } from '../../../shared/billing/billing-settings-store.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Forbidden, ServiceUnavailable } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import type { SessionStore } from '../../../shared/identity/session-store.ts';
import { User } from '../../../shared/identity/user.ts';
import { toWire } from '../../../shared/identity/user-store.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { type Actor, requirePermission, requireRightsOver } from '../access/actor.ts';
import { changeBody } from '../access/change-body.ts';
import type { ApiKeyDependencies } from '../api-keys/create-api-key.ts';
import { MAX_OPEN_KEYS, openKeysOf, revokeKeysOf } from '../api-keys/keys-of-user.ts';
import { requireNotBreakGlass } from './break-glass.ts';
import type { UserDependencies } from './create-user.ts';
import { UserUpdate, updateUser, visibleUser } from './update-user.ts';

export interface AccessDependencies extends UserDependencies, ApiKeyDependencies {
  organizations: UserDependencies['organizations'] & ApiKeyDependencies['organizations'];
  users: UserDependencies['users'];
  sessions: Pick<SessionStore, 'forget'>;
  settings: Pick<BillingSettingsStore, 'getProfile' | 'toReplaceProfile'>;
  now: () => number;
}

export const UserChange = changeBody(
  {
    ...UserUpdate.shape,
    revoke_keys: z.boolean().optional().meta({
      description: 'With the status `disabled`: also revokes the API keys that the user created. By default, they keep working.',
    }),
  },
  'revoke_keys',
).refine(({ status, revoke_keys }) => !revoke_keys || status === 'disabled', {
  path: ['revoke_keys'],
  message: "expected revoke_keys only together with the status 'disabled'",
});
export type UserChange = z.output<typeof UserChange>;

const OpenKeys = z.array(z.string()).meta({
  description: `The ids of the API keys that the user created and that still work, at most ${MAX_OPEN_KEYS}. Revoke them, or repeat the request with \`revoke_keys\`.`,
});

export const ChangedUser = User.extend({ open_api_keys: OpenKeys.optional() });
export type ChangedUser = z.infer<typeof ChangedUser>;

export const DeletedUser = z.object({
  id: z.string(),
  object: z.literal('user'),
  deleted: z.literal(true),
  open_api_keys: OpenKeys,
});
export type DeletedUser = z.infer<typeof DeletedUser>;

type Expected = readonly number[] | undefined;

/**
 * Updates a user. If they are disabled, their API keys are named or revoked; repeating the request completes that.
 * @param others more writes of the same transaction
 * @throws 403, 404, 409 for the break-glass owner, 412
 */
export const changeUser = async (
  deps: AccessDependencies,
  actor: Actor,
  id: string,
  { revoke_keys = false, ...fields }: UserChange,
  expected?: Expected,
  others: readonly Write[] = [],
): Promise<ChangedUser> => {
  const user = await updateUser(deps, actor, id, fields, expected, others);
  if (fields.status !== 'disabled') return user;
  return { ...user, open_api_keys: revoke_keys ? await revokeKeysOf(deps, actor, user) : await openKeysOf(deps, user) };
};

// The address must not stay in the organization's billing profile.
const toStopMails = async ({ settings }: AccessDependencies, { email, organization }: Pick<User, 'email' | 'organization'>) => {
  if (organization === null) return { changes: [], writes: [] };
  const before = await settings.getProfile(organization);
  const emails = before.emails.filter((address) => address.toLowerCase() !== email);
  if (emails.length === before.emails.length) return { changes: [], writes: [] };
  const after = { ...before, emails };
  const target = { type: 'billing_profile', id: organization };
  const change = { action: 'billing_profile.updated', organization, target, before, after };
  return { changes: [change], writes: settings.toReplaceProfile(after, before) };
};

/**
 * Deletes a user, and their address in the billing profile. Their API keys stay with the organization, unless they
 * are revoked: then the user is disabled first and deleted last, so that repeating the request completes it.
 * @param checks conditions under which the user can lose access
 * @throws 403, 404, 409 for the break-glass owner, 412; 503 if there was no time to revoke all keys
 */
export const deleteUser = async (
  deps: AccessDependencies,
  actor: Actor,
  id: string,
  { revokes }: { revokes: boolean },
  expected?: Expected,
  checks: readonly Write[] = [],
): Promise<DeletedUser> => {
  const before = checkVersion(await visibleUser(deps, actor, id), expected);
  requirePermission(actor, 'users:write');
  requireRightsOver(actor, before.role);
  if (id === actor.userId)
    throw new Forbidden({ code: 'own_rights', message: "You can't delete yourself. Ask another owner or an admin." });
  await requireNotBreakGlass(deps.identityProviders, before);
  if (revokes) {
    if (before.status === 'active') await updateUser(deps, actor, id, { status: 'disabled' }, [before.version], checks);
    const left = await revokeKeysOf(deps, actor, before);
    if (left.length > 0) throw new ServiceUnavailable(new Error(`${left.length} API keys of ${id} are still to be revoked.`));
  }
  const user = revokes ? await visibleUser(deps, actor, id) : before;
  const change = { action: 'user.deleted', organization: user.organization, target: { type: 'user', id }, before: toWire(user) };
  const claim = newTimedId('event', actor.origin.nowMs);
  const mails = await toStopMails(deps, user);
  await commit(
    deps,
    actor.origin,
    [change, ...mails.changes],
    [...deps.users.toCheckActor(actor), ...deps.users.toDelete(user, claim, actor.origin.nowMs), ...mails.writes, ...checks],
  );
  await deps.userPool.deleteUser(user.subject);
  await deps.sessions.forget(id);
  await deps.users.releaseEmail(user.email, claim);
  return { id, object: 'user', deleted: true, open_api_keys: await openKeysOf(deps, user) };
};
