import { createHash } from 'node:crypto';
import { type ApiEvent, headerOf, requestedPath } from './api-event.ts';
import { ApiError, InvalidRequest } from './errors.ts';

export const IDEMPOTENCY_HEADER = 'Idempotency-Key';
const MAX_CHARACTERS = 255;
// Visible ASCII.
const FORM = new RegExp(`^[!-~]{1,${MAX_CHARACTERS}}$`);

/** The request's idempotency key; undefined without the header. @throws 400 for an invalid or empty key */
export const idempotencyKeyOf = (event: ApiEvent): string | undefined => {
  const key = headerOf(event, IDEMPOTENCY_HEADER.toLowerCase());
  if (key === undefined) return undefined;
  if (FORM.test(key)) return key;
  throw new InvalidRequest({
    param: IDEMPOTENCY_HEADER,
    code: 'invalid_idempotency_key',
    message: `The header '${IDEMPOTENCY_HEADER}' must be 1 to ${MAX_CHARACTERS} visible ASCII characters without spaces.`,
  });
};

/**
 * Two requests with the same fingerprint are the same request: SHA-256 in base64 of the path without
 * trailing slashes, the end user and the body's bytes.
 */
export const fingerprintOf = (event: ApiEvent, userId = ''): string =>
  // A path never contains a line feed, so different pairs of path and body can't have the same hash input.
  createHash('sha256')
    .update(`${requestedPath(event)}\n${userId && `${userId}\n`}`)
    .update(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
    .digest('base64');

/** The key has been used for another request: 422. */
export class IdempotencyKeyReused extends ApiError {
  constructor() {
    super({
      status: 422,
      type: 'invalid_request_error',
      code: 'idempotency_key_reused',
      param: IDEMPOTENCY_HEADER,
      message: 'This idempotency key was already used for a request with a different path or body. Use a new key for each new request.',
      headers: { 'x-should-retry': 'false' },
    });
  }
}
