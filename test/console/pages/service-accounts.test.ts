import { describe, expect, test } from '@jest/globals';
import { examplePath, jobSnippets } from '../../../console/pages/service-account/job-snippet.ts';
import {
  changesOfAccount,
  draftOfAccount,
  EMPTY_ACCOUNT,
  newAccountOf,
  type ServiceAccount,
  withChosen,
  withRole,
} from '../../../console/pages/service-accounts/account-draft.ts';
import { permissionsOfRole } from '../../../console/pages/service-accounts/role-permissions.ts';
import { controlRoutes } from '../../../functions/control/routes.ts';
import { permissionsOfServiceAccount, ROLES } from '../../../shared/hosts/permissions.ts';

const account: ServiceAccount = {
  id: 'user_1',
  object: 'service_account',
  name: 'report',
  description: null,
  organization: 'org_1',
  role: 'viewer',
  permissions: ['usage:read'],
  effective_permissions: ['usage:read'],
  status: 'active',
  created_at: 1,
  created_by: 'user_2',
  updated_at: 1,
  version: 1,
};

describe('the permissions of service accounts in the console', () => {
  test.each(ROLES)('are those that the service gives the role %s', (role) => {
    expect(permissionsOfRole(role).toSorted()).toEqual([...permissionsOfServiceAccount(role)].sort());
  });
});

describe('the form of a service account', () => {
  test('gives up chosen permissions that another role does not have', () => {
    const draft = { ...EMPTY_ACCOUNT, name: ' ci ', role: 'owner' as const };
    const chosen = { ...draft, ...withChosen(draft, 'keys:write', true) };
    const both = { ...chosen, ...withChosen(chosen, 'usage:read', true) };
    expect(newAccountOf(both, undefined)).toEqual({
      name: 'ci',
      description: null,
      role: 'owner',
      permissions: ['keys:write', 'usage:read'],
    });
    expect(withRole(both, 'viewer')).toEqual({ role: 'viewer', permissions: 'usage:read' });
    expect(withChosen(both, 'keys:write', false)).toEqual({ permissions: 'usage:read' });
  });

  test('sends only what differs, and null for all permissions of the role', () => {
    expect(changesOfAccount(draftOfAccount(account), account)).toEqual({});
    expect(changesOfAccount({ ...draftOfAccount(account), permissions: 'all' }, account)).toEqual({ permissions: null });
    expect(draftOfAccount({ ...account, permissions: null }).permissions).toBe('all');
  });
});

describe('the job of a service account', () => {
  test.each(['usage:read', 'keys:read', 'models:read', 'deployments:read', 'audit:read', 'billing:read', 'account:read'])(
    'sends a request that %s allows',
    (permission) => {
      const [path] = examplePath({ effective_permissions: [permission] }).split('?');
      const route = controlRoutes.find((one) => one.method === 'GET' && one.path === path);
      expect(route).toMatchObject({ access: permission });
    },
  );

  test('names the account, and reads the secret from a variable', () => {
    const snippets = jobSnippets({ controlUrl: 'https://control.example.com', account });
    for (const [, code] of snippets) {
      expect(code).toContain('user_1');
      expect(code).toContain('$SERVICE_ACCOUNT:$SERVICE_ACCOUNT_SECRET');
    }
  });
});
