import { createHash } from 'node:crypto';
import { type ApiEvent, headerOf } from './api-event.ts';
import { InvalidRequest } from './errors.ts';

export const IDEMPOTENCY_HEADER = 'Idempotency-Key';
const MAX_CHARACTERS = 255;
/** Visible ASCII: all of it from `!` to `~`. */
const FORM = new RegExp(`^[!-~]{1,${MAX_CHARACTERS}}$`);

/** The request's idempotency key; undefined where the header is missing or empty. Throws a 400 for one that is no key. */
export const idempotencyKeyOf = (event: ApiEvent): string | undefined => {
  const key = headerOf(event, IDEMPOTENCY_HEADER.toLowerCase());
  if (!key) return undefined;
  if (FORM.test(key)) return key;
  throw new InvalidRequest({
    param: IDEMPOTENCY_HEADER,
    code: 'invalid_idempotency_key',
    message: `The header '${IDEMPOTENCY_HEADER}' must be 1 to ${MAX_CHARACTERS} visible ASCII characters without spaces.`,
  });
};

/** What makes two requests the same one: SHA-256, in base64, over the path, whose it is, and the body's bytes as they came. */
export const fingerprintOf = ({ path, body, isBase64Encoded }: ApiEvent, userId = ''): string =>
  // No path holds a line feed, so that no path and body are like another path and body.
  createHash('sha256')
    .update(`${path}\n${userId && `${userId}\n`}`)
    .update(body ?? '', isBase64Encoded ? 'base64' : 'utf8')
    .digest('base64');
