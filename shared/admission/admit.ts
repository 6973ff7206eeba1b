import type { ApiError } from '../http/errors.ts';
import { logError } from '../logging/log.ts';
import { checkKey, isModelAllowed, type Opened, openKey, REFUSAL_MS } from './authenticate.ts';
import type { Used } from './ending.ts';
import type { Entry } from './entry.ts';
import type { KeyItem } from './key.ts';
import { ModelNotAllowed } from './key-errors.ts';
import { type Owner, refusedBy } from './limit-errors.ts';
import { countsMoney, type LimiterItem, type StoredNanos } from './limiter.ts';
import { checkOrganization } from './organization.ts';
import { limitHeaders, wholeLimitsOf } from './rate-limits.ts';
import { isMoneyRefusal } from './refusal.ts';
import { type Ask, exactRefusal, type Known, type Limiters, type RefusedBy, type Reserved, reserve } from './reserve.ts';
import type { PresentedKey } from './secret.ts';
import { shardId, shardOf, usableShards } from './shards.ts';

export type Keys = Limiters;

/** A request that one shard has no room for is tried in this many; one that cannot be paid there, in all. */
const MAX_SHARDS_TRIED = 2;

/** What a request asks of its key. */
export interface AdmissionRequest {
  key: PresentedKey;
  model: string;
  requestId: string;
  /** Tokens to reserve out of the tokens-per-minute limit. */
  tokens: number;
  /** What it may cost at most, in nano-dollars; asked for only where money is limited. */
  maxCostNanos: () => bigint;
  /** The key's item, where it has been opened for this request. */
  opened?: Opened;
}

/** What a request has taken out of one limiter. */
interface Taken {
  limiterId: string;
  item: LimiterItem;
  entry: Entry;
}

/** A request in flight: durable before anything is asked of the upstream. */
export interface Admission {
  requestId: string;
  keyId: string;
  organization: string;
  /** Of the key: where its events lie. */
  shards: number;
  admittedAtMs: number;
  /** The most that it may be charged; undefined: no money is limited. */
  holdNanos: bigint | undefined;
  isPrepaid: boolean;
  /** The key's limiter, then its organization's; given back in reverse. */
  taken: readonly Taken[];
  /** DynamoDB round trips that it took. */
  roundTrips: number;
  headers: Record<string, string>;
}

/** 403 when the key has an allow-list without this model. */
export const checkModel = (item: KeyItem, model: string, nowMs: number): void => {
  if (!isModelAllowed(item, model)) throw new ModelNotAllowed(model, limitHeaders([item], nowMs));
};

/** @param key the item of the key, for the limits that an organization does not have */
const tell = (
  owner: Owner,
  request: AdmissionRequest,
  { item, refusal, nowMs }: RefusedBy<LimiterItem>,
  key: LimiterItem = item,
): ApiError =>
  refusedBy({
    owner,
    refusal,
    limits: wholeLimitsOf(item),
    tokens: request.tokens,
    holdNanos: isMoneyRefusal(refusal) ? request.maxCostNanos() : 0n,
    headers: limitHeaders(key === item ? [item] : [key, item], nowMs),
  });

/** The refusal that this environment remembers of a limiter, if it still holds: it costs no call. */
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
 * Throws the refusal that this environment remembers of a key, in all its shards, or of its organization, before more is done for a request
 * than its limits would allow.
 */
export const checkRemembered = (limiters: Limiters, request: AdmissionRequest, item: KeyItem): void => {
  const organization = item.lim_o && remembered(limiters, item.org, request);
  if (organization) throw tell('organization', request, organization, item);
  const shards = Array.from({ length: usableShards(item) }, (_, shard) => remembered(limiters, shardId(request.key.keyId, shard), request));
  const [first] = shards;
  if (first && shards.every((refused) => refused !== undefined)) throw tell('key', request, first);
};

/** The shards in the order in which this request tries them: where its id points, then the others from a place of chance. */
const shardOrder = (requestId: string, shards: number): number[] => {
  const first = shardOf(requestId, shards);
  const start = Math.floor(Math.random() * (shards - 1));
  return [first, ...Array.from({ length: shards - 1 }, (_, i) => (first + 1 + ((start + i) % (shards - 1))) % shards)];
};

/** What differs from shard to shard. */
const COUNTER = /^[rtdm]\d+$|^spent$|^ep$|^last_used$/;

const LIMIT = /^lim_[rtc]$|^bud_[dmt]$/;
const lowerByOne = (limit: StoredNanos): StoredNanos =>
  limit === 0 || limit === 0n ? limit : typeof limit === 'bigint' ? limit - 1n : limit - 1;

/** What is known of a shard: what was last seen of it, else its key's configuration, with nothing counted. */
const knownShard = ({ cache }: Limiters, limiterId: string, { item, isRead }: Opened): Known => {
  if (limiterId === item.id) return { item, isExact: isRead };
  const seen = cache.get(limiterId)?.item;
  if (seen && seen.cfg === item.cfg) return { item: seen, isExact: false };
  const known = Object.entries(item).filter(([name]) => !COUNTER.test(name));
  // Its part of the limits may be smaller by one: a guess that is too low costs a trip, one that is too high would let one too many in.
  const lowered = known.map(([name, value]) => [name, LIMIT.test(name) ? lowerByOne(value as StoredNanos) : value]);
  return { item: { ...(Object.fromEntries(lowered) as KeyItem), id: limiterId, fl: {} }, isExact: false };
};

/** Takes the request out of the limits of its key, in one of the key's shards. */
const reserveKey = async (limiters: Limiters, request: AdmissionRequest, opened: Opened): Promise<Reserved<KeyItem>> => {
  const { key, model, requestId, tokens, maxCostNanos } = request;
  const { item: base } = opened;
  let refused: RefusedBy<LimiterItem> | undefined;
  let roundTrips = 0;
  for (const [tried, shard] of shardOrder(requestId, usableShards(base)).entries()) {
    if (refused && tried >= MAX_SHARDS_TRIED && !isMoneyRefusal(refused.refusal)) break;
    const limiterId = shardId(key.keyId, shard);
    const ask: Ask<KeyItem> = {
      limiterId,
      requestId,
      tokens,
      holdNanos: maxCostNanos,
      linkOf: (item) => item.lim_o === true,
      check: (item, nowMs) => {
        const opening = checkKey(key, item, nowMs);
        checkModel(opening, model, nowMs);
        return opening;
      },
    };
    const result = remembered(limiters, limiterId, request) ?? (await reserve(limiters, ask, knownShard(limiters, limiterId, opened)));
    roundTrips += result.roundTrips;
    if ('entry' in result) return { ...result, roundTrips };
    if (!refused || result.refusal.retryAfterMs < refused.refusal.retryAfterMs) refused = result;
  }
  throw tell('key', request, refused as RefusedBy<LimiterItem>);
};

/** Takes the request out of the limits of its organization too. */
const reserveOrganization = async (
  limiters: Limiters,
  request: AdmissionRequest,
  organization: string,
  key: KeyItem,
): Promise<Reserved<LimiterItem>> => {
  const { requestId, tokens, maxCostNanos } = request;
  const { cache, store, now } = limiters;
  const seen = cache.get(organization);
  // One that sends no requests is asked again after a while: it may be allowed to again.
  const isKnown = seen?.item !== undefined && (seen.item.status === 'active' || now() - seen.seenAtMs < REFUSAL_MS);
  const item = isKnown ? seen.item : await store.get(organization);
  if (!isKnown) cache.set(organization, item, now());
  const ask = { limiterId: organization, requestId, tokens, holdNanos: maxCostNanos, linkOf: () => key.id, check: checkOrganization };
  const result = await reserve(limiters, ask, { item, isExact: !isKnown });
  const roundTrips = result.roundTrips + (isKnown ? 0 : 1);
  if ('entry' in result) return { ...result, roundTrips };
  throw tell('organization', request, result, key);
};

/** Lets go what was taken, or may have been: what cannot be undone now is found by the sweep. */
const undo = async ({ store, now }: Limiters, { requestId }: AdmissionRequest, taken: readonly Taken[]): Promise<void> => {
  for (const { limiterId, entry, item } of taken.toReversed()) {
    try {
      await store.end({ limiterId, requestId, entry, used: 'undone', nowMs: now(), known: item });
    } catch (error) {
      logError('undo_failed', error, { request_id: requestId, limiter_id: limiterId });
    }
  }
};

/** An organization that was suspended a moment ago is refused without a call. */
const checkSeen = ({ cache, now }: Limiters, organization: string): void => {
  const seen = cache.get(organization);
  if (seen?.item && now() - seen.seenAtMs < REFUSAL_MS) checkOrganization(seen.item);
};

/** The key's item, if it may use the model: one that was not allowed a moment ago may be by now. */
const openFor = async (limiters: Limiters, { key, model, opened }: AdmissionRequest): Promise<Opened> =>
  opened && isModelAllowed(opened.item, model)
    ? opened
    : openKey(limiters, key, Number.POSITIVE_INFINITY, (item) => checkModel(item, model, limiters.now()));

/**
 * Takes a request out of the limits of its key, and then of its organization where that has some: one conditional write each, as a rule.
 * @throws 401, 403, 429, and then nothing is in flight; 503, and then what may be in flight is ended by the sweep
 */
export const admit = async (limiters: Keys, request: AdmissionRequest): Promise<Admission> => {
  const { requestId } = request;
  const opened = await openFor(limiters, request);
  const refused = opened.item.lim_o && remembered(limiters, opened.item.org, request);
  if (refused) throw tell('organization', request, refused, opened.item);
  if (opened.item.lim_o) checkSeen(limiters, opened.item.org);

  const key = await reserveKey(limiters, request, opened);
  const { item } = key;
  const taken: Taken[] = [{ limiterId: item.id, item, entry: key.entry }];
  let roundTrips = key.roundTrips + (opened.isRead ? 1 : 0);
  if (key.entry.link) {
    try {
      const organization = await reserveOrganization(limiters, request, item.org, item);
      taken.push({ limiterId: item.org, item: organization.item, entry: organization.entry });
      roundTrips += organization.roundTrips;
    } catch (error) {
      await undo(limiters, request, taken);
      throw error;
    }
  }
  const holds = taken.flatMap((one) => (countsMoney(one.item) ? [one.entry.holdNanos] : []));
  return {
    requestId,
    keyId: request.key.keyId,
    organization: item.org,
    shards: item.shards ?? 1,
    admittedAtMs: key.entry.admittedAtMs,
    holdNanos: holds.toSorted((one, other) => Number(one - other))[0],
    isPrepaid: taken.some(({ entry }) => entry.isFromCredit),
    taken,
    roundTrips,
    headers: limitHeaders(
      taken.map((one) => one.item),
      key.nowMs,
    ),
  };
};

/** Gives the reservation back, the organization's first, by what was used in the end. Idempotent. */
export const release = async ({ store, cache, now }: Keys, { requestId, taken }: Admission, used: Used): Promise<void> => {
  for (const { limiterId, entry, item } of taken.toReversed()) {
    await store.end({ limiterId, requestId, entry, used, nowMs: now(), known: item });
    cache.forgetRefusal(limiterId);
  }
};
