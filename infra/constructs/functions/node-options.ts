// A process needs memory outside V8's old generation: Node itself, the young generation, buffers.
const OUTSIDE_OLD_GENERATION_MB = 112;

// The largest requests and their buffers take more of it, where little is left.
const SMALL = { outsideMb: 144, leastMb: 40 } as const;

/**
 * The Node options of a function with so much memory. In 256 MB, V8's young generation would have about 1 MB, and be
 * collected all the time. At 32 requests in flight, 16 MB instead of 8 save an eighth of a request's CPU time and cost
 * 14 MiB (`npm run bench`). The old generation is collected before the process reaches its memory.
 */
export const nodeOptionsOf = (memoryMb: number): string =>
  `--max-semi-space-size=16 --max-old-space-size=${memoryMb - OUTSIDE_OLD_GENERATION_MB}`;

/**
 * The same for a function with little memory. Of one request at a time, little survives in a small young generation,
 * and V8's threads would only wait for the same share of a core.
 */
export const smallNodeOptionsOf = (memoryMb: number): string =>
  `--max-semi-space-size=2 --max-old-space-size=${Math.max(SMALL.leastMb, memoryMb - SMALL.outsideMb)} --v8-pool-size=1`;

/** The C library returns memory at once, so that a large request leaves nothing behind. */
export const SMALL_MALLOC = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '65536' } as const;
