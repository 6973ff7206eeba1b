import { crc32 } from 'node:zlib';

/**
 * Limiter items are indexed by the quarter of an hour of their last admission, spread over eight partitions, so that the
 * sweep finds what may hold old entries without a scan, and a busy key rewrites its index row once in a quarter of an hour.
 */
export const EPOCH_MS = 15 * 60_000;
export const EPOCH_PARTITIONS = 8;

export const epochOf = (ms: number): number => Math.floor(ms / EPOCH_MS);

/** One partition of an epoch in the index. */
export const epochPartition = (epoch: number, partition: number): string => `${epoch}#${partition}`;

/** Where a limiter stands in the index after an admission at `ms`. */
export const epochKeyOf = (limiterId: string, ms: number): string => epochPartition(epochOf(ms), crc32(limiterId) % EPOCH_PARTITIONS);
