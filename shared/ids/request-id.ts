import { fromBase62, randomBase62 } from './base62.ts';
import { prefixes, RANDOM_CHARACTERS, TIME_CHARACTERS, timeOfId } from './id.ts';

/**
 * A new request id: `req_`, the time of arrival, 107 random bits. Usage events are found by it alone, and sort by
 * time.
 */
export const newRequestId = (atMs: number): string => prefixes.request + timeOfId(atMs) + randomBase62(RANDOM_CHARACTERS);

/** When a request arrived, from its id: milliseconds since the epoch. */
export const requestTimeMs = (requestId: string): number =>
  fromBase62(requestId.slice(prefixes.request.length, prefixes.request.length + TIME_CHARACTERS));
