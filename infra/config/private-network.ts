import { BlockList, isIPv4 } from 'node:net';

// A function's own machine: its runtime, which takes the results of its invocations, and metadata with credentials.
const OF_THE_FUNCTION = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '::1/128', '::ffff:0:0/96', 'fe80::/10'] as const;

const read = (network: string) => {
  const [address = '', prefix] = network.split('/');
  const family: 'ipv4' | 'ipv6' = isIPv4(address) ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(address, Number(prefix), family);
  return { address, family, list };
};

// Of two networks that overlap, one has the first address of the other.
const overlap = (one: string, other: string): boolean => {
  const [a, b] = [read(one), read(other)];
  return a.family === b.family && (a.list.check(b.address, b.family) || b.list.check(a.address, a.family));
};

/** False for a network with addresses of the function's own machine. @param network such as `10.0.0.0/8` */
export const isPrivateNetwork = (network: string): boolean => !OF_THE_FUNCTION.some((own) => overlap(network, own));

export const EXPECTED_NETWORK = `expected a network without addresses of the function itself (${OF_THE_FUNCTION.join(', ')})`;
