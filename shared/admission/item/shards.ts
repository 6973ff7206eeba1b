import { crc32 } from 'node:zlib';
import type { Limits, RateLimits } from './limits.ts';

// With more requests in flight, an item costs more than one write unit per write.
const MAX_IN_FLIGHT = 12;
// A DynamoDB partition accepts 1,000 writes per second; a request needs two, and failed conditions need some more.
const MAX_REQUESTS_PER_SECOND = 400;
// A shard's part of the tokens must fit a typical request.
const MIN_TOKENS_PER_MINUTE = 65_536;
/** Requests in flight stay in a shard that is split, and a few more can come before the split is written. */
export const SPARE_IN_FLIGHT = 2;
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

/**
 * The number of shards with a part of the limits. If limits are lower than the number of shards, the last shards get
 * nothing.
 */
export const usableShards = (shards: number, { requestsPerMinute, concurrency }: Load): number =>
  Math.max(1, Math.min(shards, requestsPerMinute, concurrency));

/** One shard's part of an integer; the parts add up to the whole. */
export const shareOf = (whole: number, shards: number, shard: number): number =>
  Math.floor(whole / shards) + (shard < whole % shards ? 1 : 0);

/** One shard's part of an amount of money. */
export const shareOfNanos = (whole: bigint, shards: number, shard: number): bigint =>
  whole / BigInt(shards) + (BigInt(shard) < whole % BigInt(shards) ? 1n : 0n);

/** The id of a shard's limiter item. The first shard is the own item of the key or organization. */
export const shardId = (keyId: string, shard: number): string => (shard === 0 ? keyId : `${keyId}#${shard}`);

/** The ids of the limiter items that share the limits of a key or organization. */
export const shardIds = (keyId: string, shards: number): string[] => Array.from({ length: shards }, (_, shard) => shardId(keyId, shard));

/** The id under which an environment remembers that all shards together reject requests. No item has it. */
export const wholeId = (ownerId: string): string => `${ownerId}#all`;

/** The id of the key or organization whose limits a limiter item shares. */
export const ownerIdOf = (limiterId: string): string => limiterId.split('#', 1)[0] as string;

/** The number of the shard that a limiter item is, from 0. */
export const shardNumberOf = (limiterId: string): number => Number(limiterId.split('#', 2)[1] ?? 0);

/** The shard of a key that a request tries first. */
export const shardOf = (requestId: string, shards: number): number => (shards === 1 ? 0 : crc32(requestId) % shards);

/** Enough for 16,800 requests per second. Every total reads all of a key's event shards. */
export const MAX_EVENT_SHARDS = 42;

/** The number of a key's shards that store its usage events. */
export const eventShardsOf = (shards: number): number => Math.min(shards, MAX_EVENT_SHARDS);

/** Up to `count` other shards than the first one, from a random one on. */
export const randomShards = (shards: number, first: number, count: number): number[] => {
  const start = Math.floor(Math.random() * (shards - 1));
  return Array.from({ length: Math.min(count, shards - 1) }, (_, i) => (first + 1 + ((start + i) % (shards - 1))) % shards);
};

const generationOf = (shards: number): number => 2 ** Math.floor(Math.log2(shards));

/**
 * The shard of an organization that a request tries first: linear hashing (Litwin, 1980). Shards are split in their
 * order, so a shard that was already split gets half as many requests as one that was not, and has half of its
 * limits.
 */
export const growingShardOf = (requestId: string, shards: number): number => {
  const hash = crc32(requestId);
  const generation = generationOf(shards);
  const shard = hash % (2 * generation);
  return shard < shards ? shard : hash % generation;
};

/**
 * The shards to split next, at most `count`: the first one gives half of its limits to the shard with the number
 * `shards`, and so on.
 */
export const nextToSplit = (shards: number, count: number): number[] => {
  const generation = generationOf(shards);
  return Array.from({ length: Math.min(count, 2 * generation - shards) }, (_, i) => shards - generation + i);
};
