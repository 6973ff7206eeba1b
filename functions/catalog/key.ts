import { keyFactsOf } from '../../shared/admission/item/key-facts.ts';
import { shardsOf } from '../../shared/admission/item/limiter-item.ts';
import { shardIds } from '../../shared/admission/item/shards.ts';
import { authenticateNow, presentedKey } from '../../shared/admission/keys/authenticate.ts';
import { limitHeaders } from '../../shared/admission/keys/rate-limits.ts';
import type { ReadableKeys } from '../../shared/admission/stores/limiter-reader.ts';
import type { Host } from '../../shared/hosts/host.ts';
import { jsonReply } from '../../shared/http/reply.ts';
import type { Handle } from '../../shared/http/router.ts';

/**
 * The caller's own key and the current state of its limits. One read for each of the key's shards, in batches, and no
 * write.
 */
export const retrieveKey =
  (keys: ReadableKeys, host: Host): Handle =>
  async (event) => {
    const item = await authenticateNow(keys, presentedKey(event, host));
    event.sender = { key_id: item.id, org_id: item.org };
    const shards = await keys.store.getMany(shardIds(item.id, shardsOf(item)).slice(1));
    const nowMs = keys.now();
    return jsonReply(event.requestId, 200, keyFactsOf([item, ...shards], nowMs), limitHeaders([item], nowMs));
  };
