import type { KeyItem } from '../../../shared/admission/item/key-item.ts';
import type { PresentedKey } from '../../../shared/admission/item/secret.ts';
import { authenticateForRead } from '../../../shared/admission/keys/authenticate.ts';
import { limitHeaders } from '../../../shared/admission/keys/rate-limits.ts';
import type { Host } from '../../../shared/hosts/host.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ApiError, ServiceUnavailable } from '../../../shared/http/errors.ts';
import { fingerprintOf, idempotencyKeyOf } from '../../../shared/http/idempotency-key.ts';
import { commonHeaders, type Reply } from '../../../shared/http/reply.ts';
import { userIdOf } from '../../../shared/http/user-id.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import type { UsageStore } from '../../../shared/usage/usage-store.ts';
import type { AdmissionRequest } from '../admission/admission-request.ts';
import type { Keys } from '../admission/admit.ts';
import { checkRemembered } from '../admission/rejection.ts';
import { fallbackHeader } from '../fallback/fallback-header.ts';
import { checkLogHeader } from '../payload-log/log-header.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import { type Claim, recordIdOf } from './key-record.ts';
import { releaseDeadAttempt } from './release-dead-attempt.ts';
import type { StoredResult } from './stored-result.ts';

// The clocks of two environments can differ.
const LEASE_RESERVE_MS = 60_000;

interface ClaimDependencies {
  host: Host;
  keys: Keys;
  usage: UsageStore;
  idempotency: IdempotencyStore;
}

/**
 * The right to process a request. Of several requests with the same idempotency key, one has it; without a key, each
 * has it.
 */
export interface RequestClaim {
  /** The id that is billed: the first attempt's, if the request took over from a crashed one. */
  requestId: string;
  /**
   * Marks the request as completed under its idempotency key, if it has one, with a result to replay.
   * @returns false if it can't be replayed
   */
  complete?: (result: () => (Omit<StoredResult, 'requestId'> & { storedAs?: string }) | undefined) => Promise<boolean>;
  /** Frees the key of a request that was rejected or failed: a repetition is a new request. */
  release: () => Promise<void>;
}

const unkeyed = (requestId: string): RequestClaim => ({ requestId, release: async () => undefined });

// Unless the crashed attempt had failed, the request continues under its id, so that there is one usage event and one
// charge. Both may exist already.
const takeOver = async (
  { keys, usage, idempotency }: ClaimDependencies,
  claim: Claim,
  item: KeyItem,
  requestId: string,
): Promise<Claim> => {
  const before = await usage.get(item.id, claim.requestId, item.shards);
  await releaseDeadAttempt(keys.store, item, claim.requestId, before, keys.now());
  const event = before ?? (await usage.get(item.id, claim.requestId, item.shards));
  return event && event.outcome !== 'completed' ? idempotency.restart(claim, requestId) : claim;
};

const keyed = ({ idempotency }: ClaimDependencies, claim: Claim, item: KeyItem): RequestClaim => {
  const facts = { request_id: claim.requestId, key_id: item.id, org_id: item.org };
  return {
    requestId: claim.requestId,
    complete: async (result) => {
      try {
        const made = result();
        const completed = await idempotency.complete(claim, made && { ...made, requestId: claim.requestId }, made?.storedAs);
        return completed !== false && completed.stored;
      } catch (error) {
        // The caller has the response. A repetition after the lease runs again, without another charge.
        logError('result_not_kept', error, facts);
        return false;
      }
    },
    release: () => releaseClaim(idempotency, claim),
  };
};

const releaseClaim = async (idempotency: IdempotencyStore, claim: Pick<Claim, 'id' | 'holder'>): Promise<void> => {
  await idempotency.abandon(claim).catch((error: unknown) => logError('idempotency_key_not_freed', error, { request_id: claim.holder }));
};

// Nothing is admitted, counted or charged.
const replayOf = (
  { requestId, sender }: ApiEvent,
  { requestId: original, contentType, body, ignored, fallback }: StoredResult,
  headers: Record<string, string>,
): { replay: Reply } => {
  logInfo('replayed', { request_id: requestId, original_request_id: original, ...sender });
  return {
    replay: {
      statusCode: 200,
      headers: {
        ...commonHeaders(requestId, contentType),
        ...headers,
        ...(ignored && { 'x-sluice-ignored': ignored }),
        ...(fallback && fallbackHeader(fallback)),
        'idempotent-replayed': 'true',
        'x-sluice-original-request-id': original,
      },
      body,
    },
  };
};

// The fingerprint includes the end user, where the host requires one.
const fingerprintFor = ({ scope }: Host, event: ApiEvent): string =>
  scope === 'on_demand' ? fingerprintOf(event, userIdOf(event)) : fingerprintOf(event);

// Like other errors, a 400 for an invalid key has the limits of the API key.
const keyOf = async ({ keys }: ClaimDependencies, event: ApiEvent, key: PresentedKey): Promise<string | undefined> => {
  try {
    return idempotencyKeyOf(event);
  } catch (error) {
    const item = await authenticateForRead(keys, key);
    throw error instanceof ApiError ? error.withHeaders(limitHeaders([item], keys.now())) : error;
  }
};

/** Replays the stored response of a request that would fail now, for instance because its model was deleted. */
export const orReplay = async <Result>(
  deps: ClaimDependencies,
  event: ApiEvent,
  key: PresentedKey,
  work: () => Promise<Result>,
): Promise<Result | { replay: Reply }> => {
  try {
    return await work();
  } catch (error) {
    const idempotencyKey = error instanceof ApiError && error.status !== 401 ? await keyOf(deps, event, key) : undefined;
    if (idempotencyKey === undefined) throw error;
    const item = await authenticateForRead(deps.keys, key);
    checkLogHeader(event);
    const replay = await deps.idempotency.find({ keyId: key.keyId, idempotencyKey, fingerprint: fingerprintFor(deps.host, event) });
    if (!replay) throw error;
    return replayOf(event, replay, limitHeaders([item], deps.keys.now()));
  }
};

/**
 * Claims the right to process a request, or replays the response of an earlier one with the same idempotency key.
 * @param remainingMs the function's remaining time
 * @throws 409 while the earlier request is in progress, or if its result was not stored; 422 if it was a different
 * request; 429 after too many replays or conflicts
 */
export const claimRequest = async (
  deps: ClaimDependencies,
  event: ApiEvent,
  request: Omit<AdmissionRequest, 'requestId'>,
  remainingMs: number,
): Promise<{ claim: RequestClaim } | { replay: Reply }> => {
  const idempotencyKey = await keyOf(deps, event, request.key);
  const { requestId } = event;
  if (idempotencyKey === undefined) return { claim: unkeyed(requestId) };
  const { keyId } = request.key;
  // A consistent read, because only the key decides whether a stored response can be replayed.
  const item = await authenticateForRead(deps.keys, request.key);
  checkRemembered(deps.keys, { ...request, requestId }, item);
  const claiming = {
    keyId,
    idempotencyKey,
    fingerprint: fingerprintFor(deps.host, event),
    requestId,
    leaseMs: remainingMs + LEASE_RESERVE_MS,
  };
  const own = { id: recordIdOf(claiming), holder: requestId };
  const headers = limitHeaders([item], deps.keys.now());
  try {
    const claimed = await deps.idempotency.claim(claiming);
    if ('replay' in claimed) return replayOf(event, claimed.replay, headers);
    // The admission decides about this request; only replays and conflicts count as reads.
    deps.keys.cache.reads.refund(keyId);
    const { claimed: claim } = claimed;
    return { claim: keyed(deps, claim.takenOver ? await takeOver(deps, claim, item, requestId) : claim, item) };
  } catch (error) {
    // The claim may have been written even though the database's reply was lost.
    if (error instanceof ServiceUnavailable) await releaseClaim(deps.idempotency, own);
    throw error instanceof ApiError ? error.withHeaders(headers) : error;
  }
};

/** Frees the claim of a request that is rejected. */
export const releaseClaimOnFailure = async <Result>(claim: RequestClaim, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    await claim.release();
    throw error;
  }
};
