import { createHash } from 'node:crypto';
import { type ApiEvent, headerOf } from './api-event.ts';
import type { Reply } from './reply.ts';

/** A strong entity tag: what is the same byte for byte has the same. */
export const entityTag = (content: string | Uint8Array): string =>
  `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`;

/** Whether the caller has this already: `If-None-Match` as RFC 9110, 13.1.2 compares it. */
const isKnown = (event: ApiEvent, tag: string): boolean => {
  const known = headerOf(event, 'if-none-match')?.trim();
  if (!known) return false;
  return known === '*' || known.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag);
};

/** The reply under an entity tag: as it is, or a 304 without body where the caller has it already. */
export const unlessKnown = <Whole extends Reply>(event: ApiEvent, tag: string, reply: Whole): Whole | Reply => {
  const headers = { ...reply.headers, etag: tag };
  return isKnown(event, tag) ? { statusCode: 304, headers, body: '' } : { ...reply, headers };
};
