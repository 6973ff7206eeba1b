import { createHash } from 'node:crypto';
import { type StoredResult, unpack } from './stored-result.ts';

/** A key identifies its first request for this long after the first claim. */
export const KEPT_SECONDS = 24 * 60 * 60;

/** A request with an idempotency key. */
export interface KeyedRequest {
  /** The id of the API key: idempotency keys are separate for each API key. */
  keyId: string;
  idempotencyKey: string;
  fingerprint: string;
}

/** The right to process the request of an idempotency key. */
export interface Claim {
  id: string;
  /** The request id of this attempt. */
  holder: string;
  /** The request id under which it is billed: the first attempt's, if it was taken over. */
  requestId: string;
  takenOver: boolean;
}

/** The record of an idempotency key in the table. */
export interface KeyRecord {
  id: string;
  /** Seconds since the epoch. */
  expires_at: number;
  fingerprint: string;
  holder: string;
  /** Milliseconds since the epoch. An attempt in progress counts as crashed after this. */
  lease_until: number;
  request_id: string;
  /** Milliseconds since the epoch; absent while the request is in progress. */
  completed_at?: number;
  /** Absent if the result was not stored. */
  content_type?: string;
  /** The id of the item with the result; absent: the attempt's own item. */
  stored_as?: string;
  ignored?: string;
  /** The number of the fallback that answered. */
  fallback?: number;
}

/** The clauses of the conditions. */
export const IS_NEW = 'attribute_not_exists(id)';
export const IS_NOT_DELETED = 'attribute_not_exists(deleted_by)'; // the response store writes a deletion in place of a result
export const HAS_EXPIRED = 'expires_at <= :now'; // DynamoDB removes expired items late
export const IS_HELD = 'holder = :holder'; // no other request has taken it over
export const HAS_THAT_LEASE = 'lease_until = :lease'; // still the lease that had expired
export const IS_ITS_OWN = 'request_id = :holder'; // billed under this attempt's own id
export const IS_IN_PROGRESS = 'attribute_not_exists(completed_at)';
export const IS_THIS_END = 'completed_at = :now'; // completed by this same write, whose reply was lost

export const recordIdOf = ({ keyId, idempotencyKey }: Pick<KeyedRequest, 'keyId' | 'idempotencyKey'>): string =>
  `idempotency#${keyId}#${createHash('sha256').update(idempotencyKey).digest('hex')}`;

/** The API key that owns a record, or a result, in the table; undefined for other items. */
export const apiKeyOfRecord = (itemId: string): string | undefined => /^idempotency#([^#]+)#/.exec(itemId)?.[1];

export const claimOf = ({ id, holder, request_id }: KeyRecord): Claim => ({
  id,
  holder,
  requestId: request_id,
  takenOver: request_id !== holder,
});

/**
 * The id of the item with an attempt's result. It is separate from the record, because DynamoDB bills a failed
 * condition by the size of the existing item.
 */
export const contentIdOf = ({ id, holder }: Pick<KeyRecord, 'id' | 'holder'>): string => `${id}#${holder}`;

export const contentItemOf = (id: string, content: Uint8Array, nowSeconds: number) => ({
  id,
  expires_at: nowSeconds + KEPT_SECONDS,
  content,
});

/** The stored result of a completed request. */
export const resultOf = async (
  { request_id, ignored, fallback }: KeyRecord,
  contentType: string,
  content: Uint8Array,
): Promise<StoredResult> => ({
  requestId: request_id,
  contentType,
  body: await unpack(content),
  ...(ignored !== undefined && { ignored }),
  ...(fallback !== undefined && { fallback }),
});
