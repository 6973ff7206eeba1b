import * as z from 'zod';
import { OrganizationSuspended } from '../../../shared/admission/item/organization.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { ROLES } from '../../../shared/hosts/operation.ts';
import { Forbidden, InvalidRequest, ResourceNotFound } from '../../../shared/http/errors.ts';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';

export const UserRole = z.enum(ROLES);
export type UserRole = z.infer<typeof UserRole>;

/** The user who sent a request, with their current rights. */
export interface Actor {
  userId: string;
  email: string;
  role: UserRole;
  /** null for admins and support. */
  organization: string | null;
  /** The most active API keys that they can have as a member. */
  maxApiKeys: number;
  /** An admin who must set up a second factor before anything else. */
  lacksSecondFactor?: true;
  origin: Origin;
}

/** Compares the rights of two roles: true if `role` has all the rights of `least`. */
export const isAtLeast = (role: UserRole, least: UserRole): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);

/** Users with these roles work for the platform, and so belong to no organization. */
export const isPlatformRole = (role: UserRole): boolean => role === 'admin' || role === 'support';

const ADVICE: Readonly<Record<UserRole, string>> = {
  support: 'Ask support.',
  member: 'Ask a member.',
  owner: 'Ask an owner.',
  admin: 'Ask an admin.',
};

/** Rejects an actor whose role is too low. @throws 403 */
export const requireRole = (actor: Pick<Actor, 'role'>, least: UserRole): void => {
  if (!isAtLeast(actor.role, least))
    throw new Forbidden({
      message: `This request requires the role '${least}', but your role is '${actor.role}'. ${ADVICE[least]}`,
    });
};

/** 403 for an admin who has not set up a second factor, or whose session is from before that. */
export class SecondFactorRequired extends Forbidden {
  constructor() {
    super({
      code: 'second_factor_required',
      message: `Admins need a second factor. Set one up with POST ${AUTH_PATHS.totp} and POST ${AUTH_PATHS.verifyTotp}, or log in again if you have one.`,
    });
  }
}

/**
 * Returns the organization that a request is about: the actor's own or, for admins, the one in the request.
 * @throws 404 for another organization; 400 if an admin's request has none
 */
export const organizationFor = (actor: Pick<Actor, 'role' | 'organization'>, requested: string | undefined): string => {
  if (actor.role === 'admin') {
    if (!requested)
      throw new InvalidRequest({
        param: 'organization',
        message: "'organization' is required for admins. Set it to the id of an organization.",
      });
    return requested;
  }
  if (!actor.organization || (requested !== undefined && requested !== actor.organization))
    throw new ResourceNotFound('organization', requested ?? '', 'organization');
  return actor.organization;
};

/** Checks that keep a change of rights correct beside concurrent ones. */
export interface ActorChecks {
  /**
   * The check, in the transaction of a change, that the actor still has the role that the request was authorized with.
   * Of two owners who demote each other at the same time, one fails. Empty for operators, who have no row.
   */
  toCheckActor: (actor: Actor) => Write[];
}

/** Reads the status of an organization. `get` throws 404. */
export interface OrganizationStatuses {
  get: (id: string) => Promise<{ status: 'active' | 'suspended' }>;
}

/** Rejects changes to a suspended organization. @throws 403, 404 */
export const requireActive = async (organizations: OrganizationStatuses, id: string): Promise<void> => {
  const { status } = await organizations.get(id);
  if (status === 'suspended') throw new OrganizationSuspended();
};
