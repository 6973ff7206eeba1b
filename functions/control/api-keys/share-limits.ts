import type { KeySettings } from '../../../shared/admission/key-item.ts';
import type { Limits, Period } from '../../../shared/admission/limits.ts';
import { shareOf, usableShards } from '../../../shared/admission/shards.ts';
import { toLimits } from '../limits/limits.ts';
import type { StoredApiKey } from './api-key.ts';
import { shareBudget } from './share-budget.ts';

/** The nano-dollars that each shard of a key has counted. */
export type Counted = readonly Readonly<Record<Period, bigint>>[];

/** Divides a key's limits among its shards. @param counted absent for a new key */
export const shareLimits = (
  { requestsPerMinute, tokensPerMinute, concurrency, budgets, isPrepaid }: Limits,
  shards: number,
  counted: Counted = Array.from({ length: shards }, () => ({ day: 0n, month: 0n, total: 0n })),
): Limits[] => {
  const usable = usableShards(shards, { requestsPerMinute, concurrency });
  const parts = Object.entries(budgets).map(([name, budget]) => {
    const period = name as Period;
    return {
      period,
      nanos: shareBudget(
        budget,
        counted.map((nanos) => nanos[period]),
        usable,
      ),
    };
  });
  return Array.from({ length: shards }, (_, shard) => ({
    requestsPerMinute: shareOf(requestsPerMinute, shards, shard),
    tokensPerMinute: shareOf(tokensPerMinute, shards, shard),
    concurrency: shareOf(concurrency, shards, shard),
    budgets: Object.fromEntries(parts.map(({ period, nanos }) => [period, nanos[shard]])) as Limits['budgets'],
    isPrepaid,
  }));
};

const MS = 1_000;

/** The settings of each limiter item of a key, in the order of its shards. */
export const settingsOf = (
  { status, limits, budgets, shards, models, expires_at, no_content }: Omit<StoredApiKey, 'version'>,
  counted?: Counted,
): KeySettings[] => {
  const whole = toLimits({ limits, budgets });
  const expiresAtMs = expires_at === null ? null : expires_at * MS;
  const common = { status, whole, shards, models, expiresAtMs, keepsNoContent: no_content };
  return shareLimits(whole, shards, counted).map((part) => ({ ...common, limits: part }));
};
