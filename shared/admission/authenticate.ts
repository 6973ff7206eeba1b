import { ApiError } from '../http/errors.ts';
import { isKeyItem, type KeyItem } from './key.ts';
import { expiredKey, InvalidApiKey, wrongHost, wrongKey } from './key-errors.ts';
import type { LimiterItem } from './limiter.ts';
import { checkOrganization } from './organization.ts';
import type { Limiters } from './reserve.ts';
import { type PresentedKey, type Scope, sameHash } from './secret.ts';

/** The host that is asked. */
export interface Host {
  scope: Scope;
  /** Where keys of the other scope belong, if that is known. */
  otherUrl?: string;
}

/** Refuses a key of the other host by its letter alone: 401 naming the right one, without a read. */
export const checkHost = (key: PresentedKey, host: Host): void => {
  if (key.scope !== host.scope) throw wrongHost(key.scope, host.otherUrl);
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

/** Where nothing is written, and so nothing proves the configuration, a cached one is believed for this long. */
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
 * Positive answers are believed up to `maxAgeMs`. Negative ones up to 5 s, but that a key's new secret opens at once: what does not open is looked at
 * again five times in that time, so that a flood of wrong keys costs few reads.
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

/** The item of a presented key, or a 401. For answers that admit nothing. */
export const authenticate = async (limiters: Limiters, key: PresentedKey): Promise<KeyItem> =>
  (await openKey(limiters, key, CONFIGURATION_MS)).item;

/**
 * The item of a presented key that may see what is kept for its organization, as of now: nothing is written that would prove it.
 * @throws 401; 403 where the organization is suspended
 */
export const authenticateToSee = async (limiters: Limiters, key: PresentedKey): Promise<KeyItem> => {
  const item = await authenticateNow(limiters, key);
  if (item.lim_o) checkOrganization(await limiters.store.get(item.org));
  return item;
};

/** The item of a presented key as it is now, by one read, or a 401. */
export const authenticateNow = async (limiters: Limiters, key: PresentedKey): Promise<KeyItem> => (await openKey(limiters, key, 0)).item;
