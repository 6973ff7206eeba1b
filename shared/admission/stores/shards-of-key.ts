import { shardsOf } from '../item/limiter-item.ts';
import { MAX_EVENT_SHARDS, shardIds } from '../item/shards.ts';
import type { LimiterReader } from './limiter-reader.ts';

/**
 * Returns the number of a key's shards, over which its events are spread. It never changes, and each of the key's
 * limiters has it, so it is known also if the first one was lost; undefined if all were.
 */
export const shardsOfKey = async (limiters: Pick<LimiterReader, 'get' | 'getMany'>, key: string): Promise<number | undefined> => {
  const own = await limiters.get(key);
  if (own) return shardsOf(own);
  const others = await limiters.getMany(shardIds(key, MAX_EVENT_SHARDS).slice(1));
  return others.length === 0 ? undefined : Math.max(...others.map(shardsOf));
};
