import { expiredKey, wrongHost, wrongKey } from './errors.ts';
import type { LimiterItem } from './limiter.ts';
import { type PresentedKey, type Scope, sameHash } from './secret.ts';

/** The host that is asked. */
export interface Host {
  scope: Scope;
}

/** Refuses a key of the other host by its letter alone: 401 naming the right one, without a read. */
export const checkHost = (key: PresentedKey, host: Host): void => {
  if (key.scope !== host.scope) throw wrongHost(key.scope);
};

/** The rules of a limiter item's configuration at `nowMs`: 401 for a key that does not open. */
export const checkKey = (key: PresentedKey, item: LimiterItem | undefined, nowMs: number): LimiterItem => {
  if (!item) throw wrongKey();
  const opens = sameHash(key.hash, item.h) || (item.h2 !== undefined && nowMs < (item.h2_until ?? 0) && sameHash(key.hash, item.h2));
  if (!opens || item.status !== 'active' || item.scope !== key.scope) throw wrongKey();
  if (item.expires_at !== undefined && item.expires_at <= nowMs) throw expiredKey();
  return item;
};

/** A key without an allow-list may use every model. */
export const isModelAllowed = (item: LimiterItem, model: string): boolean => !item.models || item.models.includes(model);
