import type { ProviderDraft } from './provider-draft.ts';

interface Preset {
  name: string;
  /** Its form, with the parts that differ in angle brackets. */
  issuer: string;
  draft: Partial<ProviderDraft>;
}

const WITH_GROUPS = 'openid, email, profile, groups';

/** Settings that the products of identity providers need. */
export const PRESETS = {
  okta: { name: 'Okta', issuer: 'https://<domain>.okta.com', draft: { scopes: WITH_GROUPS, roleClaim: 'groups' } },
  entra: { name: 'Microsoft Entra ID', issuer: 'https://login.microsoftonline.com/<tenant id>/v2.0', draft: { roleClaim: 'roles' } },
  google: { name: 'Google Workspace', issuer: 'https://accounts.google.com', draft: {} },
  keycloak: { name: 'Keycloak', issuer: 'https://<host>/realms/<realm>', draft: { roleClaim: 'groups' } },
  auth0: { name: 'Auth0', issuer: 'https://<tenant>.<region>.auth0.com/', draft: { roleClaim: 'https://sluice.example.com/roles' } },
  other: { name: 'Another OpenID provider', issuer: 'https://<issuer>', draft: {} },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;

/** The path at which providers send users back, below the control plane's URL. */
export const CALLBACK_PATH = '/v1/auth/sso/callback';
