import { expect, test } from '@jest/globals';
import { createCacheSalt } from '../../../shared/upstream/request-body.ts';

test('derives a salt from organization and isolation key that reveals neither', () => {
  const salts = [
    createCacheSalt('s')('org_a', null),
    createCacheSalt('s')('org_b', null),
    createCacheSalt('s')('org_a', 'k'),
    createCacheSalt('t')('org_a', null),
  ];
  expect(new Set(salts).size).toBe(4);
  expect(createCacheSalt('s')('org_a', undefined)).toBe(salts[0]);
  for (const salt of salts) expect(salt).toMatch(/^[0-9a-f]{64}$/);
});

test('gives each of many organizations the same salt again, whatever was asked for before', () => {
  const saltOf = createCacheSalt('s');
  const organizations = Array.from({ length: 2_500 }, (_, i) => `org_${i}`);
  const salts = organizations.map((organization) => saltOf(organization, null));
  expect(new Set(salts).size).toBe(organizations.length);
  expect(saltOf('org_0', 'k')).toBe(createCacheSalt('s')('org_0', 'k'));
  expect(organizations.map((organization) => saltOf(organization, null))).toEqual(salts);
});
