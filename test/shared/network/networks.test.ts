import { describe, expect, test } from '@jest/globals';
import { createNetworks, doOverlap } from '../../../shared/network/networks.ts';
import { FORBIDDEN_ADDRESSES } from '../../support/forbidden-addresses.ts';

const networks = createNetworks('');

test.each(FORBIDDEN_ADDRESSES)('%s: %s is refused', (_, address) => {
  expect(networks.isAllowed(address)).toBe(false);
});

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '11.0.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '172.32.0.1',
  '192.0.1.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001:80b::200e',
])('the public address %s is allowed', (address) => {
  expect([networks.isAllowed(address), networks.isExempt(address)]).toEqual([true, false]);
});

describe('networks of the deployer', () => {
  const own = createNetworks('127.0.0.0/8, fd12::/16,10.1.0.0/16');

  test('are exempt, and no others are', () => {
    expect(['127.0.0.1', '10.1.2.3', 'fd12::1'].map(own.isAllowed)).toEqual([true, true, true]);
    expect(['10.2.0.1', 'fd13::1', '169.254.169.254', '::1', 'fd12::1%eth0'].map(own.isAllowed)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
    expect([own.hasExemptions, networks.hasExemptions]).toEqual([true, false]);
  });

  test.each(['10.0.0.0', '10.0.0.0/33', 'fd00::/129', 'internal/8', 'fe80::%1/64'])('reject %s', (text) => {
    expect(() => createNetworks(text)).toThrow('is not a network');
  });
});

test.each([
  ['10.0.0.0/8', '10.1.0.0/16', true],
  ['10.1.0.0/16', '10.0.0.0/8', true],
  ['128.0.0.0/0', '10.0.0.0/8', true],
  ['10.0.0.0/8', '11.0.0.0/8', false],
  ['fe80::1/64', 'fe80::/10', true],
  ['10.0.0.0/8', '::ffff:0:0/96', false],
])('%s and %s overlap: %s', (one, other, expected) => {
  expect(doOverlap(one, other)).toBe(expected);
});
