import { describe, expect, test } from '@jest/globals';
import { type KeySettings, keyConfiguration, mayFallBack, newKeyItem, userLimitsOf } from '../../../../shared/admission/item/key-item.ts';

const LIMITS = { requestsPerMinute: 60, tokensPerMinute: 6_000, concurrency: 4, budgets: {}, isPrepaid: false };
const SETTINGS: KeySettings = {
  status: 'active',
  limits: LIMITS,
  whole: LIMITS,
  shards: 1,
  models: null,
  expiresAtMs: null,
  keepsNoContent: false,
};
const FACTS = { org: 'org_1', scope: 'serverless', hash: new Uint8Array(32), isLimited: false } as const;

const itemOf = (settings: Partial<KeySettings>) => newKeyItem('key_1', FACTS, { ...SETTINGS, ...settings });

describe('the item of a key', () => {
  test('has the limits of its end users, its project and its switch for fallbacks', () => {
    const perUser = { requestsPerMinute: 5, tokensPerMinute: 500, concurrency: 2, monthlyBudgetNanos: 7n };
    const item = itemOf({ perUser, projectId: 'prj_1', hasNoFallback: true });
    expect(userLimitsOf(item)).toEqual(perUser);
    expect(item.prj).toBe('prj_1');
    expect(mayFallBack(item)).toBe(false);
  });

  test('has only those limits of its end users that are set', () => {
    expect(userLimitsOf(itemOf({ perUser: { concurrency: 1 } }))).toEqual({ concurrency: 1 });
  });

  test.each([undefined, null, {}])('has no limits of end users from %j', (perUser) => {
    const item = itemOf(perUser === undefined ? {} : { perUser });
    expect(userLimitsOf(item)).toBeUndefined();
    expect(item).not.toHaveProperty('prj');
    expect(mayFallBack(item)).toBe(true);
  });

  test('loses settings that are no longer set', () => {
    expect(keyConfiguration(SETTINGS).remove).toEqual(expect.arrayContaining(['per_user', 'prj', 'no_fallback']));
  });
});
