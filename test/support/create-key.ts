import { newKeyItem } from '../../shared/admission/key-item.ts';
import type { Limits } from '../../shared/admission/limits.ts';
import { newSecret } from '../../shared/admission/secret.ts';
import { shardIds, shardsFor } from '../../shared/admission/shards.ts';
import { shareLimits } from '../../shared/admission/share-limits.ts';
import type { Scope } from '../../shared/hosts/host.ts';
import { newTimedId } from '../../shared/ids/id.ts';
import type { TestLimiters } from './limiters.ts';
import { CREATED_MS } from './note-use.ts';

/** A key to create. Budgets in nano-dollars, `expires_at` in ms since the epoch. */
export interface TestKey {
  org: string;
  scope: Scope;
  models?: string[];
  expires_at?: number;
  requests_per_minute: number;
  tokens_per_minute: number;
  concurrency: number;
  day_budget_nanos?: bigint;
  month_budget_nanos?: bigint;
  total_budget_nanos?: bigint;
  no_content?: true;
  payload_log?: true;
}

const limitsOf = (key: TestKey): Limits => ({
  requestsPerMinute: key.requests_per_minute,
  tokensPerMinute: key.tokens_per_minute,
  concurrency: key.concurrency,
  budgets: {
    ...(key.day_budget_nanos !== undefined && { day: key.day_budget_nanos }),
    ...(key.month_budget_nanos !== undefined && { month: key.month_budget_nanos }),
    ...(key.total_budget_nanos !== undefined && { total: key.total_budget_nanos }),
  },
  isPrepaid: false,
});

/**
 * Creates only the limiter items of a key, without a control-plane record, for tests that need no login.
 */
export const createKey = async (store: TestLimiters, key: TestKey): Promise<{ key_id: string; secret: string }> => {
  const id = newTimedId('key', CREATED_MS);
  const { secret, hash } = newSecret(key.scope, id);
  const whole = limitsOf(key);
  const shards = shardsFor(whole);
  const ids = shardIds(id, shards);
  const { org, scope, models = null, expires_at: expiresAtMs = null, no_content: keepsNoContent = false } = key;
  const payloadLog = key.payload_log && { isOn: true, version: 1 };
  const common = { status: 'active', whole, shards, models, expiresAtMs, keepsNoContent } as const;
  const isLimited = (await store.get(org)) !== undefined;
  const items = shareLimits(whole, shards).map((limits, shard) =>
    newKeyItem(ids[shard] as string, { org, scope, hash, isLimited, payloadLog }, { ...common, limits }),
  );
  // The key's own item is written last, because the key works as soon as it exists.
  for (const item of items.toReversed()) await store.create(item);
  // The organization can have received limits since the read above.
  if (!isLimited && (await store.get(org)) !== undefined) for (const limiterId of ids) await store.markOrganizationLimited(limiterId);
  return { key_id: id, secret };
};
