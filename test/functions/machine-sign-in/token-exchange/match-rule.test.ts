import { describe, expect, test } from '@jest/globals';
import { differingClaims } from '../../../../functions/machine-sign-in/token-exchange/match-rule.ts';
import type { FederationRule } from '../../../../shared/federation/rule.ts';

const SUBJECT = 'repo:acme@12/web@34:ref:refs/heads/main';
const token = { iss: 'i', aud: 'a', exp: 2, iat: 1, sub: SUBJECT, repository_id: '34', ref: 'refs/heads/main', run_attempt: 1, ok: true };
const differing = (subject: string | null, claims: Record<string, string> = {}) =>
  differingClaims({ subject, claims } as FederationRule, { ...token, groups: ['34'], nested: { id: '34' } });

describe('differingClaims', () => {
  test.each<[string | null, Record<string, string>]>([
    [SUBJECT, {}],
    ['repo:acme@12/web@34:*', {}],
    ['*', { repository_id: '34' }],
    [null, { repository_id: '34', ref: 'refs/heads/main' }],
    [null, { run_attempt: '1', ok: 'true' }],
  ])('accepts the subject %s with %j', (subject, claims) => {
    expect(differing(subject, claims)).toEqual([]);
  });

  test.each<[string, Record<string, string>, string[]]>([
    ['repo:acme@12/web@34', {}, ['sub']],
    ['repo:acme@12/web@35:*', {}, ['sub']],
    ['REPO:acme@12/web@34:*', {}, ['sub']],
    ['repo:acme@12/web@34:ref:refs/heads/mai?', {}, ['sub']],
    [SUBJECT, { repository_id: '3' }, ['repository_id']],
    [SUBJECT, { repository_id: '35', ref: 'refs/heads/Main', ok: 'true' }, ['repository_id', 'ref']],
    [SUBJECT, { groups: '34' }, ['groups']],
    [SUBJECT, { nested: '[object Object]' }, ['nested']],
    [SUBJECT, { missing: 'undefined' }, ['missing']],
    [SUBJECT, { toString: 'x' }, ['toString']],
  ])('rejects the subject %s with %j', (subject, claims, names) => {
    expect(differing(subject, claims).map(({ claim }) => claim)).toEqual(names);
  });

  test('shows at most ten claims and 200 characters of each', () => {
    const claims = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`c${i}`, 'x'.repeat(300)]));
    const found = differing(SUBJECT, claims);
    expect(found).toHaveLength(10);
    expect(found[0]).toEqual({ claim: 'c0', expected: 'x'.repeat(200), actual: null });
  });
});
