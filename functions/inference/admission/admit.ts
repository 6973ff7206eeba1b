import { ModelNotAllowed } from '../../../shared/admission/item/key-errors.ts';
import {
  assumedShard,
  isOrganizationLimited,
  isPayloadLogged,
  type KeyItem,
  mayStore,
  usableShardsOf,
} from '../../../shared/admission/item/key-item.ts';
import { countsMoney, type LimiterItem, shardsOf, wholeRateLimitsOf } from '../../../shared/admission/item/limiter-item.ts';
import { checkOrganization } from '../../../shared/admission/item/organization.ts';
import { isMoneyRefusal } from '../../../shared/admission/item/refusal.ts';
import { deploymentMark } from '../../../shared/admission/item/reservation-entry.ts';
import type { PresentedKey } from '../../../shared/admission/item/secret.ts';
import { ownerIdOf, shardId, shardOf, wholeId } from '../../../shared/admission/item/shards.ts';
import { type AuthenticatedKey, checkKey, isModelAllowed, REFUSAL_MS, resolveKey } from '../../../shared/admission/keys/authenticate.ts';
import { limitHeaders } from '../../../shared/admission/keys/rate-limits.ts';
import type { Used } from '../../../shared/admission/plans/reservation-end.ts';
import { endReservations, type Reservation } from '../../../shared/admission/stores/reservation.ts';
import type { ApiError } from '../../../shared/http/errors.ts';
import { logError } from '../../../shared/logging/log.ts';
import { growIfBusy } from './grow-organization.ts';
import { type Owner, refusedBy } from './limit-errors.ts';
import type { Known, Limiters, RefusedBy, RequestedAmounts, Reserved } from './reserve.ts';
import { remembered, reserveInShards } from './reserve-in-shards.ts';
import { reserveOrganization } from './reserve-organization.ts';

export type Keys = Limiters;

export interface AdmissionRequest {
  key: PresentedKey;
  model: string;
  /** The id of the deployment that serves the model; undefined if none does. */
  deployment?: string | undefined;
  requestId: string;
  /** To reserve from the tokens-per-minute limit. */
  tokens: number;
  /** The maximum cost in nano-dollars; computed only if money is limited. */
  maxCostNanos: () => bigint;
  /** The key's item, if it was already authenticated for this request. */
  authenticated?: AuthenticatedKey;
}

/** A request in flight: its reservations are durable before the upstream is called. */
export interface Admission {
  requestId: string;
  keyId: string;
  organization: string;
  /** Number of the key's shards; its usage events are spread over them. */
  shards: number;
  admittedAtMs: number;
  /** The maximum charge in nano-dollars; undefined if no money is limited. */
  holdNanos: bigint | undefined;
  isPrepaid: boolean;
  /** False if the key forbids storing content. */
  mayStore: boolean;
  /** True if the key's content is logged; the caller can still switch it off for a request. */
  isPayloadLogged: boolean;
  /** In the key's limiter, then in its organization's. */
  reservations: readonly Reservation[];
  /** DynamoDB round trips of the admission. */
  roundTrips: number;
  /** Settles when the organization has its new shards, if it gets any; the release waits for it. */
  growth: Promise<unknown> | undefined;
  headers: Record<string, string>;
}

/** @throws 403 if the model is not on the key's allow-list */
export const checkModel = (item: KeyItem, model: string, nowMs: number): void => {
  if (!isModelAllowed(item, model)) throw new ModelNotAllowed(model, limitHeaders([item], nowMs));
};

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

const amountsOf = ({ requestId, tokens, maxCostNanos }: AdmissionRequest): RequestedAmounts => ({
  requestId,
  tokens,
  holdNanos: maxCostNanos,
});

const rememberedByAll = (
  limiters: Limiters,
  ownerId: string,
  shards: number,
  request: AdmissionRequest,
): RefusedBy<LimiterItem> | undefined => {
  const amounts = amountsOf(request);
  const whole = remembered(limiters, shards > 1 ? wholeId(ownerId) : ownerId, amounts);
  if (whole || shards === 1) return whole;
  let first: RefusedBy<LimiterItem> | undefined;
  for (let shard = 0; shard < shards; shard++) {
    const refused = remembered(limiters, shardId(ownerId, shard), amounts);
    if (!refused) return undefined;
    first ??= refused;
  }
  return first;
};

const rememberedByOrganization = (limiters: Limiters, organization: string, request: AdmissionRequest) => {
  const item = limiters.cache.get(organization)?.item;
  return item && rememberedByAll(limiters, organization, shardsOf(item), request);
};

/**
 * Rejects a request before any other work, if this environment remembers a refusal by its organization or by all shards
 * of its key.
 * @throws 429
 */
export const checkRemembered = (limiters: Limiters, request: AdmissionRequest, item: KeyItem): void => {
  const organization = isOrganizationLimited(item) ? rememberedByOrganization(limiters, item.org, request) : undefined;
  if (organization) throw rejection('organization', request, organization, item);
  const key = rememberedByAll(limiters, request.key.keyId, usableShardsOf(item), request);
  if (key) throw rejection('key', request, key);
};

// The last image of a shard, or a guess from the key's own item. Budgets aren't divided equally, so a shard with money
// is read.
const knownShard = async ({ cache, store }: Limiters, limiterId: string, { item }: AuthenticatedKey): Promise<Known> => {
  const seen = cache.get(limiterId)?.item;
  if (seen && seen.cfg === item.cfg) return { item: seen, isExact: false };
  return countsMoney(item) ? { item: await store.get(limiterId), isExact: true } : { item: assumedShard(item, limiterId), isExact: false };
};

const reserveKey = async (limiters: Limiters, request: AdmissionRequest, authenticated: AuthenticatedKey): Promise<Reserved<KeyItem>> => {
  const { key, model, deployment } = request;
  const { item, isRead } = authenticated;
  const shards = usableShardsOf(item);
  const result = await reserveInShards<KeyItem>(limiters, {
    ...amountsOf(request),
    ownerId: key.keyId,
    own: { item, isExact: isRead },
    shards,
    first: shardOf(request.requestId, shards),
    knownOf: (limiterId) => knownShard(limiters, limiterId, authenticated),
    isGrowing: false,
    linkOf: isOrganizationLimited,
    deployment: deployment && deploymentMark(deployment),
    check: (one, nowMs) => {
      const checked = checkKey(key, one, nowMs);
      checkModel(checked, model, nowMs);
      return checked;
    },
  });
  if ('refusal' in result) throw rejection('key', request, result);
  return result;
};

// If this fails, the sweep undoes the reservation later.
const undo = async ({ store, now }: Limiters, { requestId }: AdmissionRequest, reservation: Reservation): Promise<void> => {
  try {
    await endReservations(store, [reservation], { requestId, used: 'undone', nowMs: now() });
  } catch (error) {
    logError('undo_failed', error, { request_id: requestId, org_id: reservation.item.org, limiter_id: reservation.limiterId });
  }
};

// An organization that was seen suspended at most 5 s ago is rejected without a call.
const checkSeen = ({ cache, now }: Limiters, organization: string): void => {
  const seen = cache.get(organization);
  if (seen?.item && now() - seen.seenAtMs < REFUSAL_MS) checkOrganization(seen.item);
};

// A cached item that doesn't allow the model is read again, because the allow-list can have changed.
const resolveAllowedKey = async (limiters: Limiters, { key, model, authenticated }: AdmissionRequest): Promise<AuthenticatedKey> =>
  authenticated && isModelAllowed(authenticated.item, model)
    ? authenticated
    : resolveKey(limiters, key, Number.POSITIVE_INFINITY, (item) => checkModel(item, model, limiters.now()));

/**
 * Admits a request: reserves it in its key's limiter, and then in its organization's if that has limits. Usually this
 * is one conditional write each.
 * @throws 401, 403, 429: nothing is in flight; 503: the sweep ends what may be in flight
 */
export const admit = async (limiters: Keys, request: AdmissionRequest): Promise<Admission> => {
  const { requestId } = request;
  const authenticated = await resolveAllowedKey(limiters, request);
  if (isOrganizationLimited(authenticated.item)) {
    const refused = rememberedByOrganization(limiters, authenticated.item.org, request);
    if (refused) throw rejection('organization', request, refused, authenticated.item);
    checkSeen(limiters, authenticated.item.org);
  }

  const key = await reserveKey(limiters, request, authenticated);
  const { item } = key;
  const own: Reservation = { limiterId: item.id, item, entry: key.entry };
  const reservations = [own];
  let { roundTrips } = key;
  let growth: Promise<unknown> | undefined;
  if (key.entry.link) {
    try {
      const organization = await reserveOrganization(limiters, amountsOf(request), item);
      if ('refusal' in organization) throw rejection('organization', request, organization, item);
      reservations.push({ limiterId: organization.item.id, item: organization.item, entry: organization.entry });
      roundTrips += organization.roundTrips;
      growth = growIfBusy(limiters, item.org, organization.item);
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
    mayStore: mayStore(item),
    isPayloadLogged: isPayloadLogged(item),
    isPrepaid: reservations.some(({ entry }) => entry.isFromCredit),
    reservations,
    roundTrips,
    growth,
    headers: limitHeaders(
      reservations.map((one) => one.item),
      key.nowMs,
    ),
  };
};

/**
 * Releases a request's reservations based on what it used. Idempotent.
 * @param used `undone`: the request leaves no trace in the limits
 */
export const release = async (
  { store, cache, now }: Keys,
  { requestId, reservations, growth }: Admission,
  used: Used | 'undone',
): Promise<void> => {
  await endReservations(store, reservations, { requestId, used, nowMs: now() });
  for (const { limiterId } of reservations) {
    cache.forgetRefusal(limiterId);
    cache.forgetRefusal(wholeId(ownerIdOf(limiterId)));
  }
  await growth;
};
