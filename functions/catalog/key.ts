import { authenticateNow, presentedKey } from '../../shared/admission/authenticate.ts';
import { keyFactsOf } from '../../shared/admission/key-facts.ts';
import { shardsOf } from '../../shared/admission/limiter-item.ts';
import type { ReadableKeys } from '../../shared/admission/limiter-reader.ts';
import { limitHeaders } from '../../shared/admission/rate-limits.ts';
import { shardIds } from '../../shared/admission/shards.ts';
import type { Host } from '../../shared/hosts/host.ts';
import { jsonReply } from '../../shared/http/reply.ts';
import type { Handle } from '../../shared/http/router.ts';

/** The caller's own key and the current state of its limits. One read for each of the key's shards, in batches, and no write. */
export const retrieveKey =
  (keys: ReadableKeys, host: Host): Handle =>
  async (event) => {
    const item = await authenticateNow(keys, presentedKey(event, host));
    event.sender = { key_id: item.id, org_id: item.org };
    const shards = await keys.store.getMany(shardIds(item.id, shardsOf(item)).slice(1));
    const nowMs = keys.now();
    return jsonReply(event.requestId, 200, keyFactsOf([item, ...shards], nowMs), limitHeaders([item], nowMs));
  };
