import { describe, expect, test } from '@jest/globals';
import { controlOperations } from '../../infra/tools/reference/control-operations.ts';
import { PERMISSIONS, permissionsOf, ROLES, type Role } from '../../shared/hosts/permissions.ts';
import before from './rights-of-release-0-1-0.json' with { type: 'json' };

// The order of the roles in that release: each had the rights of the ones before it.
const ORDER = ['support', 'member', 'owner', 'admin'] as const satisfies readonly Role[];
// Its rules refused admins there, after their role had been accepted.
const REFUSED_ADMINS = [
  'GET /v1/observability/payload-log',
  'PUT /v1/observability/payload-log',
  'DELETE /v1/observability/payload-log',
  'GET /v1/observability/requests/{id}/payload',
];

const restricted = controlOperations.filter(({ access }) => access !== 'public');
const routes = new Map(restricted.map(({ method, path, access }) => [`${method} ${path}`, access as string]));

const couldCall = (role: (typeof ORDER)[number], name: string, least: string): boolean =>
  ORDER.indexOf(role) >= ORDER.indexOf(least as (typeof ORDER)[number]) && !(role === 'admin' && REFUSED_ADMINS.includes(name));

describe('rights', () => {
  test.each(Object.entries(before))('keep who can call %s, which release 0.1.0 opened from %s up', (name, least) => {
    const now = ORDER.filter((role) => (permissionsOf(role) as ReadonlySet<string>).has(routes.get(name) ?? ''));
    expect(now).toEqual(ORDER.filter((role) => couldCall(role, name, least)));
  });

  test('are compared for each route and role of that release', () => {
    expect(Object.keys(before)).toHaveLength(117);
  });

  test('give each role only permissions that exist, and each permission to a role', () => {
    const given = new Set(ROLES.flatMap((role) => [...permissionsOf(role)]));
    expect([...given].toSorted()).toEqual([...PERMISSIONS].toSorted());
  });
});
