import { createHash } from 'node:crypto';
import { type StoredResult, unpack } from './stored-result.ts';

/** How long a key stands for its first request, from its first claim on. */
export const KEPT_SECONDS = 24 * 60 * 60;

/** A request under an idempotency key of its caller's. */
export interface KeyedRequest {
  /** Of the API key: two callers' idempotency keys never meet. */
  keyId: string;
  idempotencyKey: string;
  fingerprint: string;
}

/** The right to answer for an idempotency key. */
export interface Claim {
  id: string;
  /** Of this attempt alone: the caller's own request id. */
  holder: string;
  /** The request id under which it is billed: that of the first attempt where it was taken over. */
  requestId: string;
  takenOver: boolean;
}

/** What the table holds of an idempotency key. */
export interface KeyRecord {
  id: string;
  /** Seconds since the epoch. */
  expires_at: number;
  fingerprint: string;
  holder: string;
  /** Milliseconds since the epoch; an attempt that is still under way then counts as dead. */
  lease_until: number;
  request_id: string;
  /** Milliseconds since the epoch; not there while the request is in progress. */
  completed_at?: number;
  /** Not there where the result was not kept. */
  content_type?: string;
  ignored?: string;
}

/** The clauses of the conditions. */
export const IS_NEW = 'attribute_not_exists(id)';
export const HAS_EXPIRED = 'expires_at <= :now'; // and DynamoDB has not removed it yet
export const IS_HELD = 'holder = :holder'; // nobody has taken it over
export const HAS_THAT_LEASE = 'lease_until = :lease'; // the lease that was seen to be over
export const IS_ITS_OWN = 'request_id = :holder'; // billed under this attempt's own id
export const IS_IN_PROGRESS = 'attribute_not_exists(completed_at)';
export const IS_THIS_END = 'completed_at = :now'; // by this very write, whose reply was lost

export const recordIdOf = ({ keyId, idempotencyKey }: Pick<KeyedRequest, 'keyId' | 'idempotencyKey'>): string =>
  `idempotency#${keyId}#${createHash('sha256').update(idempotencyKey).digest('hex')}`;

export const claimOf = ({ id, holder, request_id }: KeyRecord): Claim => ({
  id,
  holder,
  requestId: request_id,
  takenOver: request_id !== holder,
});

/**
 * Where the result of an attempt is. In an item of its own: a claim that finds its key taken is a write that failed, and is paid for by the
 * size of what it found.
 */
export const contentIdOf = ({ id, holder }: Pick<KeyRecord, 'id' | 'holder'>): string => `${id}#${holder}`;

export const contentItemOf = (claim: Claim, content: Uint8Array, nowSeconds: number) => ({
  id: contentIdOf(claim),
  expires_at: nowSeconds + KEPT_SECONDS,
  content,
});

/** The result of a request that has completed. */
export const resultOf = async ({ request_id, ignored }: KeyRecord, contentType: string, content: Uint8Array): Promise<StoredResult> => ({
  requestId: request_id,
  contentType,
  body: await unpack(content),
  ...(ignored !== undefined && { ignored }),
});
