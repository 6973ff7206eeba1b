import { describe, expect, test } from '@jest/globals';
import { lockedOut } from '../../../console/pages/identity-provider/locked-out.ts';
import { adviceFor } from '../../../console/pages/identity-provider/refusals.ts';
import { CALLBACK_PATH, PRESETS } from '../../../console/pages/identity-providers/presets.ts';
import {
  changesOfProvider,
  draftOfProvider,
  EMPTY_PROVIDER,
  faultsOfProvider,
  type IdentityProvider,
  mappingIn,
  mappingText,
  newProviderOf,
} from '../../../console/pages/identity-providers/provider-draft.ts';
import { NewIdentityProvider } from '../../../functions/control/identity-providers/identity-provider-resource.ts';
import { SSO_PATHS } from '../../../shared/identity/auth-paths.ts';

const domainOf = (domain: string, status: 'pending' | 'verified') => ({
  domain,
  status,
  record: { type: 'TXT' as const, name: `_sluice.${domain}`, value: 'x' },
  verified_at: null,
});

const provider: IdentityProvider = {
  id: 'idp_1',
  object: 'identity_provider',
  organization: 'org_1',
  name: 'Okta',
  issuer: 'https://acme.okta.com',
  client_id: 'c',
  has_client_secret: true,
  redirect_uri: 'https://control.example.com/v1/auth/sso/callback',
  scopes: ['openid', 'email'],
  domains: [domainOf('acme.example', 'verified'), domainOf('new.example', 'pending')],
  role_claim: 'groups',
  role_mapping: [{ value: 'cn=owners, dc = acme', role: 'owner' }],
  default_role: null,
  required_acr: [],
  session_hours: 12,
  enforced: false,
  break_glass: null,
  addresses_are_managed: false,
  deactivation_revokes_keys: false,
  status: 'active',
  created_at: 1,
  updated_at: 1,
  version: 1,
};

const userOf = (email: string, fields: { id?: string; status?: 'active' | 'disabled' } = {}) => ({
  id: email,
  object: 'user' as const,
  email,
  name: null,
  role: 'member' as const,
  organization: 'org_1',
  status: 'active' as const,
  max_api_keys: 5,
  last_login_at: null,
  created_at: 1,
  updated_at: 1,
  version: 1,
  ...fields,
});

describe('the form of an identity provider', () => {
  test('keeps the order of groups, and equals signs in their names', () => {
    expect(mappingIn(mappingText(provider.role_mapping))).toEqual(provider.role_mapping);
    expect(mappingIn('')).toEqual([]);
  });

  test('sends only what differs, and never an empty client secret', () => {
    const draft = draftOfProvider(provider);
    expect(changesOfProvider(draft, provider)).toEqual({});
    const changed = { ...draft, domains: 'acme.example, other.example', mapping: `${draft.mapping}\n = member` };
    expect(changesOfProvider(changed, provider)).toEqual({
      domains: ['acme.example', 'other.example'],
      role_mapping: provider.role_mapping,
    });
  });

  test.each(Object.values(PRESETS))('makes a body that the service takes for $name', ({ name, issuer, draft }) => {
    const whole = { ...EMPTY_PROVIDER, ...draft, name, clientId: 'c', clientSecret: 's', domains: 'acme.example' };
    expect(faultsOfProvider(whole)).toEqual({});
    expect(NewIdentityProvider.safeParse(newProviderOf(whole, issuer, undefined)).success).toBe(true);
  });

  test('names the redirect address of the service', () => {
    expect(CALLBACK_PATH).toBe(SSO_PATHS.callback);
  });
});

describe('refusing passwords', () => {
  test('locks out users whose domain no active provider has verified, except the break-glass owner', () => {
    const users = [
      userOf('ada@acme.example'),
      userOf('grace@new.example'),
      userOf('old@elsewhere.example', { status: 'disabled' }),
      userOf('boss@elsewhere.example', { id: 'user_boss' }),
    ];
    expect(lockedOut(users, [provider], 'user_boss').map(({ email }) => email)).toEqual(['grace@new.example']);
    expect(lockedOut(users, [{ ...provider, status: 'disabled' }], 'user_boss')).toHaveLength(2);
  });
});

describe('a refused login', () => {
  test('says what to do, also if its reason has a detail', () => {
    expect(adviceFor('code_refused: status_401')).toContain('client secret');
    expect(adviceFor('something_new')).toBeUndefined();
  });
});
