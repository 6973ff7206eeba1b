import type { RequestBody } from '../../client/routes.ts';
import type { Organization } from './limits-draft.ts';

/** The fields of an organization as their form edits them. */
export type OrganizationDraft = { name: string; requiresSecondFactor: boolean; freshLoginMinutes: string; storesNoContent: boolean };

export const ORGANIZATION_LABELS = {
  name: 'Name',
  requiresSecondFactor: 'Require a second factor',
  freshLoginMinutes: 'Sign-in valid for sensitive changes (minutes)',
  storesNoContent: "Don't store request content",
} as const satisfies Record<keyof OrganizationDraft, string>;

/** An organization as its form edits it. */
export const draftOfOrganization = (organization: Organization): OrganizationDraft => ({
  name: organization.name,
  requiresSecondFactor: organization.require_second_factor,
  freshLoginMinutes: String(organization.fresh_login_minutes),
  storesNoContent: organization.no_content,
});

/** The body that changes an organization: only what differs from it. */
export const changesOfOrganization = (
  draft: OrganizationDraft,
  organization: Organization,
): RequestBody<'PATCH /v1/organizations/{id}'> => {
  const opened = draftOfOrganization(organization);
  return {
    ...(draft.name !== opened.name && { name: draft.name.trim() }),
    ...(draft.requiresSecondFactor !== opened.requiresSecondFactor && { require_second_factor: draft.requiresSecondFactor }),
    ...(draft.freshLoginMinutes !== opened.freshLoginMinutes && { fresh_login_minutes: Number(draft.freshLoginMinutes) }),
    ...(draft.storesNoContent !== opened.storesNoContent && { no_content: draft.storesNoContent }),
  };
};
