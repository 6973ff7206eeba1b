import { type CompactJWSHeaderParameters, type CryptoKey, createLocalJWKSet, errors, type JWK } from 'jose';
import * as z from 'zod';
import { createDocumentCache, type DocumentRequest } from './document-cache.ts';
import { IssuerUnavailable, TokenRejected } from './errors.ts';
import type { FetchDocument } from './fetch-document.ts';

const MAX_KEYS = 100;

// Keys of types that we don't know are kept: only their own tokens fail.
const KeySet = z.object({
  keys: z
    .array(z.looseObject({ kty: z.string() }))
    .min(1)
    .max(MAX_KEYS),
});

type FindKey = (header: CompactJWSHeaderParameters) => Promise<CryptoKey>;

const toFindKey = (document: unknown): FindKey => {
  const parsed = KeySet.safeParse(document);
  if (!parsed.success) throw new IssuerUnavailable('invalid_document');
  return createLocalJWKSet({ keys: parsed.data.keys as JWK[] });
};

const orUndefined = async (find: FindKey, header: CompactJWSHeaderParameters): Promise<CryptoKey | undefined> => {
  try {
    return await find(header);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return undefined;
    // Such as two keys of one id, or a key that is none.
    throw new TokenRejected('key_unknown');
  }
};

/**
 * Creates the key sets of issuers, cached for an hour. If a key is unknown, its set is fetched again, at most every
 * 30 s.
 * @param now milliseconds since the epoch
 */
export const createKeySets = (fetchDocument: FetchDocument, now: () => number) => {
  const documents = createDocumentCache(async (url) => toFindKey(await fetchDocument(url)), now);

  /** Returns the key for a token's header. @throws IssuerUnavailable, or TokenRejected if the set has no such key */
  return async (url: string, header: CompactJWSHeaderParameters, request?: DocumentRequest): Promise<CryptoKey> => {
    const known = await orUndefined(await documents(url, request), header);
    if (known) return known;
    const found = await orUndefined(await documents(url, { ...request, isNewerNeeded: true }), header);
    if (!found) throw new TokenRejected('key_unknown');
    return found;
  };
};

export type KeySets = ReturnType<typeof createKeySets>;
