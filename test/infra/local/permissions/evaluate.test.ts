import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { Statement } from '../../../../infra/assembly/interpret-roles.ts';
import { evaluate, matches, type Need } from '../../../../infra/local/permissions/evaluate.ts';

const KEYS = 'arn:aws:dynamodb:us-east-1:000000000000:table/keys';

const statement = (fields: Partial<Statement> = {}): Statement => ({
  Effect: 'Allow',
  Action: ['dynamodb:GetItem'],
  Resource: [KEYS],
  Condition: {},
  ...fields,
});

const need = (fields: Partial<Need> = {}): Need => ({ action: 'dynamodb:GetItem', resource: KEYS, context: {}, ...fields });

const isAllowed = (statements: Statement[], fields: Partial<Need> = {}): boolean => evaluate(statements, need(fields)).isAllowed;

describe('a call', () => {
  test('is denied without a policy', () => {
    expect(evaluate([], need())).toEqual({ isAllowed: false, why: 'no policy allows it' });
  });

  test('is allowed by its action and resource, which the decision names', () => {
    const statements = [statement({ Action: ['dynamodb:PutItem', 'dynamodb:Get*'], Resource: ['arn:aws:s3:::a', KEYS] })];
    expect(evaluate(statements, need())).toEqual({ isAllowed: true, by: { action: 'dynamodb:Get*', resource: KEYS } });
  });

  test.each([
    ['another action', { Action: ['dynamodb:PutItem'] }],
    ['another resource', { Resource: [`${KEYS}2`] }],
    ['an index of the table', { Resource: [`${KEYS}/index/epoch`] }],
    ['a part of the name', { Resource: [KEYS.slice(0, -1)] }],
    ['a wildcard that fits nothing', { Resource: [`${KEYS}?`] }],
    ['a condition on a key that the call has not', { Condition: { StringEquals: { 'aws:ResourceTag/sluice': ['true'] } } }],
  ])('is not allowed by %s', (_, fields) => {
    expect(isAllowed([statement(fields)])).toBe(false);
  });

  test('is denied by an explicit deny, wherever it is', () => {
    const deny = statement({ Effect: 'Deny', Action: ['*'], Resource: ['*'] });
    for (const statements of [
      [deny, statement()],
      [statement(), deny],
    ])
      expect(evaluate(statements, need())).toEqual({ isAllowed: false, why: 'an explicit deny' });
  });

  test('is not denied by a deny whose condition does not hold', () => {
    const deny = statement({ Effect: 'Deny', Condition: { StringEquals: { 'aws:ResourceTag/a': ['b'] } } });
    expect(isAllowed([deny, statement()])).toBe(true);
  });

  test('gets the same decision again, and so does each other call, however many there are', () => {
    const statements = [
      statement({ Resource: ['arn:aws:s3:::a/*5'], Action: ['s3:GetObject'] }),
      statement({ Action: ['s3:PutObject'], Resource: ['*'], Condition: { StringEquals: { 'aws:ResourceTag/a': ['b'] } } }),
    ];
    const needs = Array.from({ length: 400 }, (_, i) => `arn:aws:s3:::a/${i}`).flatMap((resource) => [
      need({ action: 's3:GetObject', resource }),
      need({ action: 's3:PutObject', resource }),
      need({ action: 's3:PutObject', resource, context: { 'aws:ResourceTag/a': ['b'] } }),
      need({ action: 's3:PutObject', resource, context: { 'aws:ResourceTag/a': ['c'] } }),
    ]);
    const decided = [...needs, ...needs].map((each) => evaluate(statements, each).isAllowed);
    // Nothing is known of new statements.
    const expected = needs.map((each) => evaluate([...statements], each).isAllowed);
    expect(decided).toEqual([...expected, ...expected]);
    expect(expected.filter(Boolean)).toHaveLength(440);
  });

  test('matches actions in upper and lower case, but resources only as they are written', () => {
    expect(isAllowed([statement({ Action: ['dynamodb:getitem'] })])).toBe(true);
    expect(isAllowed([statement({ Resource: [KEYS.toUpperCase()] })])).toBe(false);
  });
});

describe('conditions', () => {
  const tagged = (operator: keyof Statement['Condition'], wanted: string[], values: string[]): boolean =>
    isAllowed([statement({ Condition: { [operator]: { key: wanted } } })], { context: { key: values } });

  test.each([
    ['StringEquals', ['true'], ['true'], true],
    ['StringEquals', ['a', 'b'], ['b'], true],
    ['StringEquals', ['*'], ['b'], false],
    ['StringEquals', ['a'], ['A'], false],
    // An operator for one value doesn't hold for a key with several.
    ['StringEquals', ['a'], ['a', 'b'], false],
    ['StringLike', ['org_*/*'], ['org_1/weights'], true],
    ['StringLike', ['org_*/*'], ['org_1'], false],
    ['StringLike', ['a?c'], ['abc'], true],
    ['ForAnyValue:StringEquals', ['a'], ['b', 'a'], true],
    ['ForAnyValue:StringEquals', ['a'], ['b'], false],
    ['ForAnyValue:StringEquals', ['a'], [], false],
    ['ForAnyValue:StringLike', ['a*'], ['b', 'ab'], true],
  ] as const)('%s %j of %j: %s', (operator, wanted, values, holds) => {
    expect(tagged(operator, [...wanted], [...values])).toBe(holds);
  });

  test('all hold: of every operator and every key', () => {
    const Condition = { StringEquals: { a: ['1'], b: ['2'] }, StringLike: { c: ['x*'] } };
    const context = { a: ['1'], b: ['2'], c: ['xy'] };
    expect(isAllowed([statement({ Condition })], { context })).toBe(true);
    for (const key of ['a', 'b', 'c']) expect(isAllowed([statement({ Condition })], { context: { ...context, [key]: ['0'] } })).toBe(false);
  });
});

test('a pattern without wildcards matches only itself, whatever characters it has', () =>
  fc.assert(
    fc.property(fc.string(), fc.string(), (pattern, text) => {
      fc.pre(!/[*?]/.test(pattern));
      expect(matches(pattern, text)).toBe(pattern === text);
      expect(matches(`${pattern}*`, pattern + text)).toBe(true);
    }),
  ));
