import type { Host } from '../../hosts/host.ts';
import { type ApiEvent, headerOf, requestedPath } from '../../http/api-event.ts';
import { ApiError } from '../../http/errors.ts';
import { isMessagesPath } from '../../http/messages-path.ts';
import { sameHash } from '../../ids/checked-secret.ts';
import { expiredKey, InvalidApiKey, keyInOtherHeader, keyWithoutScheme, missingKey, wrongHost, wrongKey } from '../item/key-errors.ts';
import { isKeyItem, isOrganizationLimited, type KeyItem } from '../item/key-item.ts';
import type { LimiterItem } from '../item/limiter-item.ts';
import { checkOrganization } from '../item/organization.ts';
import { type PresentedKey, parseSecret } from '../item/secret.ts';
import { ownerIdOf } from '../item/shards.ts';
import type { ReadableKeys } from '../stores/limiter-reader.ts';
import { TooManyReads } from '../stores/read-limit.ts';
import { limitHeaders } from './rate-limits.ts';

const ANTHROPIC_HEADER = 'x-api-key';
const OTHER_HEADERS = [ANTHROPIC_HEADER, 'api-key'];

// All of Anthropic's clients name a version with every request.
const isFromAnthropicClient = (event: ApiEvent): boolean =>
  headerOf(event, 'anthropic-version') !== undefined || isMessagesPath(requestedPath(event));

const keyOfAnthropicClient = (event: ApiEvent): PresentedKey | undefined => {
  const secret = headerOf(event, ANTHROPIC_HEADER);
  return secret && isFromAnthropicClient(event) ? parseSecret(secret.trim()) : undefined;
};

const misplacedKey = (event: ApiEvent): InvalidApiKey => {
  const header = OTHER_HEADERS.find((name) => headerOf(event, name));
  if (header === undefined) return missingKey();
  return header === ANTHROPIC_HEADER && isFromAnthropicClient(event) ? wrongKey() : keyInOtherHeader(header);
};

const keyOf = (event: ApiEvent): PresentedKey => {
  const authorization = headerOf(event, 'authorization');
  const [, secret] = /^Bearer +(\S+)\s*$/i.exec(authorization ?? '') ?? [];
  // A client with two credentials sends both, and the bearer token may be another service's.
  const key = (secret && parseSecret(secret)) || keyOfAnthropicClient(event);
  if (key) return key;
  if (!authorization) throw misplacedKey(event);
  if (secret) throw wrongKey();
  throw parseSecret(authorization.trim()) ? keyWithoutScheme() : missingKey();
};

/**
 * The API key of a request: the bearer token, or, if the client is one of Anthropic's, the key in `x-api-key`. A key
 * that can't be valid on this host is rejected without a read.
 * @throws 401
 */
export const presentedKey = (event: ApiEvent, host: Host): PresentedKey => {
  const key = keyOf(event);
  if (key.scope !== host.scope) throw wrongHost(key.scope, host.otherUrl);
  return key;
};

/** Checks a presented key against a limiter item at `nowMs`. @throws 401 */
export const checkKey = (key: PresentedKey, item: LimiterItem | undefined, nowMs: number): KeyItem => {
  if (!item || !isKeyItem(item)) throw wrongKey();
  const isSecret = sameHash(key.hash, item.h) || (item.h2 !== undefined && nowMs < (item.h2_until ?? 0) && sameHash(key.hash, item.h2));
  if (!isSecret || item.status !== 'active' || item.scope !== key.scope) throw wrongKey();
  if (item.expires_at !== undefined && item.expires_at <= nowMs) throw expiredKey();
  return item;
};

/** A key without an allow-list can use all models. */
export const isModelAllowed = (item: KeyItem, model: string): boolean => !item.models || item.models.includes(model);

// Cached configurations that no write verifies are used for at most this long.
const CONFIGURATION_MS = 30_000;
/** A refusal based on a cached configuration stands for this long; then the item is read again. */
export const REFUSAL_MS = 5_000;

/** The item of an authenticated key, and whether it was just read. */
export interface AuthenticatedKey {
  item: KeyItem;
  isRead: boolean;
}

/**
 * Resolves a presented key to its item, from the cache or by one read, if the key is valid and `check` passes. A
 * cached item is valid for `maxAgeMs` if the key matches it. Otherwise it is valid for 5 s, but is read again up to
 * five times in that time: so a new secret works at once, and many requests with wrong keys cost few reads.
 */
export const resolveKey = async (
  { store, cache, now }: ReadableKeys,
  key: PresentedKey,
  maxAgeMs: number,
  check: (item: KeyItem) => void = () => undefined,
): Promise<AuthenticatedKey> => {
  const checked = (item: LimiterItem | undefined): KeyItem => {
    const valid = checkKey(key, item, now());
    check(valid);
    return valid;
  };
  const read = async (): Promise<LimiterItem | undefined> => {
    const item = await store.get(key.keyId);
    cache.see(key.keyId, item, now());
    return item;
  };
  const seen = cache.get(key.keyId);
  // A clock can go back, and then nothing is as old as it seems.
  const ageMs = seen ? Math.abs(now() - seen.seenAtMs) : Number.POSITIVE_INFINITY;
  if (!seen || (ageMs >= maxAgeMs && ageMs >= REFUSAL_MS)) return { item: checked(await read()), isRead: true };
  try {
    const item = checked(seen.item);
    if (ageMs < maxAgeMs) return { item, isRead: false };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (ageMs < REFUSAL_MS) {
      const reread = error instanceof InvalidApiKey ? cache.readAgain(key.keyId, now(), read) : undefined;
      if (!reread) throw error;
      return { item: checked(await reread), isRead: true };
    }
  }
  return { item: checked(await read()), isRead: true };
};

/** The item of a presented key, for routes that admit no request. @throws 401 */
export const authenticate = async (limiters: ReadableKeys, key: PresentedKey): Promise<KeyItem> =>
  (await resolveKey(limiters, key, CONFIGURATION_MS)).item;

/** Counts a request that reads the database without an admission. @throws 429 */
export const takeRead = ({ cache, now }: ReadableKeys, item: KeyItem): void => {
  const waitMs = cache.reads.take(ownerIdOf(item.id), now());
  if (waitMs > 0) throw new TooManyReads(waitMs, limitHeaders([item], now()));
};

/**
 * The current item of a presented key, for access to the organization's stored data, which no conditional write
 * protects.
 * @throws 401; 403 if the organization is suspended; 429
 */
export const authenticateForRead = async (limiters: ReadableKeys, key: PresentedKey): Promise<KeyItem> => {
  const item = await authenticateNow(limiters, key);
  if (isOrganizationLimited(item)) checkOrganization(await limiters.store.get(item.org));
  return item;
};

/** The current item of a presented key, by one read, which counts. @throws 401, 429 */
export const authenticateNow = async (limiters: ReadableKeys, key: PresentedKey): Promise<KeyItem> => {
  // A known key is rejected without a read, and only someone who has its secret can use up its reads.
  const { item, isRead } = await resolveKey(limiters, key, Number.POSITIVE_INFINITY);
  takeRead(limiters, item);
  return isRead ? item : (await resolveKey(limiters, key, 0)).item;
};
