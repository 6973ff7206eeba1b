import type { Write } from '../../../shared/database/transaction.ts';
import { ApiError, Conflict } from '../../../shared/http/errors.ts';
import type { QuotaStore } from '../../../shared/quotas/quota-store.ts';
import { DAY_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { type Actor, can, isOfPlatform } from '../access/actor.ts';
import { CALL_LIMITS } from '../access/call-limits.ts';
import type { ApiKeyStore } from './api-key-store.ts';

// A member with a higher quota of active keys can create as many per day.
const MIN_CREATIONS_PER_DAY = 20;
// A tenth of the keys that an organization can ever have, so that one member cannot use them up.
const MAX_KEYS_EVER = 1_000;

// As many as an organization can have active. Each key makes closing a month more expensive, used or not.
const { max: MAX_CREATIONS_PER_DAY } = CALL_LIMITS.api_keys.bounds[0];

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

class TooManyKeysToday extends ApiError {
  constructor(nowMs: number, message: string) {
    super({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message,
      headers: { 'retry-after': String(Math.ceil((DAY_MS - (nowMs % DAY_MS)) / SECOND_MS)) },
    });
  }
}

export const tooManyOfMember = (max: number, nowMs: number): ApiError =>
  new TooManyKeysToday(
    nowMs,
    `You can create at most ${max} API keys per day (UTC). Rotate an existing key, try again tomorrow, or ask an owner of your organization to create one.`,
  );

const tooManyOfOrganization = (nowMs: number): ApiError =>
  new TooManyKeysToday(
    nowMs,
    `An organization can create at most ${MAX_CREATIONS_PER_DAY} API keys per day (UTC). Rotate an existing key, or try again tomorrow.`,
  );

export interface QuotaDependencies {
  apiKeys: ApiKeyStore;
  quotas: Pick<QuotaStore, 'toCount'>;
}

/**
 * Plans the writes that count a new key for its creator and its organization, in the transaction that creates it. They
 * fail if a member, or the organization on one day, has reached its quota. Owners have no quota but are counted,
 * because they can become members. Admins and operators never become members and are not counted.
 */
export const toCountKey = ({ apiKeys, quotas }: QuotaDependencies, actor: Actor, organization: string): Write[] => {
  const { userId, maxApiKeys, origin } = actor;
  if (isOfPlatform(actor)) return [];
  const ofDay = (account: string, max: number, refused: () => Error): Write =>
    quotas.toCount({ kind: 'api_key', span: 'day', account, max }, origin.nowMs, refused);
  const ofOrganization = ofDay(organization, MAX_CREATIONS_PER_DAY, () => tooManyOfOrganization(origin.nowMs));
  if (can(actor, 'keys:limit')) return [...apiKeys.toCountFor(userId), ofOrganization];
  const perDay = Math.max(MIN_CREATIONS_PER_DAY, maxApiKeys);
  return [
    ...apiKeys.toCountFor(userId, {
      active: { max: maxApiKeys, refused: () => tooManyActive(maxApiKeys) },
      ever: { max: MAX_KEYS_EVER, refused: tooManyEver },
    }),
    ofDay(userId, perDay, () => tooManyOfMember(perDay, origin.nowMs)),
    ofOrganization,
  ];
};
