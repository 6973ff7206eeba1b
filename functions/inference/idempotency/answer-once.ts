import { type AdmissionRequest, checkRemembered, type Keys } from '../../../shared/admission/admit.ts';
import { authenticateToSee, type Host } from '../../../shared/admission/authenticate.ts';
import type { KeyItem } from '../../../shared/admission/key-item.ts';
import type { PresentedKey } from '../../../shared/admission/secret.ts';
import { DatabaseUnavailable } from '../../../shared/database/outage.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { fingerprintOf, idempotencyKeyOf } from '../../../shared/http/idempotency-key.ts';
import { commonHeaders, type Reply } from '../../../shared/http/reply.ts';
import { userIdOf } from '../../../shared/http/user-id.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import type { UsageStore } from '../../../shared/usage/usage-store.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import { type Claim, recordIdOf } from './key-record.ts';
import { endDead } from './release-dead-attempt.ts';
import type { StoredResult } from './stored-result.ts';

/** Longer than any function lives: the clocks of two functions may differ by less. */
const LEASE_RESERVE_MS = 60_000;

export interface TurnDependencies {
  host: Host;
  keys: Keys;
  usage: UsageStore;
  idempotency: IdempotencyStore;
}

/** The right to answer a request. Without an idempotency key every request has it; with one, the first of several. */
export interface Turn {
  /** What is billed: for a request that was taken over, the id of the attempt that died. */
  requestId: string;
  /** Whether the answer is to be kept for those who repeat the request. */
  isKept: boolean;
  /** With an idempotency key: the request has been answered. False where its answer will not be given again. */
  complete?: (result: () => Omit<StoredResult, 'requestId'> | undefined) => Promise<boolean>;
  /** The request was refused or has failed: whoever repeats it is answered anew. */
  abandon: () => Promise<void>;
}

const unkeyed = (requestId: string): Turn => ({ requestId, isKept: false, abandon: async () => undefined });

/**
 * Takes the place of an attempt that died. What it left in flight is let go; then, unless it had failed and is over, its request goes on under
 * the same id: one event, one charge, which may be there already.
 */
const inherit = async ({ keys, usage, idempotency }: TurnDependencies, claim: Claim, item: KeyItem, requestId: string): Promise<Claim> => {
  const before = await usage.get(item.id, claim.requestId, item.shards);
  await endDead(keys.store, item, claim.requestId, before, keys.now());
  const event = before ?? (await usage.get(item.id, claim.requestId, item.shards));
  return event && event.outcome !== 'completed' ? idempotency.restart(claim, requestId) : claim;
};

const keyed = ({ idempotency }: TurnDependencies, claim: Claim, item: KeyItem): Turn => {
  const facts = { request_id: claim.requestId, key_id: item.id };
  return {
    requestId: claim.requestId,
    isKept: !item.no_content,
    complete: async (result) => {
      try {
        const made = item.no_content ? undefined : result();
        const completed = await idempotency.complete(claim, made && { ...made, requestId: claim.requestId });
        return completed !== false && completed.stored;
      } catch (error) {
        // The caller has its answer; who repeats the request is answered anew when the lease is over, and pays nothing more.
        logError('result_not_kept', error, facts);
        return false;
      }
    },
    abandon: () => giveUp(idempotency, claim),
  };
};

const giveUp = async (idempotency: IdempotencyStore, claim: Pick<Claim, 'id' | 'holder'>): Promise<void> => {
  await idempotency.abandon(claim).catch((error: unknown) => logError('idempotency_key_not_freed', error, { request_id: claim.holder }));
};

/** A repeated request's reply: what the first one was answered with. Nothing is admitted, counted or charged. */
const replayOf = ({ requestId }: ApiEvent, { requestId: original, contentType, body, ignored }: StoredResult): Reply => ({
  statusCode: 200,
  headers: {
    ...commonHeaders(requestId, contentType),
    ...(ignored && { 'x-sluice-ignored': ignored }),
    'idempotent-replayed': 'true',
    'x-sluice-original-request-id': original,
  },
  body,
});

/** Another user's request is another request. @throws 400 where the host asks for a user and is told none */
const fingerprintFor = ({ scope }: Host, event: ApiEvent): string =>
  scope === 'on_demand' ? fingerprintOf(event, userIdOf(event)) : fingerprintOf(event);

/** What was answered stays answered, also where the request could not be asked any more, because its model is gone for instance. */
export const orReplay = async <Result>(
  deps: TurnDependencies,
  event: ApiEvent,
  key: PresentedKey,
  work: () => Promise<Result>,
): Promise<Result | { replay: Reply }> => {
  try {
    return await work();
  } catch (error) {
    const idempotencyKey = error instanceof ApiError && error.status !== 401 ? idempotencyKeyOf(event) : undefined;
    if (idempotencyKey === undefined) throw error;
    await authenticateToSee(deps.keys, key);
    const replay = await deps.idempotency.find({ keyId: key.keyId, idempotencyKey, fingerprint: fingerprintFor(deps.host, event) });
    if (!replay) throw error;
    return { replay: replayOf(event, replay) };
  }
};

/**
 * Whose turn it is to answer: this request's, or an earlier one's with the same idempotency key, whose reply is given again.
 * @param remainingMs what is left of the function's time
 * @throws 409 while the earlier one is under way, or where its result was not kept; 422 where it was another request
 */
export const takeTurn = async (
  deps: TurnDependencies,
  event: ApiEvent,
  request: Omit<AdmissionRequest, 'requestId'>,
  remainingMs: number,
): Promise<{ turn: Turn } | { replay: Reply }> => {
  const idempotencyKey = idempotencyKeyOf(event);
  const { requestId } = event;
  if (idempotencyKey === undefined) return { turn: unkeyed(requestId) };
  const { keyId } = request.key;
  // As of now: what was kept is given out, and what is kept is decided, by nothing else.
  const item = await authenticateToSee(deps.keys, request.key);
  checkRemembered(deps.keys, { ...request, requestId }, item);
  const asked = {
    keyId,
    idempotencyKey,
    fingerprint: fingerprintFor(deps.host, event),
    requestId,
    leaseMs: remainingMs + LEASE_RESERVE_MS,
  };
  const mine = { id: recordIdOf(asked), holder: requestId };
  try {
    const claimed = await deps.idempotency.claim(asked);
    if ('replay' in claimed) {
      logInfo('replayed', { request_id: requestId, original_request_id: claimed.replay.requestId, key_id: keyId });
      return { replay: replayOf(event, claimed.replay) };
    }
    const { claimed: claim } = claimed;
    return { turn: keyed(deps, claim.takenOver ? await inherit(deps, claim, item, requestId) : claim, item) };
  } catch (error) {
    // The claim may have been made, and its reply been lost.
    if (error instanceof DatabaseUnavailable) await giveUp(deps.idempotency, mine);
    throw error;
  }
};
