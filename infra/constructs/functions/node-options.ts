// A process needs memory outside V8's old generation: Node itself, the young generation, buffers.
const OUTSIDE_OLD_GENERATION_MB = 112;

/**
 * The Node options of a function with so much memory. In 256 MB, V8's young generation would have about 1 MB, and be
 * collected all the time. At 32 requests in flight, 16 MB instead of 8 save an eighth of a request's CPU time and cost
 * 14 MiB (`npm run bench`). The old generation is collected before the process reaches its memory.
 */
export const nodeOptionsOf = (memoryMb: number): string =>
  `--max-semi-space-size=16 --max-old-space-size=${memoryMb - OUTSIDE_OLD_GENERATION_MB}`;
