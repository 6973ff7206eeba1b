import { findJwkInJwks, type Jwks, type JwksCache, type JwkWithKid } from 'aws-jwt-verify/jwk';
import * as z from 'zod';
import { IdentityUnavailable, wrongToken } from '../../../shared/identity/errors.ts';

const FETCH_TIMEOUT_MS = 2_000;
const MAX_BYTES = 65_536;
const MAX_KEYS = 100;
// The keys are fetched at most once in this time, however many tokens have an unknown key id.
const REFETCH_AFTER_MS = 30_000;
// No token can be verified until the first fetch succeeds, so the next one comes sooner.
const RETRY_AFTER_MS = 1_000;
// A key that the issuer has withdrawn is accepted for this long.
const MAX_AGE_MS = 60 * 60_000;

/** Fetches the issuer's key set, parsed but not validated. @throws Error if it cannot be fetched */
export type FetchJwks = (uri: string) => Promise<unknown>;

const KeySet = z.object({
  keys: z
    .array(z.looseObject({ kty: z.string() }))
    .min(1)
    .max(MAX_KEYS),
});

/** Fetches a key set of up to 64 kB in up to 2 s. */
export const fetchJwks: FetchJwks = async (uri) => {
  const reply = await fetch(uri, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS), redirect: 'error' });
  if (!reply.ok || !reply.body) throw new Error(`${uri} responded with ${reply.status}.`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of reply.body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`The key set at ${uri} is larger than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
};

/**
 * Caches the keys of one issuer. Fetches them when needed; if that fails, keeps the ones it has.
 * @param now milliseconds since the epoch
 */
export const createKeySet = (fetchKeys: FetchJwks, now: () => number): JwksCache => {
  let keys: Jwks | undefined;
  let fetchedAtMs = Number.NEGATIVE_INFINITY;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let failure: unknown;
  let fetching: Promise<void> | undefined;

  const refetch = async (uri: string): Promise<void> => {
    triedAtMs = now();
    try {
      keys = KeySet.parse(await fetchKeys(uri)) as Jwks;
      fetchedAtMs = now();
    } catch (error) {
      failure = error;
    }
  };

  // Concurrent callers share one fetch.
  const refresh = async (uri: string): Promise<void> => {
    if (!fetching && now() - triedAtMs < (keys ? REFETCH_AFTER_MS : RETRY_AFTER_MS)) return;
    fetching ??= refetch(uri).finally(() => {
      fetching = undefined;
    });
    await fetching;
  };

  const getJwks = async (uri: string): Promise<Jwks> => {
    if (now() - fetchedAtMs >= MAX_AGE_MS) await refresh(uri);
    if (!keys) throw new IdentityUnavailable(failure);
    return keys;
  };

  const find = (kid: string | undefined): JwkWithKid | undefined => (keys && kid !== undefined ? findJwkInJwks(keys, kid) : undefined);

  return {
    getJwks,
    async getJwk(uri, { header: { kid } }) {
      await getJwks(uri);
      if (!find(kid)) await refresh(uri);
      const key = find(kid);
      if (!key) throw wrongToken();
      return key;
    },
    getCachedJwk(_uri, { header: { kid } }) {
      const key = find(kid);
      if (!key) throw wrongToken();
      return key;
    },
    addJwks(_uri, added) {
      keys = added;
      fetchedAtMs = now();
    },
  };
};
