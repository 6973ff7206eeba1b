import { expect, test } from '@jest/globals';
import { createCacheSalt } from '../../../shared/upstream/request-body.ts';

test('the prompt cache salt differs by organization and by isolation key, and reveals neither', () => {
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
