import { isOrganizationLimited, type KeyItem, usableShardsOf } from '../../../shared/admission/item/key-item.ts';
import { type LimiterItem, shardsOf, wholeRateLimitsOf } from '../../../shared/admission/item/limiter-item.ts';
import { isMoneyRefusal } from '../../../shared/admission/item/refusal.ts';
import { shardId, wholeId } from '../../../shared/admission/item/shards.ts';
import { limitHeaders } from '../../../shared/admission/keys/rate-limits.ts';
import type { ApiError } from '../../../shared/http/errors.ts';
import type { AdmissionRequest } from './admission-request.ts';
import { type Owner, refusedBy } from './limit-errors.ts';
import { knownProject } from './project.ts';
import type { Limiters, RefusedBy, RequestedAmounts } from './reserve.ts';
import { remembered } from './reserve-in-shards.ts';
import { rememberedByUser } from './reserve-user.ts';
import { limitedUser, userFieldOf } from './user.ts';

/** The error for a request that a limiter rejected. @param key the limiter of its key, if another one rejected it */
export const rejection = (
  owner: Owner,
  request: AdmissionRequest,
  { item, refusal, nowMs }: RefusedBy<LimiterItem>,
  key: LimiterItem = item,
): ApiError =>
  refusedBy({
    owner,
    param: owner === 'user' ? userFieldOf(request) : null,
    maxTokensField: request.maxTokensField,
    refusal,
    limits: wholeRateLimitsOf(item),
    tokens: request.tokens,
    holdNanos: isMoneyRefusal(refusal) ? request.maxCostNanos() : 0n,
    headers: limitHeaders(key === item ? [item] : [key, item], nowMs),
  });

/** The amounts that a request reserves in each limiter. */
export const amountsOf = ({ requestId, tokens, maxCostNanos }: AdmissionRequest): RequestedAmounts => ({
  requestId,
  tokens,
  holdNanos: maxCostNanos,
});

const rememberedByAll = (
  limiters: Limiters,
  ownerId: string,
  shards: number,
  request: AdmissionRequest,
): RefusedBy<LimiterItem> | undefined => {
  const amounts = amountsOf(request);
  const whole = remembered(limiters, shards > 1 ? wholeId(ownerId) : ownerId, amounts);
  if (whole || shards === 1) return whole;
  let first: RefusedBy<LimiterItem> | undefined;
  for (let shard = 0; shard < shards; shard++) {
    const refused = remembered(limiters, shardId(ownerId, shard), amounts);
    if (!refused) return undefined;
    first ??= refused;
  }
  return first;
};

/**
 * Rejects a request without a call, if this environment remembers a refusal by its key's organization or project, or by
 * its end user.
 * @throws 400 if the key limits end users and the request has none; 429
 */
export const checkRememberedOwners = (limiters: Limiters, request: AdmissionRequest, item: KeyItem): void => {
  const organization = isOrganizationLimited(item) ? limiters.cache.get(item.org)?.item : undefined;
  const byOrganization = organization && rememberedByAll(limiters, organization.id, shardsOf(organization), request);
  if (byOrganization) throw rejection('organization', request, byOrganization, item);
  if (request.isFree) return;
  const project = knownProject(limiters, item);
  const byProject = project && rememberedByAll(limiters, project.id, shardsOf(project), request);
  if (byProject) throw rejection('project', request, byProject, item);
  const user = limitedUser(item, request, limiters.now());
  const byUser = user === undefined ? undefined : rememberedByUser(limiters, amountsOf(request), item, user);
  if (byUser) throw rejection('user', request, byUser, item);
};

/** The same, and by all shards of the key. @throws 400, 429 */
export const checkRemembered = (limiters: Limiters, request: AdmissionRequest, item: KeyItem): void => {
  checkRememberedOwners(limiters, request, item);
  const key = rememberedByAll(limiters, request.key.keyId, usableShardsOf(item), request);
  if (key) throw rejection('key', request, key);
};
