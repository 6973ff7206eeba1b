import { ApiError } from '../../../shared/http/errors.ts';
import type { QuotaStore } from '../../../shared/quotas/quota-store.ts';
import { type Actor, organizationFor } from '../access/actor.ts';
import { CALL_LIMITS, TooManyCalls } from '../access/call-limits.ts';
import { type ApiKeyWithSecret, MAX_LIFETIME_SECONDS, type NewApiKey } from './api-key.ts';
import { checkMayLimitNew } from './api-key-rights.ts';
import type { ApiKeyDependencies } from './create-api-key.ts';
import { checkTemporaryLimits, createTemporaryKey } from './create-temporary-key.ts';

const MAX_LIVE = 5;
const [OF_USER, OF_ORGANIZATION] = CALL_LIMITS.playground_keys.bounds;

class TooManyPlaygroundKeys extends ApiError {
  constructor(seconds: number) {
    super({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message: `You can have at most ${MAX_LIVE} playground keys at a time. Revoke one, or try again in ${seconds} s.`,
      headers: { 'retry-after': String(seconds) },
    });
  }
}

export interface PlaygroundKeyDependencies extends ApiKeyDependencies {
  quotas: Pick<QuotaStore, 'count' | 'toCount'>;
}

// Counts for the user first, so that one user's rejected requests use up nobody else's share.
const countKey = async ({ quotas }: PlaygroundKeyDependencies, actor: Actor, organization: string): Promise<void> => {
  const { nowMs } = actor.origin;
  const counts = [
    { bound: OF_USER, account: actor.userId },
    // Any 60 minutes count, so no more keys than that can be live.
    { bound: OF_ORGANIZATION, account: organization, slides: true },
  ] as const;
  for (const { bound, ...count } of counts) {
    const { isCounted, untilMs } = await quotas.count({ kind: 'playground_key', span: bound.span, max: bound.max, ...count }, nowMs);
    if (!isCounted) throw new TooManyCalls(bound, actor, untilMs - nowMs);
  }
};

/**
 * Creates a key for the playground: a temporary key of a person, which counts in none of the numbers of other keys.
 * @throws 400, 403, 404, 429
 */
export const createPlaygroundKey = async (deps: PlaygroundKeyDependencies, actor: Actor, body: NewApiKey): Promise<ApiKeyWithSecret> => {
  checkMayLimitNew(actor, body);
  checkTemporaryLimits(body.limits, 'limits');
  const organization = organizationFor(actor, body.organization);
  return createTemporaryKey(deps, actor, body, {
    purpose: 'playground',
    series: { creator: actor.userId, organization, name: 'playground' },
    lifetimeSeconds: body.expires_in_seconds ?? MAX_LIFETIME_SECONDS,
    maxLive: MAX_LIVE,
    refused: (seconds) => new TooManyPlaygroundKeys(seconds),
    count: () => countKey(deps, actor, organization),
  });
};
