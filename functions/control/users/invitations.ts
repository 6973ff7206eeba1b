import * as z from 'zod';
import { Conflict, Forbidden, InvalidRequest } from '../../../shared/http/errors.ts';
import { type Actor, organizationFor, Role, requireRole } from '../access/actor.ts';
import { commit } from '../audit/commit.ts';
import type { AttemptStore } from '../identity/attempt-store.ts';
import { createUser, type UserDependencies } from './create-user.ts';
import { visibleUser } from './update-user.ts';
import { Email, type User, UserName } from './user.ts';

export const NewUser = z.strictObject({
  email: Email,
  name: UserName.nullable().default(null),
  role: Role.default('member'),
  organization: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Whose user it is: an owner’s is their own, an admin names it. Not for the role `admin`.' }),
  temporary_password: z.string().min(12).max(256).optional().meta({
    description:
      'To be handed over by you. Without it an invitation with one is e-mailed. Either is changed at the first login, and valid for 7 days.',
  }),
});
export type NewUser = z.output<typeof NewUser>;

export interface InvitationDependencies extends UserDependencies {
  attempts: AttemptStore;
}

/** An owner can have e-mails sent to any address, so invitations are limited. @throws 429 */
const countInvitation = ({ attempts }: InvitationDependencies, { userId, origin }: Actor): Promise<void> =>
  attempts.count({ kind: 'invite', ipAddress: origin.ipAddress ?? '', account: userId }, origin.nowMs);

/** The organization of the new user. @throws 400, 403, 404 */
const organizationOf = (actor: Actor, { role, organization }: NewUser): string | null => {
  if (role !== 'admin') return organizationFor(actor, organization);
  if (actor.role !== 'admin') throw new Forbidden({ param: 'role', message: "Only an admin may make a user with the role 'admin'." });
  if (organization !== undefined)
    throw new InvalidRequest({ param: 'organization', message: "Invalid value for 'organization': an admin is of none; leave it out." });
  return null;
};

/** Invites a user, as an owner into their own organization or as an admin. @throws 400, 403, 404, 409 where the address is in use */
export const inviteUser = async (deps: InvitationDependencies, actor: Actor, body: NewUser): Promise<User> => {
  requireRole(actor, 'owner');
  await countInvitation(deps, actor);
  const organization = organizationOf(actor, body);
  return createUser(deps, actor.origin, { ...body, organization });
};

/** E-mails an invitation again, with a new temporary password. @throws 404, 409 for a user who has logged in */
export const resendInvitation = async (deps: InvitationDependencies, actor: Actor, id: string): Promise<void> => {
  await countInvitation(deps, actor);
  const user = await visibleUser(deps, actor, id);
  if (user.last_login_at !== null)
    throw new Conflict({
      code: 'already_logged_in',
      message: 'The user has logged in already, and can set a new password with POST /v1/auth/forgot.',
    });
  if (!(await deps.userPool.resendInvitation(user.email)))
    throw new Conflict({
      code: 'no_invitation',
      message: 'There is no invitation to be sent again: delete the user, and invite them anew.',
    });
  await commit(deps, actor.origin, { action: 'user.invited_again', organization: user.organization, target: { type: 'user', id } }, []);
};
