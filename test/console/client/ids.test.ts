import { describe, expect, test } from '@jest/globals';
import { addressOfId } from '../../../console/client/ids.ts';
import { prefixes } from '../../../shared/ids/id.ts';
import { screenPaths } from '../../support/browser/screens.ts';

const WITH_SCREENS = [
  'deployment',
  'invoice',
  'key',
  'organization',
  'project',
  'request',
  'rerate',
  'ticket',
  'webhook',
  'identityProvider',
];

describe('the address of an id', () => {
  test('is that of a screen of one thing, for exactly these things', () => {
    const found = Object.entries(prefixes).filter(([, prefix]) => addressOfId(`${prefix}VbdBUPc4RtYvB8fK2m`) !== undefined);
    expect(found.map(([kind]) => kind).sort()).toEqual([...WITH_SCREENS].sort());
    const screens = found.map(([, prefix]) => addressOfId(`${prefix}VbdBUPc4RtYvB8fK2m`)?.replace(/[^/]+$/, ':id'));
    expect(screenPaths()).toEqual(expect.arrayContaining(screens));
  });

  test.each(['production', 'prj_', 'prj_../users', 'zzz_VbdBUPc4RtYvB8fK2m'])('is none for %s', (text) => {
    expect(addressOfId(text)).toBeUndefined();
  });
});
