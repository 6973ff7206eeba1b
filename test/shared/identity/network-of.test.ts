import { expect, test } from '@jest/globals';
import { networkOf } from '../../../shared/identity/network-of.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['unknown', 'unknown'],
  ['2001:db8:1:2ff:ffff:ffff:ffff:ffff', '2001:db8:1:200::/56'],
  ['2001:db8:1:200::', '2001:db8:1:200::/56'],
  ['2001:DB8:1:2FF::1', '2001:db8:1:200::/56'],
  ['::1', '0:0:0:0::/56'],
  ['fe80::1%eth0', 'fe80:0:0:0::/56'],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('IPv4 addresses that are written as IPv6 ones count one by one', () => {
  expect(networkOf('::ffff:192.0.2.1')).toBe(networkOf('::ffff:c000:201'));
  expect(networkOf('::ffff:192.0.2.1')).not.toBe(networkOf('::ffff:192.0.2.2'));
});
