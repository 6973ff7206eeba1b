import { describe, expect, test } from '@jest/globals';
import { parseScimFilter, type ScimCondition } from '../../../../../functions/control/scim/protocol/filter.ts';

const parse = (text: string): ScimCondition[] => parseScimFilter(text, 'userName eq "…"');

describe('a filter', () => {
  test.each<[text: string, conditions: ScimCondition[]]>([
    ['userName eq "Ada@Example.com"', [{ attribute: 'username', value: 'Ada@Example.com' }]],
    ['USERNAME EQ "ada"', [{ attribute: 'username', value: 'ada' }]],
    ['  userName   eq "a b"  ', [{ attribute: 'username', value: 'a b' }]],
    ['userName eq "say \\"hi\\" \\u00e9"', [{ attribute: 'username', value: 'say "hi" é' }]],
    ['userName eq "] and (x) eq \\"y\\""', [{ attribute: 'username', value: '] and (x) eq "y"' }]],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "a"', [{ attribute: 'username', value: 'a' }]],
    ['active eq true', [{ attribute: 'active', value: true }]],
    ['active eq False', [{ attribute: 'active', value: false }]],
    ['emails.value eq "a"', [{ attribute: 'emails.value', value: 'a' }]],
    [
      'emails[type eq "work"].value eq "a"',
      [
        { attribute: 'emails.type', value: 'work' },
        { attribute: 'emails.value', value: 'a' },
      ],
    ],
    [
      'emails[type eq "work" and value eq "a"]',
      [
        { attribute: 'emails.type', value: 'work' },
        { attribute: 'emails.value', value: 'a' },
      ],
    ],
    [
      '(id eq "grp_1") and members[value eq "user_1"]',
      [
        { attribute: 'id', value: 'grp_1' },
        { attribute: 'members.value', value: 'user_1' },
      ],
    ],
  ])('is parsed: %s', (text, conditions) => {
    expect(parse(text)).toEqual(conditions);
  });

  test.each([
    '',
    'userName',
    'userName eq',
    'userName eq ada',
    'userName eq "ada',
    'userName eq {"a":1}',
    'userName ne "ada"',
    'userName co "a"',
    'userName pr',
    'userName eq "a" or userName eq "b"',
    'not (userName eq "a")',
    'userName eq "a" and',
    'userName eq "a" userName eq "b"',
    '(userName eq "a"',
    'userName eq "a")',
    'emails[type eq "work"',
    'emails[type eq "work"].value',
    'emails[a[type eq "work"]]',
    `userName eq "${'a'.repeat(1_000)}"`,
    Array.from({ length: 11 }, () => 'id eq "a"').join(' and '),
    `${'('.repeat(400)}id eq "a"`,
  ])('is rejected: %s', (text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ status: 400, code: 'invalid_filter' }));
  });
});
