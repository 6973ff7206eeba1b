import { ConditionFailed, type Database } from '../../../shared/database/database.ts';
import { IdempotencyKeyReused } from '../../../shared/http/idempotency-key.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { IdempotencyInProgress, IdempotentResultNotStored } from './errors.ts';
import {
  type Claim,
  claimOf,
  contentIdOf,
  contentItemOf,
  HAS_EXPIRED,
  HAS_THAT_LEASE,
  IS_HELD,
  IS_IN_PROGRESS,
  IS_ITS_OWN,
  IS_NEW,
  IS_NOT_DELETED,
  IS_THIS_END,
  KEPT_SECONDS,
  type KeyedRequest,
  type KeyRecord,
  recordIdOf,
  resultOf,
} from './key-record.ts';
import { pack, type StoredResult } from './stored-result.ts';

/** A request that claims its key. */
export interface ClaimingRequest extends KeyedRequest {
  requestId: string;
  /** The maximum time that the request takes. */
  leaseMs: number;
}

// Undefined if the write succeeded, else the record on which its condition failed.
const refusalOf = async (write: Promise<unknown>): Promise<{ found: KeyRecord | undefined } | undefined> => {
  try {
    await write;
    return undefined;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    return { found: error.item as KeyRecord | undefined };
  }
};

/**
 * The records of idempotency keys in the table `responses`; nothing else accesses them. The database client may repeat
 * a write whose reply was lost: the holder of a claim shows that it was our own.
 * @param now milliseconds since the epoch
 */
export const createIdempotencyStore = (database: Database, table: string, now: () => number) => {
  const nowSeconds = (): number => unixSeconds(now());
  const restMsOf = (record: KeyRecord | undefined): number => (record ? record.lease_until - now() : 0);

  // Only one of several concurrent attempts succeeds.
  const takeOver = async (old: KeyRecord, { requestId, leaseMs }: ClaimingRequest): Promise<Claim> => {
    const taken = { ...old, holder: requestId, lease_until: now() + leaseMs };
    const refusal = await refusalOf(
      database.update({
        TableName: table,
        Key: { id: old.id },
        UpdateExpression: 'SET holder = :new_holder, lease_until = :new_lease',
        ConditionExpression: `${IS_HELD} AND ${HAS_THAT_LEASE} AND ${IS_IN_PROGRESS}`,
        ExpressionAttributeValues: {
          ':new_holder': taken.holder,
          ':new_lease': taken.lease_until,
          ':holder': old.holder,
          ':lease': old.lease_until,
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    // If the holder is this request, its first try succeeded and the reply was lost.
    if (refusal && refusal.found?.holder !== requestId) throw new IdempotencyInProgress({ leaseMs: restMsOf(refusal.found) });
    return claimOf(taken);
  };

  // Undefined if the result was not stored, or was deleted.
  const readResult = async (record: KeyRecord): Promise<StoredResult | undefined> => {
    if (record.content_type === undefined) return undefined;
    const { Item } = await database.get({ TableName: table, Key: { id: record.stored_as ?? contentIdOf(record) }, ConsistentRead: true });
    return Item?.content === undefined ? undefined : resultOf(record, record.content_type, Item.content as Uint8Array);
  };

  // The first result of an attempt is final. In an item of its own it can be replaced, but not after it was deleted.
  // False: it was deleted.
  const putContent = async (claim: Claim, content: Uint8Array, storedAs: string | undefined): Promise<boolean> => {
    const Item = contentItemOf(storedAs ?? contentIdOf(claim), content, nowSeconds());
    const ConditionExpression = storedAs === undefined ? IS_NEW : IS_NOT_DELETED;
    const refusal = await refusalOf(database.put({ TableName: table, Item, ConditionExpression }));
    return refusal === undefined || storedAs === undefined;
  };

  return {
    /**
     * Claims a key, or returns the result of the request that completed it.
     * @throws IdempotencyKeyReused for a different request; IdempotencyInProgress while the first request is in
     * progress; IdempotentResultNotStored if it completed without a stored result
     */
    claim: async (request: ClaimingRequest): Promise<{ claimed: Claim } | { replay: StoredResult }> => {
      const { fingerprint, requestId, leaseMs } = request;
      const record: KeyRecord = {
        id: recordIdOf(request),
        expires_at: nowSeconds() + KEPT_SECONDS,
        fingerprint,
        holder: requestId,
        lease_until: now() + leaseMs,
        request_id: requestId,
      };
      const refusal = await refusalOf(
        database.put({
          TableName: table,
          Item: record,
          ConditionExpression: `${IS_NEW} OR ${HAS_EXPIRED}`,
          ExpressionAttributeValues: { ':now': nowSeconds() },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      if (!refusal) return { claimed: claimOf(record) };
      const old = refusal.found;
      if (!old) throw new IdempotencyInProgress({ leaseMs: 0 });
      if (old.fingerprint !== fingerprint) throw new IdempotencyKeyReused();
      if (old.completed_at !== undefined) {
        const replay = await readResult(old);
        if (!replay) throw new IdempotentResultNotStored({ requestId: old.request_id });
        return { replay };
      }
      if (old.holder === requestId) return { claimed: claimOf(old) };
      if (restMsOf(old) > 0) throw new IdempotencyInProgress({ leaseMs: restMsOf(old) });
      return { claimed: await takeOver(old, request) };
    },

    /**
     * Changes the id that is billed, after the crashed attempt was released.
     * @throws IdempotencyInProgress if another request has taken over the claim
     */
    restart: async (claim: Claim, newRequestId: string): Promise<Claim> => {
      const refusal = await refusalOf(
        database.update({
          TableName: table,
          Key: { id: claim.id },
          UpdateExpression: 'SET request_id = :request',
          ConditionExpression: `${IS_HELD} AND ${IS_IN_PROGRESS}`,
          ExpressionAttributeValues: { ':holder': claim.holder, ':request': newRequestId },
        }),
      );
      if (refusal) throw new IdempotencyInProgress({ leaseMs: 0 });
      return { ...claim, requestId: newRequestId, takenOver: false };
    },

    /**
     * Marks the request as completed, for good. The key is used up even without a result, or with one that is too
     * large.
     * @param storedAs the id of the item that has the result and is deleted with it; absent: an item of the attempt's
     * own
     * @returns `stored`: the result can be replayed; false if another request has taken over the claim
     */
    complete: async (claim: Claim, result: StoredResult | undefined, storedAs?: string): Promise<{ stored: boolean } | false> => {
      const content = result && (await pack(result.body));
      const kept = content && (await putContent(claim, content, storedAs)) ? result : undefined;
      const ignored = kept?.ignored === undefined ? '' : ', ignored = :ignored';
      const fallback = kept?.fallback === undefined ? '' : ', fallback = :fallback';
      const place = kept && storedAs !== undefined ? ', stored_as = :place' : '';
      const refusal = await refusalOf(
        database.update({
          TableName: table,
          Key: { id: claim.id },
          UpdateExpression: `SET completed_at = :now${kept ? `, request_id = :request, content_type = :type${ignored}${fallback}${place}` : ''}`,
          ConditionExpression: `${IS_HELD} AND (${IS_IN_PROGRESS} OR ${IS_THIS_END})`,
          ExpressionAttributeValues: {
            ':holder': claim.holder,
            ':now': now(),
            ...(kept && { ':request': kept.requestId, ':type': kept.contentType, ':ignored': kept.ignored, ':fallback': kept.fallback }),
            ...(place && { ':place': storedAs }),
          },
        }),
      );
      return refusal ? false : { stored: kept !== undefined };
    },

    /**
     * Frees the key of a request that was rejected or failed, unless it was completed or taken over. A key from a
     * crashed attempt keeps that attempt's request id, which may have been charged: the next request takes it over.
     */
    abandon: async ({ id, holder }: Pick<Claim, 'id' | 'holder'>): Promise<void> => {
      const refusal = await refusalOf(
        database.delete({
          TableName: table,
          Key: { id },
          ConditionExpression: `${IS_HELD} AND ${IS_IN_PROGRESS} AND ${IS_ITS_OWN}`,
          ExpressionAttributeValues: { ':holder': holder },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      if (refusal?.found?.holder !== holder) return;
      await refusalOf(
        database.update({
          TableName: table,
          Key: { id },
          UpdateExpression: 'SET lease_until = :over',
          ConditionExpression: `${IS_HELD} AND ${IS_IN_PROGRESS}`,
          ExpressionAttributeValues: { ':holder': holder, ':over': 0 },
        }),
      );
    },

    /** The stored result for this request, if there is one. Writes nothing. */
    find: async (request: KeyedRequest): Promise<StoredResult | undefined> => {
      const { Item } = await database.get({ TableName: table, Key: { id: recordIdOf(request) }, ConsistentRead: true });
      const record = Item as KeyRecord | undefined;
      const isTheirs = record && record.expires_at > nowSeconds() && record.fingerprint === request.fingerprint;
      return isTheirs && record.completed_at !== undefined ? readResult(record) : undefined;
    },
  };
};

export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>;
