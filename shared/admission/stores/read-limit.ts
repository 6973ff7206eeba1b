import { ApiError } from '../../http/errors.ts';
import { waitHeaders } from '../../http/wait-headers.ts';

/** An API key can read this often in each environment: per second on average, and at once after a pause. */
export const READS_PER_SECOND = 10;
export const READS_AT_ONCE = 100;
const MAX_KEYS = 10_000;

const MS_PER_READ = 1_000 / READS_PER_SECOND;

/**
 * Limits the requests of each key that read the database without an admission, such as those for stored data. A limit
 * in the database would cost a write, more than most of these reads; this one is kept by each environment for itself,
 * as a token bucket in its memory.
 */
export const createReadLimit = () => {
  /** For each key: the time at which all of its reads are available again. */
  const fullAtMs = new Map<string, number>();
  return {
    /** Takes a read. @returns 0, or the milliseconds until there is one */
    take: (keyId: string, nowMs: number): number => {
      const next = Math.max(fullAtMs.get(keyId) ?? 0, nowMs) + MS_PER_READ;
      const waitMs = next - nowMs - READS_AT_ONCE * MS_PER_READ;
      if (waitMs > 0) return waitMs;
      fullAtMs.delete(keyId);
      fullAtMs.set(keyId, next);
      if (fullAtMs.size > MAX_KEYS) fullAtMs.delete(fullAtMs.keys().next().value as string);
      return 0;
    },
    /** Returns a read, because its request was admitted and counts against the key's limits instead. */
    refund: (keyId: string): void => {
      const at = fullAtMs.get(keyId);
      if (at !== undefined) fullAtMs.set(keyId, at - MS_PER_READ);
    },
  };
};

/** A key reads too often: 429. */
export class TooManyReads extends ApiError {
  constructor(waitMs: number, headers: Record<string, string>) {
    const wait = waitHeaders(waitMs);
    super({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message: `This API key has sent too many requests that read stored data, such as repeated requests with an idempotency key: ${READS_PER_SECOND} per second are allowed. Try again in ${wait['retry-after']} s.`,
      headers: { ...headers, ...wait },
    });
  }
}
