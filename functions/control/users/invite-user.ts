import * as z from 'zod';
import { Forbidden, InvalidRequest } from '../../../shared/http/errors.ts';
import { type Actor, organizationFor, requireRole } from '../access/actor.ts';
import { countInvitation, type InvitationDependencies } from './count-invitation.ts';
import { makeUser } from './make-user.ts';
import { Email, Role, type User, UserName } from './user.ts';

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

/** Whose the user is to be. @throws 400, 403, 404 */
const organizationOf = (actor: Actor, { role, organization }: NewUser): string | null => {
  if (role !== 'admin') return organizationFor(actor, organization);
  if (actor.role !== 'admin') throw new Forbidden({ param: 'role', message: "Only an admin may make a user with the role 'admin'." });
  if (organization !== undefined)
    throw new InvalidRequest({ param: 'organization', message: "Invalid value for 'organization': an admin is of none; leave it out." });
  return null;
};

/** Invites a user, as an owner into their own organization or as an admin. @throws 400, 403, 404, 409 where the address is taken */
export const inviteUser = async (deps: InvitationDependencies, actor: Actor, body: NewUser): Promise<User> => {
  requireRole(actor, 'owner');
  await countInvitation(deps, actor);
  const organization = organizationOf(actor, body);
  return makeUser(deps, actor.origin, { ...body, organization });
};
