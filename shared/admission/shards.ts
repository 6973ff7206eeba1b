import { crc32 } from 'node:zlib';
import type { Limits, RateLimits } from './limits.ts';

/** A limiter item with more requests in flight costs more than one write unit per write. */
const MAX_IN_FLIGHT = 32;
/** A DynamoDB partition accepts 1,000 writes per second; a request needs two, and failed conditions need some more. */
const MAX_REQUESTS_PER_SECOND = 400;
/** A shard's part of the tokens must fit a typical request. */
const MIN_TOKENS_PER_MINUTE = 65_536;
/** A shard's part of a budget must cover the most that a request costs: a dollar, in nano-dollars. */
export const MIN_BUDGET_NANOS = 1_000_000_000n;

/** The number of limiter items that a key with these limits needs: one, unless the key can be too busy for one. */
export const shardsFor = ({ budgets, ...limits }: Omit<Limits, 'isPrepaid'>): number => {
  const most = Math.min(
    limits.concurrency,
    limits.requestsPerMinute,
    Math.floor(limits.tokensPerMinute / MIN_TOKENS_PER_MINUTE),
    ...Object.values(budgets).map((budget) => Number(budget / MIN_BUDGET_NANOS)),
  );
  return Math.max(1, Math.min(shardsForLoad(limits), most));
};

type Load = Pick<RateLimits, 'requestsPerMinute' | 'concurrency'>;

/** The number of limiter items that the request limits alone need. */
export const shardsForLoad = ({ requestsPerMinute, concurrency }: Load): number =>
  Math.max(Math.ceil(concurrency / MAX_IN_FLIGHT), Math.ceil(requestsPerMinute / 60 / MAX_REQUESTS_PER_SECOND));

/** The number of shards with a part of the limits. If limits are lower than the number of shards, the last shards get nothing. */
export const usableShards = (shards: number, { requestsPerMinute, concurrency }: Load): number =>
  Math.max(1, Math.min(shards, requestsPerMinute, concurrency));

/** One shard's part of an integer; the parts add up to the whole. */
export const shareOf = (whole: number, shards: number, shard: number): number =>
  Math.floor(whole / shards) + (shard < whole % shards ? 1 : 0);

/** One shard's part of an amount of money. */
export const shareOfNanos = (whole: bigint, shards: number, shard: number): bigint =>
  whole / BigInt(shards) + (BigInt(shard) < whole % BigInt(shards) ? 1n : 0n);

/** The id of a shard's limiter item. The first shard is the key's own item. */
export const shardId = (keyId: string, shard: number): string => (shard === 0 ? keyId : `${keyId}#${shard}`);

/** The ids of the limiter items that share a key's limits. */
export const shardIds = (keyId: string, shards: number): string[] => Array.from({ length: shards }, (_, shard) => shardId(keyId, shard));

/** The id of the key whose limits a limiter item shares. */
export const keyIdOf = (limiterId: string): string => limiterId.split('#', 1)[0] as string;

/** The shard that a request tries first. It also stores the usage event, even if another shard admits the request. */
export const shardOf = (requestId: string, shards: number): number => (shards === 1 ? 0 : crc32(requestId) % shards);
