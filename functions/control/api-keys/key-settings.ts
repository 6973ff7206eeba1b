import type { KeySettings } from '../../../shared/admission/item/key-item.ts';
import type { Limits } from '../../../shared/admission/item/limits.ts';
import { shareLimits } from '../../../shared/admission/plans/share-limits.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { toLimits, toUserLimits } from '../limits/limits.ts';
import type { StoredApiKey } from './api-key.ts';

/**
 * The settings of each limiter item of a key, in the order of its shards.
 * @param parts each item's part of the limits; absent for a new key
 */
export const settingsOf = (
  { status, limits, budgets, shards, models, expires_at, no_content, per_user, project_id, no_fallback }: Omit<StoredApiKey, 'version'>,
  parts?: readonly Limits[],
): KeySettings[] => {
  const whole = toLimits({ limits, budgets });
  const expiresAtMs = expires_at === null ? null : expires_at * SECOND_MS;
  const common = {
    status,
    whole,
    shards,
    models,
    expiresAtMs,
    keepsNoContent: no_content,
    perUser: toUserLimits(per_user),
    projectId: project_id,
    hasNoFallback: no_fallback,
  };
  return (parts ?? shareLimits(whole, shards)).map((part) => ({ ...common, limits: part }));
};
