import { describe, expect, test } from '@jest/globals';
import { claimedRole } from '../../../../functions/single-sign-on/claims/claimed-role.ts';
import { isPlatformRole, ROLES } from '../../../../shared/hosts/permissions.ts';
import { OrganizationRole } from '../../../../shared/single-sign-on/identity-provider.ts';
import { identityProvider } from '../../../shared/single-sign-on/identity-providers.ts';

const provider = identityProvider({
  role_mapping: [
    { value: 'finance', role: 'billing' },
    { value: 'platform', role: 'owner' },
    { value: 'everyone', role: 'member' },
  ],
});

describe('claimedRole', () => {
  test.each([
    ['takes the first entry of the mapping that matches', { groups: ['everyone', 'platform', 'finance'] }, 'billing'],
    ['reads a claim that is one text', { groups: 'platform' }, 'owner'],
    ['compares case', { groups: ['Platform'] }, null],
    ['matches whole values only', { groups: ['platform-guests'] }, null],
    ['gives no role without the claim', { roles: ['platform'] }, null],
    ['ignores values that are no texts', { groups: [1, null, { platform: true }, ['platform']] }, null],
    ['ignores a claim that is an object', { groups: { platform: true } }, null],
  ])('%s', (_, claims, role) => {
    expect(claimedRole(provider, claims)).toBe(role);
  });

  test('gives the default role to those whom no entry matches', () => {
    expect(claimedRole({ ...provider, default_role: 'viewer' }, { groups: ['guests'] })).toBe('viewer');
    expect(claimedRole({ ...provider, default_role: 'viewer' }, { groups: ['finance'] })).toBe('billing');
  });

  test('reads a claim within another one, and one with dots in its name', () => {
    expect(claimedRole({ ...provider, role_claim: 'realm_access.roles' }, { realm_access: { roles: ['platform'] } })).toBe('owner');
    const name = 'https://sluice.example.com/roles';
    expect(claimedRole({ ...provider, role_claim: name }, { [name]: ['finance'] })).toBe('billing');
  });

  test('reads no inherited property', () => {
    expect(claimedRole({ ...provider, role_claim: 'constructor.name', role_mapping: [{ value: 'Object', role: 'owner' }] }, {})).toBeNull();
  });
});

describe('OrganizationRole', () => {
  test('has every role that does not work for the platform', () => {
    expect(OrganizationRole.options).toEqual(ROLES.filter((role) => !isPlatformRole(role)));
  });
});
