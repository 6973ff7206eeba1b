import { hash } from 'node:crypto';
import { type KeyItem, userLimitsOf } from '../../../shared/admission/item/key-item.ts';
import { type LimiterItem, limitConfiguration } from '../../../shared/admission/item/limiter-item.ts';
import type { UserLimits } from '../../../shared/admission/item/limits.ts';
import { ownerIdOf } from '../../../shared/admission/item/shards.ts';
import { limitHeaders } from '../../../shared/admission/keys/rate-limits.ts';
import { InvalidRequest } from '../../../shared/http/errors.ts';
import type { AdmissionRequest } from './admission-request.ts';

// 96 bits: entries of requests in flight have it, and each byte of an item costs.
const HASH_CHARACTERS = 16;

/**
 * The hash by which the limiter of an end user is named. It differs from key to key, and doesn't contain the user's
 * id.
 * @param since of a temporary key: its creation, because an earlier key with its id had the same users
 */
export const userHashOf = (keyId: string, user: string, since?: number): string =>
  hash('sha256', `${keyId}${since ?? ''}\n${user.toWellFormed()}`, 'base64url').slice(0, HASH_CHARACTERS);

/** 400: the key has limits for each end user, and the request names none. */
export class UserRequired extends InvalidRequest {
  constructor(param: string) {
    super({
      param,
      code: 'user_required',
      message: `This API key has limits for each end user, so every request must name one. Send your end user's id in '${param}'.`,
    });
  }
}

/** The header or the field in which a request names its end user. */
export const userFieldOf = ({ userField = 'user' }: Pick<AdmissionRequest, 'userField'>): string => userField;

/**
 * The end user's hash, if the key has limits for each of them and the request isn't free.
 * @throws 400 if the request has no user
 */
export const limitedUser = (
  item: KeyItem,
  request: Pick<AdmissionRequest, 'user' | 'userField' | 'isFree'>,
  nowMs: number,
): string | undefined => {
  const { user, isFree } = request;
  if (isFree || !userLimitsOf(item)) return undefined;
  if (!user) throw new UserRequired(userFieldOf(request)).withHeaders(limitHeaders([item], nowMs));
  return userHashOf(ownerIdOf(item.id), user, item.since);
};

const toLimits = ({ requestsPerMinute, tokensPerMinute, concurrency, monthlyBudgetNanos }: UserLimits) => ({
  requestsPerMinute: requestsPerMinute ?? Number.POSITIVE_INFINITY,
  tokensPerMinute: tokensPerMinute ?? Number.POSITIVE_INFINITY,
  concurrency: concurrency ?? Number.POSITIVE_INFINITY,
  budgets: monthlyBudgetNanos === undefined ? {} : { month: monthlyBudgetNanos },
  isPrepaid: false,
});

/**
 * An end user's limiter with the limits that its key gives each user now. The stored one has only counts, so a
 * change of the key applies to all users at once.
 */
export const withUserLimits = (item: LimiterItem, key: KeyItem): LimiterItem => {
  const { set, remove } = limitConfiguration(toLimits(userLimitsOf(key) ?? {}));
  const limited = { ...item, ...set } as LimiterItem;
  for (const name of remove) delete limited[name];
  return limited;
};

/**
 * When the limiter of an end user may be deleted, in seconds since the epoch: at the end of the next month. By then,
 * its month no longer counts, and every settlement that was queued has been made.
 */
export const userDeletedAt = (nowMs: number): number => {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 2) / 1_000;
};
