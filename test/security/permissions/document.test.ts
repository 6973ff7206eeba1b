import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readRecordedUses } from '../../support/emulators/used-permissions.ts';
import { DOCUMENT, readNamed, toDocument } from './document.ts';
import { chooseSuites, permissionsOf } from './exercised.ts';
import { type GrantedRole, readGrants } from './grants.ts';

let roles: GrantedRole[];
beforeAll(async () => {
  roles = await readGrants();
});

test('shows every permission of every role, with a suite that uses it or the reason why none does', () => {
  const recorded = process.env.WRITE_PERMISSIONS?.split(',');
  if (recorded) {
    const named = chooseSuites(recorded.map(readRecordedUses), readNamed(readFileSync(DOCUMENT, 'utf8'), roles));
    writeFileSync(DOCUMENT, toDocument(roles, named));
  }
  const document = readFileSync(DOCUMENT, 'utf8');
  const named = readNamed(document, roles);
  expect(document).toBe(toDocument(roles, named));
  const unexplained = permissionsOf(roles).filter(({ id, reason }) => reason === undefined && !named.has(id));
  expect(unexplained.map(({ id }) => id)).toEqual([]);
});

describe('no role', () => {
  test('may use all actions of a service', () => {
    const actions = roles.flatMap(({ granted }) => granted.map(({ action }) => action));
    expect(actions.length).toBeGreaterThan(300);
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
  });

  test('has a permission twice', () => {
    for (const { name, granted } of roles) {
      const ids = granted.map(({ action, resource }) => `${action} ${resource}`);
      expect({ name, twice: ids.filter((id, index) => ids.indexOf(id) !== index) }).toEqual({ name, twice: [] });
    }
  });
});
