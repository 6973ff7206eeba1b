import { newTimedId } from '../../../shared/ids/id.ts';
import type { IdentityProvider } from '../../../shared/single-sign-on/identity-provider.ts';

const NOW_SECONDS = Date.UTC(2026, 10, 1) / 1_000;

/** A connection with no verified domain, for tests of what is decided from it. */
export const identityProvider = (fields: Partial<IdentityProvider> = {}): IdentityProvider => ({
  id: newTimedId('identityProvider', Date.now()),
  organization: 'org_acme',
  name: 'Acme',
  issuer: 'https://login.example.com',
  client_id: 'sluice',
  client_secret_version: null,
  scopes: ['openid', 'email', 'profile'],
  domains: [],
  role_claim: 'groups',
  role_mapping: [],
  default_role: null,
  required_acr: [],
  session_hours: 12,
  enforced: false,
  break_glass: null,
  addresses_are_managed: false,
  deactivation_revokes_keys: false,
  status: 'active',
  created_at: NOW_SECONDS,
  updated_at: NOW_SECONDS,
  version: 1,
  ...fields,
});
