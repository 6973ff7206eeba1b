import * as z from 'zod';
import { OrganizationSuspended } from '../../../shared/admission/item/organization.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { type Permission, permissionsOf, ROLES, type Role, reachOf } from '../../../shared/hosts/permissions.ts';
import { Forbidden, InvalidRequest, ResourceNotFound } from '../../../shared/http/errors.ts';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';

export const UserRole = z.enum(ROLES);
export type UserRole = z.infer<typeof UserRole>;

/** The parts of an actor that say what they can do. */
export type Rights = Pick<Actor, 'role' | 'permissions'>;

/** The user who sent a request, with their current rights. */
export interface Actor {
  userId: string;
  email: string;
  role: UserRole;
  /** Absent: a person. */
  kind?: 'service_account';
  /** A service account has only these of the permissions of its role. Absent: all of them. */
  permissions?: ReadonlySet<Permission>;
  /** null for those who work for the platform. */
  organization: string | null;
  /** The most active API keys that they can have as a member. */
  maxApiKeys: number;
  /** An admin who must set up a second factor before anything else. */
  lacksSecondFactor?: true;
  origin: Origin;
}

/** True if an actor has a permission. */
export const can = ({ role, permissions }: Rights, permission: Permission): boolean =>
  permissionsOf(role).has(permission) && (permissions?.has(permission) ?? true);

/** True if an actor works for the platform, and can see the resources of every organization. */
export const isOfPlatform = ({ role }: Pick<Actor, 'role'>): boolean => reachOf(role) === 'platform';

/** True if an actor sees only what is their own in their organization. */
export const seesOnlyOwn = ({ role }: Pick<Actor, 'role'>): boolean => reachOf(role) === 'own';

// The error names the first of these roles that has the missing permission.
const HELPERS: readonly (readonly [Role, string])[] = [
  ['owner', 'an owner'],
  ['admin', 'an admin'],
  ['support', 'support'],
];

/** Rejects an actor without a permission. @throws 403 */
export const requirePermission = (actor: Rights, permission: Permission): void => {
  if (can(actor, permission)) return;
  const [, helper = 'an admin'] = HELPERS.find(([role]) => permissionsOf(role).has(permission)) ?? [];
  const who = permissionsOf(actor.role).has(permission) ? 'this service account was not given' : `your role '${actor.role}' does not have`;
  throw new Forbidden({ message: `This request requires the permission '${permission}', which ${who}. Ask ${helper}.` });
};

/** Rejects a service account. @throws 403 */
export const requirePerson = ({ kind }: Pick<Actor, 'kind'>): void => {
  if (kind === 'service_account')
    throw new Forbidden({ code: 'people_only', message: 'Service accounts cannot make this request. Log in as a person to make it.' });
};

/**
 * Rejects a service account that would invite, change or remove a user with more rights than it has: through such a
 * user, it could gain them. @throws 403
 */
export const requireRightsOver = (actor: Rights & Pick<Actor, 'kind'>, role: Role): void => {
  if (actor.kind === undefined) return;
  const lacking = [...permissionsOf(role)].find((permission) => !OF_A_PERSON.has(permission) && !can(actor, permission));
  if (lacking !== undefined)
    throw new Forbidden({
      code: 'people_only',
      param: 'role',
      message: `A user with the role '${role}' has the permission '${lacking}', which this service account does not have. Ask an owner or an admin.`,
    });
};
// Every person has these, for their own account only.
const OF_A_PERSON: ReadonlySet<Permission> = new Set(['account:read', 'account:write']);

/** 403 for a user who needs a second factor and has not set one up, or whose session is from before that. */
export class SecondFactorRequired extends Forbidden {
  /** @param who such as `Your organization requires` */
  constructor(who = 'Your role requires') {
    super({
      code: 'second_factor_required',
      message: `${who} a second factor. Set one up with POST ${AUTH_PATHS.totp} and POST ${AUTH_PATHS.verifyTotp}, or log in again if you have one.`,
    });
  }
}

/**
 * Returns the organization that a request is about: the actor's own or, for the platform's users, the one that the
 * request names.
 * @throws 404 for another organization; 400 if a request of the platform's users has none
 */
export const organizationFor = (actor: Pick<Actor, 'role' | 'organization'>, requested: string | undefined): string => {
  if (isOfPlatform(actor)) {
    if (!requested)
      throw new InvalidRequest({
        param: 'organization',
        message: `'organization' is required for the role '${actor.role}'. Set it to the id of an organization.`,
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
   * If two owners demote each other at the same time, one fails. Empty for operators, who have no row.
   */
  toCheckActor: (actor: Actor) => Write[];
}

/** Reads the status of an organization, and what it requires of its users' logins. `get` throws 404. */
export interface OrganizationStatuses {
  get: (id: string) => Promise<{ status: 'active' | 'suspended'; require_second_factor?: boolean; fresh_login_minutes?: number }>;
}

/** Rejects changes to a suspended organization. @throws 403 */
export const rejectSuspended = (organization: { status: 'active' | 'suspended' } | undefined): void => {
  if (organization?.status === 'suspended') throw new OrganizationSuspended();
};

/** Rejects changes to a suspended organization. @throws 403, 404 */
export const requireActive = async (organizations: OrganizationStatuses, id: string): Promise<void> =>
  rejectSuspended(await organizations.get(id));
