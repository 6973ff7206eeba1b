import * as z from 'zod';
import { OrganizationSuspended } from '../../../shared/admission/organization.ts';
import { ROLES } from '../../../shared/hosts/operation.ts';
import { Forbidden, InvalidRequest, ResourceNotFound } from '../../../shared/http/errors.ts';
import type { Origin } from './origin.ts';

export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

/** The user who sent a request, as of now. */
export interface Actor {
  userId: string;
  email: string;
  role: Role;
  /** null for an admin. */
  organization: string | null;
  origin: Origin;
}

/** Whether a role may do everything that another one may. */
export const isAtLeast = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);

/** Rejects an actor whose role is too low. @throws 403 */
export const requireRole = (actor: Pick<Actor, 'role'>, least: Role): void => {
  if (!isAtLeast(actor.role, least))
    throw new Forbidden({
      message: `This needs the role '${least}'; yours is '${actor.role}'. Ask an ${least} to do it, or for the role.`,
    });
};

/**
 * The organization that a request is about: the actor's own, or, for an admin, the one that the request names.
 * @throws 404 for another organization; 400 where an admin names none
 */
export const organizationFor = (actor: Pick<Actor, 'role' | 'organization'>, named: string | undefined): string => {
  if (actor.role === 'admin') {
    if (!named)
      throw new InvalidRequest({
        param: 'organization',
        message: "Invalid value for 'organization': it is required; expected the id of an organization.",
      });
    return named;
  }
  if (!actor.organization || (named !== undefined && named !== actor.organization))
    throw new ResourceNotFound('organization', named ?? '', 'organization');
  return actor.organization;
};

/** Where the status of an organization is read. `get` throws 404. */
export interface OrganizationStatuses {
  get: (id: string) => Promise<{ status: 'active' | 'suspended' }>;
}

/** Rejects changes of a suspended organization. @throws 403, 404 */
export const requireActive = async (organizations: OrganizationStatuses, id: string): Promise<void> => {
  const { status } = await organizations.get(id);
  if (status === 'suspended') throw new OrganizationSuspended();
};
