import { describe, expect, test } from '@jest/globals';
import { createNetworks } from '../../../shared/notifications/networks.ts';

const networks = createNetworks('');

test.each([
  ['unspecified', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['private', '10.0.0.1'],
  ['private', '10.255.255.255'],
  ['shared (CGNAT)', '100.64.0.1'],
  ['shared (CGNAT)', '100.127.255.254'],
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.254'],
  ['link-local', '169.254.1.1'],
  ['the metadata of EC2', '169.254.169.254'],
  ['the credentials of containers', '169.254.170.2'],
  ['the time of EC2', '169.254.169.123'],
  ['private', '172.16.0.1'],
  ['private', '172.31.255.255'],
  ['protocol assignments', '192.0.0.170'],
  ['documentation', '192.0.2.1'],
  ['6to4 relays', '192.88.99.1'],
  ['private', '192.168.1.1'],
  ['benchmarks', '198.18.0.1'],
  ['benchmarks', '198.19.255.255'],
  ['documentation', '198.51.100.7'],
  ['documentation', '203.0.113.9'],
  ['multicast', '224.0.0.1'],
  ['multicast', '239.255.255.250'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['IPv4-compatible', '::7f00:1'],
  ['IPv4-compatible', '::10.0.0.1'],
  ['IPv4-mapped', '::ffff:127.0.0.1'],
  ['IPv4-mapped', '::ffff:a9fe:a9fe'],
  ['IPv4-mapped', '::ffff:10.0.0.1'],
  ['IPv4-translated', '::ffff:0:10.0.0.1'],
  ['NAT64', '64:ff9b::10.0.0.1'],
  ['NAT64', '64:ff9b::a9fe:a9fe'],
  ['local NAT64', '64:ff9b:1::1'],
  ['discard', '100::1'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['benchmarks', '2001:2::1'],
  ['ORCHID', '2001:20::1'],
  ['documentation', '2001:db8::1'],
  ['6to4 of loopback', '2002:7f00:1::1'],
  ['6to4 of a private address', '2002:a00:1::'],
  ['documentation', '3fff::1'],
  ['segment routing', '5f00::1'],
  ['unique local', 'fc00::1'],
  ['unique local', 'fd12:3456:789a::1'],
  ['the metadata of EC2', 'fd00:ec2::254'],
  ['the DNS of EC2', 'fd00:ec2::253'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['a public address with a zone', '2606:4700::1111%eth0'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['not an address', 'example.com'],
  ['not an address', ''],
  ['an octal number, which is not an address as text', '0177.0.0.1'],
])('%s: %s is refused', (_, address) => {
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
