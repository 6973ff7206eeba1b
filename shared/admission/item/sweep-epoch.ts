import { crc32 } from 'node:zlib';

/**
 * Limiter items are indexed by the quarter-hour of their last admission, spread over eight partitions. So the sweep
 * finds items that can have old entries without a scan, and a busy key rewrites its index row only once per
 * quarter-hour.
 */
export const EPOCH_MS = 15 * 60_000;
export const EPOCH_PARTITIONS = 8;

export const epochOf = (ms: number): number => Math.floor(ms / EPOCH_MS);

export const epochPartition = (epoch: number, partition: number): string => `${epoch}#${partition}`;

/** A limiter's index key after an admission at `ms`. */
export const epochKeyOf = (limiterId: string, ms: number): string => epochPartition(epochOf(ms), crc32(limiterId) % EPOCH_PARTITIONS);
