import type { Keys } from '../../shared/admission/admit.ts';
import { authenticateNow, presentedKey } from '../../shared/admission/authenticate.ts';
import { keyFactsOf } from '../../shared/admission/key-facts.ts';
import { limitHeaders } from '../../shared/admission/rate-limits.ts';
import { shardId } from '../../shared/admission/shards.ts';
import type { Host } from '../../shared/hosts/host.ts';
import { jsonReply } from '../../shared/http/reply.ts';
import type { Handle } from '../../shared/http/router.ts';

/** The caller's own key and the current state of its limits. One read for each of the key's shards, and no write. */
export const retrieveKey =
  (keys: Keys, host: Host): Handle =>
  async (event) => {
    const item = await authenticateNow(keys, presentedKey(event, host));
    const others = Array.from({ length: (item.shards ?? 1) - 1 }, (_, i) => keys.store.get(shardId(item.id, i + 1)));
    const shards = (await Promise.all(others)).filter((shard) => shard !== undefined);
    const nowMs = keys.now();
    return jsonReply(event.requestId, 200, keyFactsOf([item, ...shards], nowMs), limitHeaders([item], nowMs));
  };
