import type { Networks } from '../../../shared/network/networks.ts';
import { urlFault } from '../../../shared/network/url-fault.ts';

/**
 * Returns the fault of the URL of an issuer that a customer chose, as the end of a sentence; undefined: none. An issuer
 * has no query (https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata).
 */
export const issuerUrlFault = (networks: Networks, issuer: string): string | undefined =>
  urlFault(networks, issuer) ?? (new URL(issuer).search === '' ? undefined : 'expected no query (?) in the URL');
