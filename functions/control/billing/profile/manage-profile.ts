import { type AuditDependencies, commit } from '../../../../shared/audit/commit.ts';
import type { BillingSettingsStore } from '../../../../shared/billing/billing-settings-store.ts';
import { Forbidden } from '../../../../shared/http/errors.ts';
import { checkVersion } from '../../../../shared/http/precondition.ts';
import { type Actor, type ActorChecks, can, organizationFor } from '../../access/actor.ts';
import type { BillingProfileResource, BillingProfileUpdate } from './profile-resource.ts';

export interface ProfileDependencies extends AuditDependencies {
  settings: Pick<BillingSettingsStore, 'getProfile' | 'toReplaceProfile'>;
  organizations: { get: (id: string) => Promise<{ id: string }> };
  users: ActorChecks;
}

// Terms that the platform agrees with a customer: a customer can't decide them alone.
const ADMIN_FIELDS = ['payment_terms_days', 'invoice_note', 'stripe_customer'] as const;

class SetByAdmins extends Forbidden {
  constructor(field: string) {
    super({
      code: 'set_by_admins',
      param: field,
      message: `Changing '${field}' requires the permission 'billing:issue', which no role of an organization has. Leave it out, or ask an admin to change it.`,
    });
  }
}

/** Returns an organization's profile, with defaults until it is changed. @throws 400, 404 */
export const retrieveProfile = async (
  { settings, organizations }: ProfileDependencies,
  actor: Actor,
  requested: string | undefined,
): Promise<BillingProfileResource> => {
  const { id } = await organizations.get(organizationFor(actor, requested));
  return { object: 'billing_profile', ...(await settings.getProfile(id)) };
};

/** Changes some fields of a profile. Issued invoices keep the profile that they print. @throws 400, 403, 404, 412 */
export const updateProfile = async (
  deps: ProfileDependencies,
  actor: Actor,
  requested: string | undefined,
  body: BillingProfileUpdate,
  expected: readonly number[] | undefined,
): Promise<BillingProfileResource> => {
  const { id } = await deps.organizations.get(organizationFor(actor, requested));
  const forbidden = can(actor, 'billing:issue') ? undefined : ADMIN_FIELDS.find((field) => body[field] !== undefined);
  if (forbidden) throw new SetByAdmins(forbidden);
  const before = checkVersion(await deps.settings.getProfile(id), expected);
  const changes = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  const after = { ...before, ...changes };
  const change = { action: 'billing_profile.updated', organization: id, target: { type: 'billing_profile', id }, before, after };
  await commit(deps, actor.origin, change, [...deps.users.toCheckActor(actor), ...deps.settings.toReplaceProfile(after, before)]);
  return { object: 'billing_profile', ...after, version: before.version + 1 };
};
