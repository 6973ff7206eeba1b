import * as z from 'zod';
import { commit } from '../../../shared/audit/commit.ts';
import { isPlatformRole } from '../../../shared/hosts/permissions.ts';
import { Conflict, Forbidden, InvalidRequest } from '../../../shared/http/errors.ts';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';
import type { LoginAttempts } from '../../../shared/identity/login-attempts.ts';
import { Email, type User, UserName } from '../../../shared/identity/user.ts';
import type { IdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import { passwordUseOf } from '../../../shared/single-sign-on/password-use.ts';
import { type Actor, isOfPlatform, organizationFor, requirePermission, requireRightsOver, UserRole } from '../access/actor.ts';
import type { CallCounter } from '../access/count-call.ts';
import { OrganizationId } from '../organizations/organization.ts';
import { createUser, type UserDependencies } from './create-user.ts';
import { visibleUser } from './update-user.ts';

export const NewUser = z.strictObject({
  email: Email,
  name: UserName.nullable().default(null),
  role: UserRole.default('member'),
  organization: OrganizationId.optional().meta({
    description:
      "The user's organization. Required for admins, except for the roles of the platform: `admin`, `support` and `platform_billing`. Owners can leave it out.",
  }),
  temporary_password: z.string().min(12).max(256).optional().meta({
    description: 'A temporary password that you pass on. By default, Sluice emails one. Valid for 7 days; replaced at the first login.',
  }),
});
export type NewUser = z.output<typeof NewUser>;

export interface InvitationDependencies extends UserDependencies {
  identityProviders: Pick<IdentityProviderStore, 'passwordRule' | 'ofDomain'>;
  attempts: LoginAttempts;
  calls: Pick<CallCounter, 'countByRule'>;
}

const countSentInvitation = ({ attempts }: InvitationDependencies, { userId, origin }: Actor): Promise<void> =>
  attempts.count({ kind: 'invite', ipAddress: origin.ipAddress ?? '', account: userId }, origin.nowMs);

const countReceivedInvitation = ({ calls }: InvitationDependencies, actor: Actor, recipient: string): Promise<void> =>
  calls.countByRule('invitations_to_address', { actor, recipient }, actor.origin.nowMs);

const organizationOf = (actor: Actor, { role, organization }: NewUser): string | null => {
  if (!isPlatformRole(role)) return organizationFor(actor, organization);
  if (!isOfPlatform(actor))
    throw new Forbidden({ param: 'role', message: `Only admins can invite users with the role '${role}'. Choose another role.` });
  if (organization !== undefined)
    throw new InvalidRequest({
      param: 'organization',
      message: `Users with the role '${role}' don't belong to an organization. Leave out 'organization'.`,
    });
  return null;
};

// An address has one user, so whoever is invited elsewhere could not sign in with their own identity provider.
const requireOwnDomain = async (
  { identityProviders }: InvitationDependencies,
  actor: Actor,
  { email, organization }: { email: string; organization: string | null },
): Promise<void> => {
  if (isOfPlatform(actor)) return;
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const holder = await identityProviders.ofDomain(domain);
  if (!holder || holder.organization === organization) return;
  throw new Conflict({
    code: 'domain_of_another_organization',
    param: 'email',
    message: `Another organization has verified the domain ${domain}, so only its own owners can invite this address. Use an address of another domain, or open a ticket.`,
  });
};

/**
 * Invites a user: owners into their own organization, admins into any.
 * @throws 400, 403, 404, 409 if the address is in use or in a domain of another organization, 429
 */
export const inviteUser = async (deps: InvitationDependencies, actor: Actor, body: NewUser): Promise<User> => {
  requirePermission(actor, 'users:write');
  requireRightsOver(actor, body.role);
  await countSentInvitation(deps, actor);
  const organization = organizationOf(actor, body);
  await requireOwnDomain(deps, actor, { email: body.email, organization });
  const isMailed = body.temporary_password === undefined;
  return createUser(deps, actor.origin, { ...body, organization }, deps.users.toCheckActor(actor), async () => {
    if (isMailed) await countReceivedInvitation(deps, actor, body.email);
  });
};

const noInvitation = (): Conflict =>
  new Conflict({
    code: 'no_invitation',
    message: 'This user has no pending invitation. Delete the user and invite them again.',
  });

/** Emails an invitation again, with a new temporary password. @throws 403, 404, 409 if the user has logged in, 429 */
export const resendInvitation = async (deps: InvitationDependencies, actor: Actor, id: string): Promise<void> => {
  await countSentInvitation(deps, actor);
  const user = await visibleUser(deps, actor, id);
  requireRightsOver(actor, user.role);
  if (user.last_login_at !== null)
    throw new Conflict({
      code: 'already_logged_in',
      message: `This user has already logged in. Ask them to set a new password with POST ${AUTH_PATHS.forgot}.`,
    });
  if (user.status !== 'active')
    throw new Conflict({ code: 'user_disabled', message: 'This user is disabled. Enable the user, then send the invitation again.' });
  if ((await passwordUseOf(deps.identityProviders, user)) === 'refused')
    throw new Conflict({
      code: 'single_sign_on_enforced',
      message: 'This user signs in with the identity provider of the organization, and needs no invitation. Ask them to sign in there.',
    });
  if (!(await deps.userPool.isInvited(user.email))) throw noInvitation();
  await countReceivedInvitation(deps, actor, user.email);
  const change = { action: 'user.invited_again', organization: user.organization, target: { type: 'user', id } };
  // The entry first: a crash must not leave a new temporary password without one.
  await commit(deps, actor.origin, change, deps.users.toCheckActor(actor));
  if (!(await deps.userPool.resendInvitation(user.email))) throw noInvitation();
};
