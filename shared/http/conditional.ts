import { createHash } from 'node:crypto';
import { type ApiEvent, headerOf } from './api-event.ts';
import type { Reply } from './reply.ts';

/** A strong entity tag: equal for content that is equal byte for byte. */
export const entityTag = (content: string | Uint8Array): string =>
  `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`;

// `If-None-Match` as RFC 9110, 13.1.2 compares it.
const isKnown = (event: ApiEvent, tag: string): boolean => {
  const known = headerOf(event, 'if-none-match')?.trim();
  if (!known) return false;
  return known === '*' || known.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag);
};

/** Adds an entity tag to a reply; returns a 304 without a body if the caller already has this version. */
export const unlessKnown = <Whole extends Reply>(event: ApiEvent, tag: string, reply: Whole): Whole | Reply => {
  const headers = { ...reply.headers, etag: tag };
  return isKnown(event, tag) ? { statusCode: 304, headers, body: '' } : { ...reply, headers };
};
