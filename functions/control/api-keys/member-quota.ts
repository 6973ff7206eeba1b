import type { Write } from '../../../shared/database/transaction.ts';
import { ApiError, Conflict } from '../../../shared/http/errors.ts';
import type { Actor } from '../access/actor.ts';
import type { AttemptStore } from '../identity/attempt-store.ts';
import type { ApiKeyStore } from './api-key-store.ts';

/** A member with a higher quota of active keys can create as many per day. */
const MIN_CREATIONS_PER_DAY = 20;
/** A tenth of the keys that an organization can ever have, so that one member cannot use them up. */
const MAX_KEYS_EVER = 1_000;

const DAY_MS = 86_400_000;
const MS = 1_000;

const tooManyActive = (max: number): Conflict =>
  new Conflict({
    code: 'too_many_keys',
    message: `You can have at most ${max} active API keys. Revoke one first, or ask an owner of your organization to raise your max_api_keys.`,
  });

const tooManyEver = (): Conflict =>
  new Conflict({
    code: 'too_many_keys',
    message: `A member can create at most ${MAX_KEYS_EVER} API keys, including revoked ones. Rotate an existing key, or ask an owner of your organization to create one.`,
  });

/** 429 for a member who created too many keys on one day. */
export class TooManyKeysToday extends ApiError {
  constructor(max: number, nowMs: number) {
    super({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message: `You can create at most ${max} API keys per day (UTC). Rotate an existing key, try again tomorrow, or ask an owner of your organization to create one.`,
      headers: { 'retry-after': String(Math.ceil((DAY_MS - (nowMs % DAY_MS)) / MS)) },
    });
  }
}

export interface QuotaDependencies {
  apiKeys: ApiKeyStore;
  attempts: Pick<AttemptStore, 'toCountInSpan'>;
}

/**
 * The writes that count a new key for its creator, in the transaction that creates it. They fail if a member has reached their quota. Owners have
 * none, but are counted, because they can become members. Admins and operators never do.
 */
export const toCountForCreator = ({ apiKeys, attempts }: QuotaDependencies, actor: Actor): Write[] => {
  const { userId, role, maxApiKeys, origin } = actor;
  if (role === 'admin') return [];
  if (role === 'owner') return apiKeys.toCountFor(userId);
  const perDay = Math.max(MIN_CREATIONS_PER_DAY, maxApiKeys);
  return [
    ...apiKeys.toCountFor(userId, {
      active: { max: maxApiKeys, refused: () => tooManyActive(maxApiKeys) },
      ever: { max: MAX_KEYS_EVER, refused: tooManyEver },
    }),
    attempts.toCountInSpan(
      { kind: 'api_key', span: 'day', account: userId, max: perDay },
      origin.nowMs,
      () => new TooManyKeysToday(perDay, origin.nowMs),
    ),
  ];
};
