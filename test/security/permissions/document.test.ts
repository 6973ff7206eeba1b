import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DOCUMENT, toDocument } from './document.ts';
import { type GrantedRole, readGrants } from './grants.ts';

let roles: GrantedRole[];
beforeAll(async () => {
  roles = await readGrants();
});

test('docs/permissions.md shows every permission of every role', () => {
  const document = toDocument(roles);
  if (process.env.WRITE_PERMISSIONS) writeFileSync(DOCUMENT, document);
  expect(readFileSync(DOCUMENT, 'utf8')).toBe(document);
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
