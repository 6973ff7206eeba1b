import { jsonReply } from '../../shared/http/reply.ts';
import { headersOf, type Keys } from '../../shared/keys/admit.ts';
import { checkKey, type Host } from '../../shared/keys/authenticate.ts';
import { keyFactsOf } from '../../shared/keys/key-facts.ts';
import { presentedKey } from '../../shared/keys/presented-key.ts';
import type { Handle } from './router.ts';

/** A key that did not open is refused for this long without another read. */
const REFUSAL_MS = 5_000;

/** GET /v1/key: what its bearer may know of a key, as of now: one read, no write. */
export const retrieveKey =
  ({ store, cache, now }: Keys, host: Host): Handle =>
  async (event) => {
    const key = presentedKey(event, host);
    const seen = cache.get(key.keyId);
    if (seen && now() - seen.seenAtMs < REFUSAL_MS) checkKey(key, seen.item, now());
    const item = await store.get(key.keyId);
    cache.set(key.keyId, item, now());
    const opened = checkKey(key, item, now());
    return jsonReply(event.requestId, 200, keyFactsOf(opened, now()), headersOf(opened, now()));
  };
