import { describe, expect, test } from '@jest/globals';
import { rolesIn, type User, userStateOf } from '../../../console/pages/users/roles.ts';
import { changesOfUser, draftOfUser } from '../../../console/pages/users/user-draft.ts';
import { isPlatformRole, ROLES } from '../../../shared/hosts/permissions.ts';

const user: User = {
  id: 'user_1',
  object: 'user',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'member',
  organization: 'org_1',
  status: 'active',
  max_api_keys: 5,
  last_login_at: 1,
  created_at: 1,
  updated_at: 1,
  version: 1,
};

describe('the form of a user', () => {
  test('sends only the fields that differ, and null for an empty name', () => {
    expect(changesOfUser(draftOfUser(user), user)).toEqual({});
    expect(changesOfUser({ name: ' ', role: 'owner', maxApiKeys: '7' }, user)).toEqual({ name: null, role: 'owner', max_api_keys: 7 });
  });
});

describe('rolesIn', () => {
  test('offers each role either in an organization or for the platform', () => {
    const [inOrganization, forPlatform] = [rolesIn('org_1'), rolesIn(null)].map((roles) => roles.map(([role]) => role));
    expect(inOrganization?.filter(isPlatformRole)).toEqual([]);
    expect([...(inOrganization ?? []), ...(forPlatform ?? [])].sort()).toEqual([...ROLES].sort());
  });
});

describe('userStateOf', () => {
  test.each([
    ['active', user],
    ['invited', { ...user, last_login_at: null }],
    ['disabled', { ...user, status: 'disabled', last_login_at: null }],
  ] as const)('returns %s', (state, facts) => {
    expect(userStateOf(facts)).toBe(state);
  });
});
