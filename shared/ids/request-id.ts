import { fromBase62, randomBase62, toBase62 } from './base62.ts';
import { prefixes, RANDOM_CHARACTERS } from './id.ts';

/** Milliseconds since the epoch in seven base62 characters: enough until the year 2081. */
const TIME_CHARACTERS = 7;

/** A new request id: `req_`, the time of arrival, 107 random bits. What is billed is found by it alone, and in order of time. */
export const newRequestId = (atMs: number): string => prefixes.request + toBase62(atMs, TIME_CHARACTERS) + randomBase62(RANDOM_CHARACTERS);

/** When a request arrived, from its id: milliseconds since the epoch. */
export const requestTimeMs = (requestId: string): number =>
  fromBase62(requestId.slice(prefixes.request.length, prefixes.request.length + TIME_CHARACTERS));
