import { shardsOf } from '../item/limiter-item.ts';
import { eventShardsOf, shardIds } from '../item/shards.ts';
import type { LimiterReader } from './limiter-reader.ts';

const MOST_SHARDS = eventShardsOf(Number.POSITIVE_INFINITY);

/**
 * Returns the number of a key's shards, over which its events are spread. It never changes, and each of the key's
 * limiters has it, so it is known also if the first one was lost.
 */
export const shardsOfKey = async (limiters: Pick<LimiterReader, 'get' | 'getMany'>, key: string): Promise<number> => {
  const own = await limiters.get(key);
  if (own) return shardsOf(own);
  const others = await limiters.getMany(shardIds(key, MOST_SHARDS).slice(1));
  return Math.max(1, ...others.map(shardsOf));
};
