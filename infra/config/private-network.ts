import { doOverlap } from '../../shared/network/networks.ts';

// A function's own machine: its runtime, which takes the results of its invocations, and metadata with credentials.
const OF_THE_FUNCTION = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '::1/128', '::ffff:0:0/96', 'fe80::/10'] as const;

/** False for a network with addresses of the function's own machine. @param network such as `10.0.0.0/8` */
export const isPrivateNetwork = (network: string): boolean => !OF_THE_FUNCTION.some((own) => doOverlap(network, own));

export const EXPECTED_NETWORK = `expected a network without addresses of the function itself (${OF_THE_FUNCTION.join(', ')})`;
