import type { Role } from '../../../shared/hosts/permissions.ts';
import type { ReplyBody } from '../../client/routes.ts';

type Choice<Value extends string> = readonly [value: Value, label: string];

export type User = ReplyBody<'GET /v1/users/{id}'>;

/** The `organization` that stands for the users who work for the platform. */
export const PLATFORM = 'platform';

const OF_ORGANIZATION: readonly Choice<Role>[] = [
  ['member', 'Member: own API keys and requests'],
  ['viewer', 'Viewer: sees all, changes nothing'],
  ['billing', 'Billing: costs, invoices and the billing profile'],
  ['owner', 'Owner: everything of the organization'],
];

const OF_PLATFORM: readonly Choice<Role>[] = [
  ['support', 'Support: answers tickets'],
  ['platform_billing', 'Platform billing: issues invoices'],
  ['admin', 'Admin: everything of the platform'],
];

/** The roles that a user can have in an organization, or else for the platform. */
export const rolesIn = (organization: string | null): readonly Choice<Role>[] =>
  organization === null || organization === PLATFORM ? OF_PLATFORM : OF_ORGANIZATION;

export type UserState = 'active' | 'invited' | 'disabled';

/** A user who has never signed in is invited. */
export const userStateOf = ({ status, last_login_at }: Pick<User, 'status' | 'last_login_at'>): UserState =>
  status === 'disabled' ? 'disabled' : last_login_at === null ? 'invited' : 'active';
