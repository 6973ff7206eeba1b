import { type AuditedChange, commit } from '../../shared/audit/commit.ts';
import { transact, type Write } from '../../shared/database/transaction.ts';
import { type Caller, originOf } from '../../shared/identity/request-origin.ts';
import { placeOfUser, type UserDirectory } from '../../shared/identity/user-directory.ts';
import { type StoredUser, toWire } from '../../shared/identity/user-store.ts';
import type { IdentityProvider, OrganizationRole } from '../../shared/single-sign-on/identity-provider.ts';
import { unixSeconds } from '../../shared/time/units.ts';
import { LoginFailed } from './login-fault.ts';
import { type ProvisionDependencies, provisionUser } from './provision-user.ts';
import type { Resolved } from './resolve-user.ts';

export interface SignInAsDependencies extends ProvisionDependencies {
  directory: Pick<UserDirectory, 'ownersOf'>;
}

interface Plan {
  changes: AuditedChange[];
  writes: Write[];
}

const NOTHING: Plan = { changes: [], writes: [] };

// The last owner and the break-glass owner stay owners, whatever the claims say.
const checkOfDemotion = async (
  { directory, accounts }: SignInAsDependencies,
  { break_glass, organization }: IdentityProvider,
  user: StoredUser,
): Promise<Write[] | undefined> => {
  if (user.id === break_glass) return undefined;
  const other = (await directory.ownersOf(organization, 2)).find(({ id }) => id !== user.id);
  const refused = (): LoginFailed => new LoginFailed('changed_meanwhile');
  // If two owners are demoted at the same time, one login fails.
  return other && [accounts.toCheck(placeOfUser(other.id), { status: 'active', role: 'owner' }, refused)];
};

/** Returns the role that a user has after a login. */
export const roleAfter = async (deps: SignInAsDependencies, provider: IdentityProvider, resolved: Resolved): Promise<OrganizationRole> => {
  const { kind, role } = resolved;
  if (kind === 'provisions' || resolved.user.role !== 'owner' || role === 'owner') return role;
  return (await checkOfDemotion(deps, provider, resolved.user)) ? role : 'owner';
};

const planRole = async (
  deps: SignInAsDependencies,
  provider: IdentityProvider,
  user: StoredUser,
  { role, nowMs }: { role: OrganizationRole; nowMs: number },
): Promise<Plan> => {
  if (role === user.role) return NOTHING;
  const checks = user.role === 'owner' ? await checkOfDemotion(deps, provider, user) : [];
  if (!checks) return NOTHING;
  const after = { ...user, role, updated_at: unixSeconds(nowMs) };
  const { organization, id } = user;
  const change = { action: 'user.updated', organization, target: { type: 'user', id }, before: toWire(user), after: toWire(after) };
  return { changes: [change], writes: [...checks, deps.users.toReplace(after, user)] };
};

// A user who has not accepted their invitation yet gets a password that nobody knows.
const planLink = async (deps: SignInAsDependencies, provider: IdentityProvider, user: StoredUser, subject: string): Promise<Plan> => {
  await deps.userPool.createSilentUser(user.email);
  const { organization, id } = user;
  const after = { identity_provider: provider.id };
  return {
    changes: [{ action: 'user.linked', organization, target: { type: 'user', id }, after }],
    writes: deps.links.toLink(id, provider.id, subject),
  };
};

/**
 * Makes the changes of a login: links or creates the user, and gives them the role of their claims.
 * @returns the id of the user
 * @throws LoginFailed; 409 or 412 if another request changed the user first: resolve them again
 */
export const signInAs = async (
  deps: SignInAsDependencies,
  caller: Caller,
  provider: IdentityProvider,
  resolved: Resolved,
): Promise<string> => {
  const { subject, role } = resolved;
  if (resolved.kind !== 'signs_in' && resolved.deleted !== undefined)
    await transact(deps.database, deps.links.toUnlink(resolved.deleted, provider.id, subject));
  if (resolved.kind === 'provisions') return (await provisionUser(deps, caller, { provider, subject, email: resolved.email, role })).id;
  const { user } = resolved;
  const link = resolved.kind === 'links' ? await planLink(deps, provider, user, subject) : NOTHING;
  const plan = await planRole(deps, provider, user, { role, nowMs: caller.receivedAtMs });
  const changes = [...link.changes, ...plan.changes];
  if (changes.length > 0) await commit(deps, originOf(caller, user), changes, [...link.writes, ...plan.writes]);
  return user.id;
};
