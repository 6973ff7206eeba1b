import { isIPv6 } from 'node:net';

const GROUPS = 8;
const MAPPED_IPV4 = '0:0:0:0:0:ffff';

/**
 * Returns the address or network that is counted as one: an IPv4 address itself, or the /56 of an IPv6 address, which
 * providers give to a household or a server, and in which its holder can choose any address.
 */
export const networkOf = (ipAddress: string): string => {
  const [address = ''] = ipAddress.split('%');
  if (!isIPv6(address)) return ipAddress;
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail ? tail.split(':') : [];
  const groups = [...first, ...Array<string>(GROUPS - first.length - last.length).fill('0'), ...last];
  if (groups.slice(0, 6).join(':') === MAPPED_IPV4) return groups.join(':');
  const [one, two, three, four = '0'] = groups;
  return `${one}:${two}:${three}:${(Number.parseInt(four, 16) & 0xff_00).toString(16)}::/56`;
};
