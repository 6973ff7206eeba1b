import type { Host } from '../hosts/host.ts';
import { type ApiEvent, headerOf } from '../http/api-event.ts';
import { ApiError } from '../http/errors.ts';
import { expiredKey, InvalidApiKey, missingKey, wrongHost, wrongKey } from './key-errors.ts';
import { isKeyItem, isOrganizationLimited, type KeyItem } from './key-item.ts';
import type { LimiterItem } from './limiter-item.ts';
import { checkOrganization } from './organization.ts';
import type { Limiters } from './reserve.ts';
import { type PresentedKey, parseSecret, sameHash } from './secret.ts';

/** The API key of a request. A key that can't be valid on this host is rejected without a read. @throws 401 */
export const presentedKey = (event: ApiEvent, host: Host): PresentedKey => {
  const authorization = headerOf(event, 'authorization');
  if (!authorization) throw missingKey();
  const [, secret] = /^Bearer +(\S+)\s*$/i.exec(authorization) ?? [];
  if (!secret) throw missingKey();
  const key = parseSecret(secret);
  if (!key) throw wrongKey();
  if (key.scope !== host.scope) throw wrongHost(key.scope, host.otherUrl);
  return key;
};

/** The rules of a limiter item's configuration at `nowMs`: 401 for a key that does not open. */
export const checkKey = (key: PresentedKey, item: LimiterItem | undefined, nowMs: number): KeyItem => {
  if (!item || !isKeyItem(item)) throw wrongKey();
  const opens = sameHash(key.hash, item.h) || (item.h2 !== undefined && nowMs < (item.h2_until ?? 0) && sameHash(key.hash, item.h2));
  if (!opens || item.status !== 'active' || item.scope !== key.scope) throw wrongKey();
  if (item.expires_at !== undefined && item.expires_at <= nowMs) throw expiredKey();
  return item;
};

/** A key without an allow-list may use every model. */
export const isModelAllowed = (item: KeyItem, model: string): boolean => !item.models || item.models.includes(model);

/** Where no write proves the configuration, a cached one is valid for this long. */
const CONFIGURATION_MS = 30_000;
/** A refusal on a cached configuration is final for this long; then it is read again. */
export const REFUSAL_MS = 5_000;

/** A key's item that opens, and whether it was read just now. */
export interface Opened {
  item: KeyItem;
  isRead: boolean;
}

/**
 * The key's item, from the cache or by one read, if the key opens it and `check` lets it pass.
 * A cached item that opens is valid for `maxAgeMs`. One that does not is valid for 5 s, but is read again up to five times in that time: so a new
 * secret opens at once, and a flood of wrong keys costs few reads.
 */
export const openKey = async (
  { store, cache, now }: Limiters,
  key: PresentedKey,
  maxAgeMs: number,
  check: (item: KeyItem) => void = () => undefined,
): Promise<Opened> => {
  const opened = (item: LimiterItem | undefined): KeyItem => {
    const opening = checkKey(key, item, now());
    check(opening);
    return opening;
  };
  const read = async (): Promise<LimiterItem | undefined> => {
    const item = await store.get(key.keyId);
    cache.see(key.keyId, item, now());
    return item;
  };
  const seen = cache.get(key.keyId);
  const ageMs = seen ? now() - seen.seenAtMs : Number.POSITIVE_INFINITY;
  if (!seen || (ageMs >= maxAgeMs && ageMs >= REFUSAL_MS)) return { item: opened(await read()), isRead: true };
  try {
    const item = opened(seen.item);
    if (ageMs < maxAgeMs) return { item, isRead: false };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (ageMs < REFUSAL_MS) {
      const look = error instanceof InvalidApiKey ? cache.lookAgain(key.keyId, now(), read) : undefined;
      if (!look) throw error;
      return { item: opened(await look), isRead: true };
    }
  }
  return { item: opened(await read()), isRead: true };
};

/** The item of a presented key, for replies that admit no request. @throws 401 */
export const authenticate = async (limiters: Limiters, key: PresentedKey): Promise<KeyItem> =>
  (await openKey(limiters, key, CONFIGURATION_MS)).item;

/**
 * The item of a presented key that may see what is stored for its organization, as of now, because no write proves it.
 * @throws 401; 403 where the organization is suspended
 */
export const authenticateToSee = async (limiters: Limiters, key: PresentedKey): Promise<KeyItem> => {
  const item = await authenticateNow(limiters, key);
  if (isOrganizationLimited(item)) checkOrganization(await limiters.store.get(item.org));
  return item;
};

/** The item of a presented key as of now, by one read. @throws 401 */
export const authenticateNow = async (limiters: Limiters, key: PresentedKey): Promise<KeyItem> => (await openKey(limiters, key, 0)).item;
