import { crc32 } from 'node:zlib';

/** A limiter item with more requests in flight than this costs more than one write unit a write. */
const MAX_IN_FLIGHT = 32;
/** A partition of DynamoDB takes 1,000 writes a second; a request is two of its limiter, with room for those that are refused. */
const MAX_REQUESTS_A_SECOND = 400;
/** A shard's share of the tokens must hold what requests are like. */
const MIN_TOKENS_A_MINUTE = 65_536;
/** And its share of a budget too: a dollar, in nano-dollars. */
const MIN_BUDGET_NANOS = 1_000_000_000n;

/** How many limiter items share the limits of a key: one, unless it may be too busy for one. */
export const shardsFor = (
  limits: { requests_per_minute: number; tokens_per_minute: number; concurrency: number },
  budgets: readonly bigint[] = [],
): number => {
  const wanted = shardsForLoad(limits);
  const most = Math.min(
    limits.concurrency,
    limits.requests_per_minute,
    Math.floor(limits.tokens_per_minute / MIN_TOKENS_A_MINUTE),
    ...budgets.map((budget) => Number(budget / MIN_BUDGET_NANOS)),
  );
  return Math.max(1, Math.min(wanted, most));
};

/** How many limiter items so many requests need, whatever is limited beside them. */
export const shardsForLoad = ({ requests_per_minute, concurrency }: { requests_per_minute: number; concurrency: number }): number =>
  Math.max(Math.ceil(concurrency / MAX_IN_FLIGHT), Math.ceil(requests_per_minute / 60 / MAX_REQUESTS_A_SECOND));

/** Of a key whose limits were lowered below the number of its shards, the last ones have no part any more. */
export const usableShards = ({ shards = 1, all_r = shards, all_c = shards }: { shards?: number; all_r?: number; all_c?: number }): number =>
  Math.max(1, Math.min(shards, all_r, all_c));

/** The part of an integer that falls to one of so many shards; the parts add up to the whole. */
export const shareOf = (whole: number, shards: number, shard: number): number =>
  Math.floor(whole / shards) + (shard < whole % shards ? 1 : 0);

/** The same for money. */
export const shareOfNanos = (whole: bigint, shards: number, shard: number): bigint =>
  whole / BigInt(shards) + (BigInt(shard) < whole % BigInt(shards) ? 1n : 0n);

/** The limiter of a shard. The first is the key's own item. */
export const shardId = (keyId: string, shard: number): string => (shard === 0 ? keyId : `${keyId}#${shard}`);

/** The key that a limiter is a shard of. */
export const keyIdOf = (limiterId: string): string => limiterId.split('#', 1)[0] as string;

/** Where a request is tried first, and where its usage event is, whichever shard admits it. */
export const shardOf = (requestId: string, shards: number): number => (shards === 1 ? 0 : crc32(requestId) % shards);
