import { describe, expect, test } from '@jest/globals';
import { readGroup, readGroupPatch, type ScimGroupFields } from '../../../../../functions/control/scim/protocol/group-fields.ts';
import { readUser, readUserPatch, type ScimUserFields } from '../../../../../functions/control/scim/protocol/user-fields.ts';
import { recordedRequest } from '../../../../support/fixtures/scim/requests.ts';

const FACTS = {
  id: 'user_1',
  group: 'grp_1',
  userName: 'grace@example.com',
  externalId: 'ext-1',
  displayName: 'Sluice owners',
};

const bodyOf = (provider: 'okta' | 'entra', name: string): unknown => recordedRequest(provider, name, FACTS).body;

const patch = (...Operations: unknown[]): unknown => ({ Operations });

const rejects = (run: () => unknown, code: string): void => {
  expect(run).toThrow(expect.objectContaining({ status: 400, code }));
};

describe('the body of a user', () => {
  test.each<['okta' | 'entra', string, ScimUserFields]>([
    [
      'okta',
      'create',
      {
        userName: 'grace@example.com',
        givenName: 'Grace',
        familyName: 'Hopper',
        displayName: 'Grace Hopper',
        externalId: 'ext-1',
        active: true,
      },
    ],
    ['okta', 'replace', { userName: 'grace@example.com', givenName: 'Grace', familyName: 'Murray', active: true }],
    [
      'entra',
      'create',
      {
        userName: 'grace@example.com',
        formatted: 'Grace Hopper',
        givenName: 'Grace',
        familyName: 'Hopper',
        displayName: 'Grace Hopper',
        externalId: 'ext-1',
        active: true,
      },
    ],
  ])('is read from %s, %s, without what Sluice does not keep', (provider, name, fields) => {
    expect(readUser(bodyOf(provider, name))).toEqual(fields);
  });

  test.each(['constructor', '__proto__'])('is read without an attribute %s, which every object inherits', (attribute) => {
    const value = { userName: 5 };
    expect(readUser(JSON.parse(`{"active": true, "${attribute}": ${JSON.stringify(value)}}`))).toEqual({ active: true });
    expect(readUserPatch(patch({ op: 'replace', path: attribute, value }))).toEqual({});
  });

  test('has names of attributes in any case', () => {
    expect(readUser({ USERNAME: 'a@example.com', Name: { GivenName: 'A' }, Active: 'FALSE' })).toEqual({
      userName: 'a@example.com',
      givenName: 'A',
      active: false,
    });
  });

  test('has a long name cut between characters', () => {
    expect(readUser({ displayName: '😀'.repeat(101) })).toEqual({ displayName: '😀'.repeat(100) });
  });

  test.each<[string, unknown]>([
    ['a number as the user name', { userName: 7 }],
    ['an empty user name', { userName: ' ' }],
    ['another word for active', { active: 'yes' }],
    ['null for active', { active: null }],
    ['a long external id', { externalId: 'e'.repeat(257) }],
    ['a name that is a list', { name: [] }],
  ])('is rejected for %s', (_, body) => {
    rejects(() => readUser(body), 'invalid_value');
  });

  test.each([null, 'text', 7, []])('is rejected if it is %j', (body) => {
    rejects(() => readUser(body), 'invalid_value');
  });
});

describe('a PATCH of a user', () => {
  test.each<['okta' | 'entra', string, ScimUserFields]>([
    ['okta', 'deactivate', { active: false }],
    ['okta', 'reactivate', { active: true }],
    ['entra', 'deactivate', { active: false }],
    ['entra', 'reactivate', { active: true }],
    ['entra', 'update', { displayName: 'Grace Murray', familyName: 'Murray', active: true }],
    ['entra', 'updateWithoutPath', { displayName: 'Grace Brewster', givenName: 'Grace', familyName: 'Brewster' }],
    ['entra', 'removeName', { familyName: null }],
  ])('is read from %s, %s', (provider, name, fields) => {
    expect(readUserPatch(bodyOf(provider, name))).toEqual(fields);
  });

  test('applies its operations in order', () => {
    expect(readUserPatch(patch({ op: 'add', path: 'active', value: true }, { op: 'replace', path: 'active', value: false }))).toEqual({
      active: false,
    });
  });

  test('does not deactivate a user by removing the attribute', () => {
    expect(readUserPatch(patch({ op: 'remove', path: 'active' }))).toEqual({});
  });

  const leave = { op: 'replace', path: 'active', value: false };
  test.each<[string, unknown]>([
    ['a filter', patch({ op: 'replace', path: 'emails[type ne "work"].value', value: 'a' }, leave)],
    ['a filter in the name of an attribute', patch({ op: 'replace', value: { 'emails[type ne "work"].value': 'a', active: false } })],
    ['a path', patch(leave, { op: 'replace', path: 'a b', value: 1 })],
    ['an operation', patch({ op: 'move', path: 'title', value: 'a' }, leave)],
    ['a removal without a path', patch({ op: 'remove' }, leave)],
    ['an operation without attributes', patch(leave, { op: 'add', value: 'a' })],
  ])('deactivates a leaver despite %s that is not supported', (_, body) => {
    expect(readUserPatch(body)).toEqual({ active: false });
    expect(readUser({ active: 'False', 'emails[type ne "work"].value': 'a' })).toEqual({ active: false });
  });

  test('cannot remove the user name', () => {
    rejects(() => readUserPatch(patch({ op: 'remove', path: 'userName' })), 'invalid_value');
  });

  test.each<[string, unknown]>([
    ['invalid_path', patch({ op: 'replace', path: 'a b', value: 1 })],
    ['invalid_path', patch({ op: 'replace', path: '', value: 1 })],
    ['invalid_path', patch({ op: 'remove' })],
    ['invalid_filter', patch({ op: 'replace', path: 'emails[type].value', value: 'a' })],
    ['invalid_value', patch({ op: 'move', path: 'active', value: false })],
    ['invalid_value', patch({ op: 'replace', value: 'active' })],
  ])('is rejected with %s: %j', (code, body) => {
    rejects(() => readUserPatch(body), code);
  });

  test.each([{}, { Operations: [] }, { Operations: Array.from({ length: 1_001 }, () => ({ op: 'add', path: 'a' })) }])(
    'is rejected without operations, or with too many',
    (body) => {
      expect(() => readUserPatch(body)).toThrow(expect.objectContaining({ status: 400 }));
    },
  );
});

const members = (fields: Partial<Record<'members' | 'added' | 'removed', string[]>>): ScimGroupFields => ({
  ...(fields.members && { members: new Set(fields.members) }),
  added: new Set(fields.added),
  removed: new Set(fields.removed),
});

describe('a PATCH of a group', () => {
  test.each<['okta' | 'entra', string, ScimGroupFields]>([
    ['okta', 'addMember', members({ added: ['user_1'] })],
    ['okta', 'removeMember', members({ removed: ['user_1'] })],
    ['okta', 'replaceMembers', members({ members: ['user_1'] })],
    ['okta', 'renameGroup', { displayName: 'Sluice owners', ...members({}) }],
    ['entra', 'addMember', members({ added: ['user_1'] })],
    ['entra', 'removeMember', members({ removed: ['user_1'] })],
    ['entra', 'removeMemberByFilter', members({ removed: ['user_1'] })],
    ['entra', 'renameGroup', { displayName: 'Sluice owners', ...members({}) }],
  ])('is read from %s, %s', (provider, name, fields) => {
    expect(readGroupPatch(bodyOf(provider, name))).toEqual(fields);
  });

  const add = (...ids: string[]) => ({ op: 'add', path: 'members', value: ids.map((value) => ({ value })) });
  const remove = (...ids: string[]) => ({ op: 'Remove', path: 'members', value: ids.map((value) => ({ value })) });

  test('applies its operations in order', () => {
    expect(readGroupPatch(patch(add('a', 'b'), remove('a'), remove('c'), add('c')))).toEqual(
      members({ added: ['b', 'c'], removed: ['a'] }),
    );
    expect(readGroupPatch(patch({ op: 'replace', path: 'members', value: [{ value: 'a' }] }, add('b'), remove('a')))).toEqual(
      members({ members: ['b'] }),
    );
  });

  test('removes all members only if it names none at all', () => {
    expect(readGroupPatch(patch({ op: 'remove', path: 'members' }))).toEqual(members({ members: [] }));
    expect(readGroupPatch(patch({ op: 'Remove', path: 'members', value: [] }))).toEqual(members({}));
    expect(readGroupPatch(patch({ op: 'replace', value: { displayName: 'A', members: [] } }))).toEqual({
      displayName: 'A',
      ...members({ members: [] }),
    });
  });

  test.each<[string, unknown]>([
    ['a member without an id', patch({ op: 'add', path: 'members', value: [{ display: 'Ada' }] })],
    ['members found by another attribute', patch({ op: 'remove', path: 'members[display eq "Ada"]' })],
    ['an empty name', patch({ op: 'replace', path: 'displayName', value: '' })],
    ['no name', patch({ op: 'remove', path: 'displayName' })],
    ['too many members', patch({ op: 'add', path: 'members', value: Array.from({ length: 1_001 }, (_, i) => ({ value: `${i}` })) })],
    ['too many members in all', patch(...Array.from({ length: 999 }, (_, i) => add(`${i}`, `a${i}`)))],
  ])('is rejected for %s', (_, body) => {
    rejects(() => readGroupPatch(body), 'invalid_value');
  });
});

describe('the body of a group', () => {
  test('has members if Okta sends them, and none from Entra, which adds them later', () => {
    expect(readGroup(bodyOf('okta', 'createGroup'))).toEqual({ displayName: 'Sluice owners', ...members({ members: ['user_1'] }) });
    expect(readGroup(bodyOf('entra', 'createGroup'))).toEqual({ displayName: 'Sluice owners', externalId: 'ext-1', ...members({}) });
  });
});
