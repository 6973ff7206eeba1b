import { limitsOfShards, shardsOf } from '../../functions/control/api-keys/key-items.ts';
import { type KeyItem, NewKey } from '../../shared/admission/key.ts';
import type { LimiterStore } from '../../shared/admission/limiter-store.ts';
import { newSecret } from '../../shared/admission/secret.ts';
import { shardId } from '../../shared/admission/shards.ts';
import { newId } from '../../shared/ids/id.ts';

/**
 * A key without a record at the control plane, made from its limiter items alone, for what needs no login. Its secret is stored nowhere:
 * only its SHA-256 is. A busy key has several limiter items, which share its limits.
 */
export const createKey = async (store: LimiterStore, fields: NewKey): Promise<{ key_id: string; secret: string }> => {
  const key = NewKey.parse(fields);
  const id = newId('key');
  const { secret, hash } = newSecret(key.scope, id);
  const shards = shardsOf(key);
  const isLimited = (await store.get(key.org)) !== undefined;
  const limits = limitsOfShards(key, shards);
  const itemOf = (shard: number): KeyItem => ({
    ...(limits[shard] as KeyItem),
    id: shardId(id, shard),
    h: hash,
    org: key.org,
    scope: key.scope,
    status: 'active',
    cfg: 1,
    fl: {},
    ...(key.models && { models: key.models }),
    ...(key.expires_at && { expires_at: key.expires_at }),
    ...(isLimited && { lim_o: true }),
    ...(key.no_content && { no_content: true }),
  });
  // The key's own item comes last: with it the key opens, and then all of it must be there.
  for (let shard = shards - 1; shard >= 0; shard--) await store.create(itemOf(shard));
  // Limits that the organization was given in between.
  if (!isLimited && (await store.get(key.org)) !== undefined)
    for (let shard = 0; shard < shards; shard++) await store.configure<KeyItem>(shardId(id, shard), { lim_o: true });
  return { key_id: id, secret };
};
