import { ApiError, ServiceUnavailable } from '../http/errors.ts';
import { RateLimited, RequestExceedsLimit } from '../limits/errors.ts';
import { rateLimitHeaders } from '../limits/rate-limit-headers.ts';
import { MINUTE_MS, minuteOf, type Refusal, refusalOf, roomFor } from '../limits/window.ts';
import { checkKey, isModelAllowed } from './authenticate.ts';
import { ModelNotAllowed } from './errors.ts';
import { type LimiterItem, limitsOf, usageOf } from './limiter.ts';
import type { LimiterCache } from './limiter-cache.ts';
import type { LimiterStore, Reservation } from './limiter-store.ts';
import type { PresentedKey } from './secret.ts';

/** More refusals of the condition in a row than this mean a key under a storm: 503, try again. */
const MAX_ATTEMPTS = 6;

/** What a request asks of its key. */
export interface AdmissionRequest {
  key: PresentedKey;
  model: string;
  requestId: string;
  /** Tokens to reserve out of the tokens-per-minute limit. */
  tokens: number;
}

/** A request in flight: durable before anything is asked of the upstream. */
export interface Admission {
  requestId: string;
  item: LimiterItem;
  entry: [admittedAtMs: number, tokens: number];
  /** DynamoDB round trips that it took. */
  roundTrips: number;
  headers: Record<string, string>;
}

export interface Keys {
  store: LimiterStore;
  cache: LimiterCache;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Where nothing is written, and so nothing proves the configuration, a cached one is believed for this long. */
const CONFIGURATION_MS = 30_000;
/** A refusal on a cached configuration is final for this long; then it is read again, so that a rotated secret or a new key opens. */
const REFUSAL_MS = 5_000;

/**
 * The key's item, from the cache or by one read, if the key opens it for this model; else 401 or 403.
 * Positive answers are believed up to `maxAgeMs`, negative ones up to 5 s: a flood of wrong keys costs few reads.
 */
const open = async (
  { store, cache, now }: Keys,
  key: PresentedKey,
  maxAgeMs: number,
  model?: string,
): Promise<{ item: LimiterItem; read: boolean }> => {
  const check = (item: LimiterItem | undefined): LimiterItem => {
    const opened = checkKey(key, item, now());
    if (model !== undefined) checkModel(opened, model, now());
    return opened;
  };
  const seen = cache.get(key.keyId);
  const ageMs = seen ? now() - seen.seenAtMs : Number.POSITIVE_INFINITY;
  if (seen && ageMs < REFUSAL_MS) return { item: check(seen.item), read: false };
  if (seen && ageMs < maxAgeMs) {
    try {
      return { item: check(seen.item), read: false };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  const item = await store.get(key.keyId);
  cache.set(key.keyId, item, now());
  return { item: check(item), read: true };
};

/** The item of a presented key, or a 401. For answers that admit nothing. */
export const authenticate = async (keys: Keys, key: PresentedKey): Promise<LimiterItem> => (await open(keys, key, CONFIGURATION_MS)).item;

/** The `x-ratelimit-*` headers as of an image of the item. */
export const headersOf = (item: LimiterItem, nowMs: number): Record<string, string> =>
  rateLimitHeaders(limitsOf(item), usageOf(item, minuteOf(nowMs)), nowMs);

/** 403 when the key has an allow-list without this model. */
export const checkModel = (item: LimiterItem, model: string, nowMs: number): void => {
  if (!isModelAllowed(item, model)) throw new ModelNotAllowed(model, headersOf(item, nowMs));
};

/**
 * Takes one request and its tokens out of the key's limits with ONE conditional write, or throws 401, 403, 429, 503.
 * The cached image only makes the first guess; the write's condition proves it. The proof and its edge cases: docs/architecture.md.
 */
export const admit = async (keys: Keys, request: AdmissionRequest): Promise<Admission> => {
  const { store, cache, now } = keys;
  const id = request.key.keyId;
  const opened = await open(keys, request.key, Number.POSITIVE_INFINITY, request.model);
  let item: LimiterItem | undefined = opened.item;
  let roundTrips = opened.read ? 1 : 0;
  let exact = opened.read;
  const remembered = cache.refuses(id, now()) && exactRefusal(item, request, now());
  if (remembered) throw refuse(item, remembered, request.tokens, now());

  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    let clock = now();
    item = checkKey(request.key, item, clock);
    checkModel(item, request.model, clock);
    if (exact) {
      clock = furthestClock(item, clock);
      const refusal = exactRefusal(item, request, clock);
      if (refusal) {
        cache.refuse(id, item, refusal, now());
        throw refuse(item, refusal, request.tokens, clock);
      }
    }
    const reservation = reserve(item, request, clock, exact);
    if (!reservation) {
      // Neither the image nor a guess leaves room, and a negative bound must never be sent: ask for the truth.
      item = await store.get(id);
      exact = true;
      roundTrips++;
      continue;
    }
    const result = await store.admit(reservation);
    roundTrips++;
    const image = 'admitted' in result ? result.admitted : result.refused;
    cache.set(id, image, now());
    // Our own id in flight means that the write had succeeded and its reply was lost.
    const entry = image?.fl[request.requestId];
    if (image && entry) return { requestId: request.requestId, item: image, entry, roundTrips, headers: headersOf(image, clock) };
    item = image;
    exact = true;
  }
  throw new ServiceUnavailable();
};

const exactRefusal = (item: LimiterItem, request: AdmissionRequest, nowMs: number): Refusal | undefined =>
  refusalOf(limitsOf(item), usageOf(item, minuteOf(nowMs)), request.tokens, nowMs);

/** When the item already counts the minute after ours, our clock is behind: count there, where the previous minute weighs whole. */
const furthestClock = (item: LimiterItem, nowMs: number): number => {
  const next = minuteOf(nowMs) + 1;
  return item[`r${next}`] === undefined ? nowMs : next * MINUTE_MS;
};

/** The write's bounds from the image where it speaks of this minute, else from a guess; undefined when both come out negative. */
const reserve = (item: LimiterItem, request: AdmissionRequest, clock: number, exact: boolean): Reservation | undefined => {
  const minute = minuteOf(clock);
  const bounds = (previousRequests: number, previousTokens: number): Reservation | undefined => {
    const maxRequests = roomFor(item.lim_r, previousRequests, 1, clock);
    const maxTokens = roomFor(item.lim_t, previousTokens, request.tokens, clock);
    if (maxRequests < 0 || maxTokens < 0) return undefined;
    const { requestId, tokens } = request;
    return {
      limiterId: item.id,
      requestId,
      admittedAtMs: clock,
      tokens,
      cfg: item.cfg,
      concurrency: item.lim_c,
      minute,
      previousRequests,
      previousTokens,
      maxRequests,
      maxTokens,
    };
  };
  const { requests, tokens } = usageOf(item, minute);
  const isOfThisMinute = item[`r${minute}`] !== undefined && item[`r${minute + 1}`] === undefined;
  const known = exact || isOfThisMinute ? bounds(requests.previous, tokens.previous) : undefined;
  return known ?? bounds(Math.floor(item.lim_r / 2), Math.max(0, Math.floor((item.lim_t - request.tokens) / 2)));
};

const refuse = (item: LimiterItem, refusal: Refusal, tokens: number, nowMs: number): RateLimited | RequestExceedsLimit => {
  const headers = headersOf(item, nowMs);
  return Number.isFinite(refusal.retryAfterMs)
    ? new RateLimited(refusal, limitsOf(item), headers)
    : new RequestExceedsLimit(refusal.dimension, limitsOf(item), tokens, headers);
};

/** Gives the reservation back, with the tokens that were used in the end. Idempotent. */
export const release = async ({ store, cache, now }: Keys, admission: Admission, usedTokens: number): Promise<void> => {
  await store.release(admission.item.id, admission.requestId, admission.entry, usedTokens, now(), admission.item);
  cache.forgetRefusal(admission.item.id);
};
