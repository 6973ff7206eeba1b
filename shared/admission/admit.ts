import type { ApiError } from '../http/errors.ts';
import { logError } from '../logging/log.ts';
import { checkKey, isModelAllowed, type Opened, openKey, REFUSAL_MS } from './authenticate.ts';
import { ModelNotAllowed } from './key-errors.ts';
import { assumedShard, isOrganizationLimited, type KeyItem, shardsOf, usableShardsOf } from './key-item.ts';
import { type Owner, refusedBy } from './limit-errors.ts';
import { countsMoney, type LimiterItem, wholeRateLimitsOf } from './limiter-item.ts';
import { checkOrganization } from './organization.ts';
import { limitHeaders } from './rate-limits.ts';
import { isMoneyRefusal } from './refusal.ts';
import { endReservations, type Reservation } from './reservation.ts';
import type { Used } from './reservation-end.ts';
import { exactRefusal, type Known, type Limiters, type RefusedBy, type RequestedReservation, type Reserved, reserve } from './reserve.ts';
import type { PresentedKey } from './secret.ts';
import { shardId, shardOf } from './shards.ts';

export type Keys = Limiters;

/** A request that a shard rejects by a rate limit is tried in this many shards; one that a shard cannot pay for is tried in all. */
const MAX_SHARDS_TRIED = 2;

export interface AdmissionRequest {
  key: PresentedKey;
  model: string;
  requestId: string;
  /** Tokens to reserve from the tokens-per-minute limit. */
  tokens: number;
  /** The most that it can cost, in nano-dollars; computed only if money is limited. */
  maxCostNanos: () => bigint;
  /** The key's item, if it was already authenticated for this request. */
  opened?: Opened;
}

/** A request in flight: its reservations are durable before the upstream is called. */
export interface Admission {
  requestId: string;
  keyId: string;
  organization: string;
  /** Number of the key's shards; its usage events are spread over them. */
  shards: number;
  admittedAtMs: number;
  /** The most that it can be charged; undefined: no money is limited. */
  holdNanos: bigint | undefined;
  isPrepaid: boolean;
  /** In the key's limiter, then in its organization's. */
  reservations: readonly Reservation[];
  /** DynamoDB round trips of the admission. */
  roundTrips: number;
  headers: Record<string, string>;
}

/** @throws 403 for a model that is not on the key's allow-list */
export const checkModel = (item: KeyItem, model: string, nowMs: number): void => {
  if (!isModelAllowed(item, model)) throw new ModelNotAllowed(model, limitHeaders([item], nowMs));
};

/** Converts a limiter's refusal to an error. @param key the key's item, for the limits that an organization does not have */
const rejection = (
  owner: Owner,
  request: AdmissionRequest,
  { item, refusal, nowMs }: RefusedBy<LimiterItem>,
  key: LimiterItem = item,
): ApiError =>
  refusedBy({
    owner,
    refusal,
    limits: wholeRateLimitsOf(item),
    tokens: request.tokens,
    holdNanos: isMoneyRefusal(refusal) ? request.maxCostNanos() : 0n,
    headers: limitHeaders(key === item ? [item] : [key, item], nowMs),
  });

/** A refusal that this environment remembers and that still holds; it costs no call. */
const remembered = (
  { cache, now }: Limiters,
  limiterId: string,
  { requestId, tokens, maxCostNanos }: AdmissionRequest,
): RefusedBy<LimiterItem> | undefined => {
  const item = cache.get(limiterId)?.item;
  if (!item || !cache.refuses(limiterId, now())) return undefined;
  const refusal = exactRefusal(item, { requestId, tokens, holdNanos: maxCostNanos }, now());
  return refusal && { item, refusal, nowMs: now(), roundTrips: 0 };
};

/**
 * Rejects a request before any other work, if this environment remembers a refusal by its organization or by all shards of its key.
 * @throws 429
 */
export const checkRemembered = (limiters: Limiters, request: AdmissionRequest, item: KeyItem): void => {
  const organization = isOrganizationLimited(item) ? remembered(limiters, item.org, request) : undefined;
  if (organization) throw rejection('organization', request, organization, item);
  const shards = Array.from({ length: usableShardsOf(item) }, (_, shard) =>
    remembered(limiters, shardId(request.key.keyId, shard), request),
  );
  const [first] = shards;
  if (first && shards.every((refused) => refused !== undefined)) throw rejection('key', request, first);
};

/** The shards in the order in which the request tries them: first the one that its id determines, then the others from a random one on. */
const shardOrder = (requestId: string, shards: number): number[] => {
  const first = shardOf(requestId, shards);
  const start = Math.floor(Math.random() * (shards - 1));
  return [first, ...Array.from({ length: shards - 1 }, (_, i) => (first + 1 + ((start + i) % (shards - 1))) % shards)];
};

/** The known state of a shard: its last image, or else a guess from the key's own item. */
const knownShard = ({ cache }: Limiters, limiterId: string, { item, isRead }: Opened): Known => {
  if (limiterId === item.id) return { item, isExact: isRead };
  const seen = cache.get(limiterId)?.item;
  if (seen && seen.cfg === item.cfg) return { item: seen, isExact: false };
  return { item: assumedShard(item, limiterId), isExact: false };
};

/** Reserves the request in one of its key's shards. @throws 401, 403, 429, 503 */
const reserveKey = async (limiters: Limiters, request: AdmissionRequest, opened: Opened): Promise<Reserved<KeyItem>> => {
  const { key, model, requestId, tokens, maxCostNanos } = request;
  const { item: base } = opened;
  let refused: RefusedBy<LimiterItem> | undefined;
  let roundTrips = 0;
  for (const [tried, shard] of shardOrder(requestId, usableShardsOf(base)).entries()) {
    if (refused && tried >= MAX_SHARDS_TRIED && !isMoneyRefusal(refused.refusal)) break;
    const limiterId = shardId(key.keyId, shard);
    const requested: RequestedReservation<KeyItem> = {
      limiterId,
      requestId,
      tokens,
      holdNanos: maxCostNanos,
      linkOf: isOrganizationLimited,
      check: (item, nowMs) => {
        const checked = checkKey(key, item, nowMs);
        checkModel(checked, model, nowMs);
        return checked;
      },
    };
    const result =
      remembered(limiters, limiterId, request) ?? (await reserve(limiters, requested, knownShard(limiters, limiterId, opened)));
    roundTrips += result.roundTrips;
    if ('entry' in result) return { ...result, roundTrips };
    if (!refused || result.refusal.retryAfterMs < refused.refusal.retryAfterMs) refused = result;
  }
  throw rejection('key', request, refused as RefusedBy<LimiterItem>);
};

/** Reserves the request in its organization's limiter. */
const reserveOrganization = async (
  limiters: Limiters,
  request: AdmissionRequest,
  organization: string,
  key: KeyItem,
): Promise<Reserved<LimiterItem>> => {
  const { requestId, tokens, maxCostNanos } = request;
  const { cache, store, now } = limiters;
  const seen = cache.get(organization);
  // A suspended organization is read again after a while because it can have been resumed.
  const isKnown = seen?.item !== undefined && (seen.item.status === 'active' || now() - seen.seenAtMs < REFUSAL_MS);
  const item = isKnown ? seen.item : await store.get(organization);
  if (!isKnown) cache.set(organization, item, now());
  const requested = { limiterId: organization, requestId, tokens, holdNanos: maxCostNanos, linkOf: () => key.id, check: checkOrganization };
  const result = await reserve(limiters, requested, { item, isExact: !isKnown });
  const roundTrips = result.roundTrips + (isKnown ? 0 : 1);
  if ('entry' in result) return { ...result, roundTrips };
  throw rejection('organization', request, result, key);
};

/** Undoes a reservation. If that fails, the sweep undoes it later. */
const undo = async ({ store, now }: Limiters, { requestId }: AdmissionRequest, reservation: Reservation): Promise<void> => {
  try {
    await endReservations(store, [reservation], { requestId, used: 'undone', nowMs: now() });
  } catch (error) {
    logError('undo_failed', error, { request_id: requestId, limiter_id: reservation.limiterId });
  }
};

/** Rejects an organization that was suspended when last seen, at most 5 s ago, without a call. @throws 403 */
const checkSeen = ({ cache, now }: Limiters, organization: string): void => {
  const seen = cache.get(organization);
  if (seen?.item && now() - seen.seenAtMs < REFUSAL_MS) checkOrganization(seen.item);
};

/** The key's item, if it can use the model; the item is read again if a cached one does not allow it. @throws 401, 403 */
const openFor = async (limiters: Limiters, { key, model, opened }: AdmissionRequest): Promise<Opened> =>
  opened && isModelAllowed(opened.item, model)
    ? opened
    : openKey(limiters, key, Number.POSITIVE_INFINITY, (item) => checkModel(item, model, limiters.now()));

/**
 * Admits a request: reserves it in its key's limiter, and then in its organization's if that has limits. Usually this is one conditional write each.
 * @throws 401, 403, 429: nothing is in flight; 503: the sweep ends what may be in flight
 */
export const admit = async (limiters: Keys, request: AdmissionRequest): Promise<Admission> => {
  const { requestId } = request;
  const opened = await openFor(limiters, request);
  if (isOrganizationLimited(opened.item)) {
    const refused = remembered(limiters, opened.item.org, request);
    if (refused) throw rejection('organization', request, refused, opened.item);
    checkSeen(limiters, opened.item.org);
  }

  const key = await reserveKey(limiters, request, opened);
  const { item } = key;
  const own: Reservation = { limiterId: item.id, item, entry: key.entry };
  const reservations = [own];
  let roundTrips = key.roundTrips + (opened.isRead ? 1 : 0);
  if (key.entry.link) {
    try {
      const organization = await reserveOrganization(limiters, request, item.org, item);
      reservations.push({ limiterId: item.org, item: organization.item, entry: organization.entry });
      roundTrips += organization.roundTrips;
    } catch (error) {
      await undo(limiters, request, own);
      throw error;
    }
  }
  const holds = reservations.flatMap((one) => (countsMoney(one.item) ? [one.entry.holdNanos] : []));
  return {
    requestId,
    keyId: request.key.keyId,
    organization: item.org,
    shards: shardsOf(item),
    admittedAtMs: key.entry.admittedAtMs,
    holdNanos: holds.toSorted((one, other) => Number(one - other))[0],
    isPrepaid: reservations.some(({ entry }) => entry.isFromCredit),
    reservations,
    roundTrips,
    headers: limitHeaders(
      reservations.map((one) => one.item),
      key.nowMs,
    ),
  };
};

/** Releases a request's reservations based on what it used. Idempotent. */
export const release = async ({ store, cache, now }: Keys, { requestId, reservations }: Admission, used: Used): Promise<void> => {
  await endReservations(store, reservations, { requestId, used, nowMs: now() });
  for (const { limiterId } of reservations) cache.forgetRefusal(limiterId);
};
