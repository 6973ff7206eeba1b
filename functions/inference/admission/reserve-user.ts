import type { KeyItem } from '../../../shared/admission/item/key-item.ts';
import { entriesOf, entryOf, type LimiterItem } from '../../../shared/admission/item/limiter-item.ts';
import { ownerIdOf } from '../../../shared/admission/item/shards.ts';
import { EPOCH_MS } from '../../../shared/admission/item/sweep-epoch.ts';
import { userLimiterId } from '../../../shared/admission/item/user-limiter.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { TooManyNewUsers } from './limit-errors.ts';
import { type Known, type Limiters, type RefusedBy, type RequestedAmounts, type Reserved, reserve } from './reserve.ts';
import { remembered } from './reserve-in-shards.ts';
import { userDeletedAt, withUserLimits } from './user.ts';

/** The most users of a key that get a limiter in a minute, by the function's clock. */
export const MAX_NEW_USERS_PER_MINUTE = 600;
// No request is in flight for as long as this.
const ABANDONED_AFTER_MS = EPOCH_MS + MINUTE_MS;
// A rejected request looks for the keys of at most this many old entries.
const MAX_ABANDONED = 10;
// A limiter that was known can have been deleted since.
const MAX_CREATIONS = 2;

class UnknownUser extends Error {}

const idOf = (key: KeyItem, userHash: string): string => userLimiterId(ownerIdOf(key.id), userHash);

const pauseOf = (keyId: string): string => `new users of ${keyId}`;

const refuseNewUsers = ({ now }: Limiters, userField: string): TooManyNewUsers =>
  new TooManyNewUsers(MAX_NEW_USERS_PER_MINUTE, MINUTE_MS - (now() % MINUTE_MS), userField);

// The user is counted first: after a crash, one less can be added in that minute.
const createUser = async (limiters: Limiters, id: string, keyId: string, userField: string): Promise<LimiterItem> => {
  const { store, cache, now } = limiters;
  const deleteAt = userDeletedAt(now());
  const minute = Math.floor(now() / MINUTE_MS);
  if (!(await store.countNewUser({ keyId, minute, most: MAX_NEW_USERS_PER_MINUTE, deleteAt }))) {
    cache.pause(pauseOf(keyId), (minute + 1) * MINUTE_MS);
    throw refuseNewUsers(limiters, userField);
  }
  return store.createUser(id, deleteAt);
};

/** The refusal of a user that this environment remembers. */
export const rememberedByUser = (
  limiters: Limiters,
  amounts: RequestedAmounts,
  key: KeyItem,
  userHash: string,
): RefusedBy<LimiterItem> | undefined => remembered(limiters, idOf(key, userHash), amounts, (item) => withUserLimits(item, key));

/**
 * True if this environment knows that no more users can be added to the key in this minute, and doesn't know this
 * one.
 */
export const canBeTooNew = ({ cache, now }: Limiters, key: KeyItem, userHash: string): boolean =>
  cache.isPaused(pauseOf(ownerIdOf(key.id)), now()) && !cache.get(idOf(key, userHash))?.item;

/** Rejects a new user without a write, while no more can be added. @throws 429 */
export const checkNotNew = async (limiters: Limiters, key: KeyItem, userHash: string, userField: string): Promise<void> => {
  const id = idOf(key, userHash);
  const item = await limiters.store.get(id);
  if (!item) throw refuseNewUsers(limiters, userField);
  limiters.cache.see(id, item, limiters.now());
};

// An entry that was written after its request had been rejected, or settled: that of its key is gone.
const endAbandoned = async ({ store, cache, now }: Limiters, item: LimiterItem): Promise<boolean> => {
  const old = entriesOf(item)
    .filter(([, { admittedAtMs }]) => now() - admittedAtMs > ABANDONED_AFTER_MS)
    .slice(0, MAX_ABANDONED);
  if (old.length === 0) return false;
  const keys = await store.getMany([...new Set(old.map(([, { link }]) => String(link)))]);
  let ended = 0;
  for (const [requestId, entry] of old) {
    const key = keys.find(({ id }) => id === entry.link);
    if (key && entryOf(key, requestId)) continue;
    await store.end({ limiterId: item.id, requestId, entry, used: 'undone', nowMs: now(), known: item });
    ended++;
  }
  cache.forgetRefusal(item.id);
  return ended > 0;
};

/**
 * Reserves a request in the limiter of its end user, after its key's. A new user gets a limiter first.
 * @param key as the reservation in it has verified it
 * @param userField the header or the field that names the user
 * @throws 429 if the key has too many new users; 503
 */
export const reserveUser = async (
  limiters: Limiters,
  { requestId, tokens, holdNanos }: RequestedAmounts,
  key: KeyItem,
  userHash: string,
  userField: string,
): Promise<Reserved<LimiterItem> | RefusedBy<LimiterItem>> => {
  const { store, cache, now } = limiters;
  const limiterId = idOf(key, userHash);
  const requested = {
    limiterId,
    requestId,
    tokens,
    holdNanos,
    linkOf: () => key.id,
    deleteAt: userDeletedAt(now()),
    check: (item: LimiterItem | undefined): LimiterItem => {
      if (!item) throw new UnknownUser();
      return withUserLimits(item, key);
    },
  };
  const attempt = async (known: Known): Promise<Reserved<LimiterItem> | RefusedBy<LimiterItem>> => {
    const result = await reserve(limiters, requested, known);
    return { ...result, item: withUserLimits(result.item, key) };
  };
  const seen = cache.get(limiterId)?.item;
  let known: Known = seen ? { item: seen, isExact: false } : { item: await store.get(limiterId), isExact: true };
  let roundTrips = seen ? 0 : 1;
  for (let creation = 0; ; creation++) {
    try {
      let result = await attempt(known);
      if ('refusal' in result && (await endAbandoned(limiters, result.item))) {
        roundTrips += result.roundTrips;
        result = await attempt({ item: await store.get(limiterId), isExact: true });
      }
      return { ...result, roundTrips: roundTrips + result.roundTrips };
    } catch (error) {
      if (!(error instanceof UnknownUser) || creation === MAX_CREATIONS) throw error;
      known = { item: await createUser(limiters, limiterId, ownerIdOf(key.id), userField), isExact: true };
      roundTrips += 2;
    }
  }
};
