import { expect, test } from '@jest/globals';
import { assumedShard, keyConfiguration, newKeyItem } from '../../../../shared/admission/item/key-item.ts';
import { limitConfiguration, limitsOf, newLimiterItem, wholeRateLimitsOf } from '../../../../shared/admission/item/limiter-item.ts';
import type { Limits } from '../../../../shared/admission/item/limits.ts';

const rates = { requestsPerMinute: 600, tokensPerMinute: 200_000, concurrency: 32 };
const limits: Limits = { ...rates, budgets: { day: 5n, month: 60n, total: 700n }, isPrepaid: true };
const atRest = { lim_r: 600, lim_t: 200_000, lim_c: 32, bud_d: 5n, bud_m: 60n, bud_t: 700n, prepaid: true };
const hash = new Uint8Array(32);

test('stores limits under names that deployed items already have', () => {
  const item = newLimiterItem('org_1', 'org_1', limitConfiguration(limits));
  expect(item).toEqual({ ...atRest, id: 'org_1', org: 'org_1', cfg: 1, fl: {} });
  expect(limitsOf(item)).toEqual(limits);
});

test('removes limits that are absent or infinite', () => {
  const none = Number.POSITIVE_INFINITY;
  const unlimited: Limits = { requestsPerMinute: none, tokensPerMinute: none, concurrency: none, budgets: {}, isPrepaid: false };
  const { set, remove } = limitConfiguration(unlimited);
  expect(set).toEqual({});
  expect(remove.toSorted()).toEqual(Object.keys(atRest).toSorted());
  expect(limitsOf(newLimiterItem('org_1', 'org_1', { set }))).toEqual(unlimited);
});

const settings = { status: 'active', limits, whole: rates, shards: 1, models: null, expiresAtMs: null, keepsNoContent: false } as const;

test("stores a key's settings under names that deployed items already have", () => {
  const facts = { org: 'org_1', scope: 'serverless', hash, isLimited: true } as const;
  const whole = { requestsPerMinute: 6_000, tokensPerMinute: 2_000_000, concurrency: 320 };
  const item = newKeyItem('key_1', facts, { ...settings, whole, shards: 8, models: ['m'], expiresAtMs: 1, keepsNoContent: true });
  const own = { scope: 'serverless', h: hash, status: 'active', lim_o: true, models: ['m'], expires_at: 1, no_content: true };
  const shares = { shards: 8, all_r: 6_000, all_t: 2_000_000, all_c: 320 };
  expect(item).toEqual({ ...atRest, ...own, ...shares, id: 'key_1', org: 'org_1', cfg: 1, fl: {} });
  expect(wholeRateLimitsOf(item)).toEqual(whole);
  expect(keyConfiguration(settings).remove.toSorted()).toEqual(['expires_at', 'models', 'no_content', 'no_fallback', 'per_user', 'prj']);
});

test('assumes that another shard has the same settings, limits lower by one, and no counts', () => {
  const item = newKeyItem('key_1', { org: 'org_1', scope: 'serverless', hash, isLimited: false }, settings);
  const counts = { r29: 1, t29: 2, d20: 3n, m670: 4n, spent: 5n, ep: '1', last_used: 6, fl: { req_1: {} as never } };
  const lowered = { lim_r: 599, lim_t: 199_999, lim_c: 31, bud_d: 4n, bud_m: 59n, bud_t: 699n };
  expect(assumedShard({ ...item, ...counts }, 'key_1#1')).toEqual({ ...item, ...lowered, id: 'key_1#1' });
  const empty = { lim_r: 0, bud_d: 0n };
  expect(assumedShard({ ...item, ...empty }, 'key_1#1')).toMatchObject(empty);
});
