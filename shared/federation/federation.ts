import { createGuardedRequest, type GuardedRequest } from '../network/guarded-request.ts';
import { createNetworks } from '../network/networks.ts';
import { createResolveHost } from '../network/resolve-host.ts';
import { createDiscovery, type Discovery } from './discovery.ts';
import { createFetchDocument, DOCUMENT_MS } from './fetch-document.ts';
import { createKeySets } from './key-sets.ts';
import { createIdentityTokenVerifier, type VerifyIdentityToken } from './verify-identity-token.ts';

/** The calls of issuers and identity providers that customers chose, with one guard and one cache for all of them. */
export interface Federation {
  /** Ends after 2 s. */
  request: GuardedRequest;
  discover: Discovery;
  verifyIdentityToken: VerifyIdentityToken;
}

/**
 * @param exempt networks that the deployer allows although they are not public; see createNetworks
 * @param now milliseconds since the epoch
 */
export const createFederation = (exempt: string, now: () => number): Federation => {
  const request = createGuardedRequest({
    networks: createNetworks(exempt),
    resolveHost: createResolveHost(),
    random: Math.random,
    totalMs: DOCUMENT_MS,
  });
  const fetchDocument = createFetchDocument(request);
  const discover = createDiscovery(fetchDocument, now);
  const keySets = createKeySets(fetchDocument, now);
  return { request, discover, verifyIdentityToken: createIdentityTokenVerifier({ discover, keySets, now }) };
};
