import { BlockList, isIP } from 'node:net';

// Such as `10.0.0.0/8`.
type Network = readonly [address: string, prefix: number];

// IPv4 networks that are not on the public Internet: https://www.iana.org/assignments/iana-ipv4-special-registry.
// 169.254/16 has the metadata of EC2, of containers and of functions.
const SPECIAL_IPV4: readonly Network[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

// All global IPv6 addresses are in this network. Outside it are loopback, link-local, unique local (with EC2's
// fd00:ec2::254) and multicast addresses, and those that embed an IPv4 address: mapped, compatible and NAT64.
const GLOBAL_IPV6: Network = ['2000::', 3];
// Networks in it that are not public, or embed an IPv4 address: protocol assignments with Teredo, documentation, 6to4.
const SPECIAL_IPV6: readonly Network[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const FAMILIES = { 4: 'ipv4', 6: 'ipv6' } as const;
const ZONE = '%';

const listOf = (networks: readonly Network[]): BlockList => {
  const list = new BlockList();
  for (const [address, prefix] of networks) list.addSubnet(address, prefix, FAMILIES[isIP(address) as 4 | 6]);
  return list;
};

const special = listOf([...SPECIAL_IPV4, ...SPECIAL_IPV6]);
const global = listOf([GLOBAL_IPV6]);

const readNetwork = (text: string): Network => {
  const [, address = '', prefix = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  if (family === 0 || address.includes(ZONE) || Number(prefix) > (family === 4 ? 32 : 128))
    throw new Error(`'${text}' is not a network, such as 10.0.0.0/8 or fd00::/8.`);
  return [address, Number(prefix)];
};

const hasFirstOf = (network: Network, [address]: Network): boolean => listOf([network]).check(address, FAMILIES[isIP(address) as 4 | 6]);

/** True if two networks, such as `10.0.0.0/8`, have an address in common. @throws Error for anything else */
export const doOverlap = (one: string, other: string): boolean => {
  const [a, b] = [readNetwork(one), readNetwork(other)];
  // One of the two has the first address of the other.
  return isIP(a[0]) === isIP(b[0]) && (hasFirstOf(a, b) || hasFirstOf(b, a));
};

/** Decides to which addresses a URL that a customer chose may lead. */
export interface Networks {
  /** True for an address that the deployer allows although it is not public. */
  isExempt: (address: string) => boolean;
  /** True for a public or exempt IP address; false for any other text. */
  isAllowed: (address: string) => boolean;
  /** True if the deployer exempts any addresses. */
  hasExemptions: boolean;
}

/**
 * Allows addresses on the public Internet, and in the deployer's own networks.
 * @param exempt networks separated by commas, such as `10.0.0.0/8,fd00::/8`; can be empty
 * @throws Error for anything else
 */
export const createNetworks = (exempt: string): Networks => {
  const networks = exempt
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map(readNetwork);
  const own = listOf(networks);

  const isExempt = (address: string): boolean => {
    const family = isIP(address);
    return family !== 0 && !address.includes(ZONE) && own.check(address, FAMILIES[family as 4 | 6]);
  };

  const isPublic = (address: string): boolean => {
    // A zone is an interface of this machine.
    if (address.includes(ZONE)) return false;
    const family = isIP(address);
    if (family === 4) return !special.check(address, 'ipv4');
    return family === 6 && global.check(address, 'ipv6') && !special.check(address, 'ipv6');
  };

  return { isExempt, isAllowed: (address) => isPublic(address) || isExempt(address), hasExemptions: networks.length > 0 };
};
