import { type Admission, admit, type Keys } from '../../functions/inference/admission/admit.ts';
import { createLimiterCache, type LimiterCache } from '../../shared/admission/limiter-cache.ts';
import type { LimiterStore } from '../../shared/admission/limiter-store.ts';
import type { Used } from '../../shared/admission/reservation-end.ts';
import { type PresentedKey, parseSecret } from '../../shared/admission/secret.ts';
import { newRequestId } from '../../shared/ids/request-id.ts';
import { createKey, type TestKey } from './create-key.ts';
import type { TestLimiters } from './limiters.ts';

/** High limits of a key that still has a single limiter item. */
export const wide = {
  org: 'org_test',
  scope: 'serverless',
  requests_per_minute: 100_000,
  tokens_per_minute: 130_000,
  concurrency: 1_000,
} as const;

export const makeKey = async (store: TestLimiters, fields: Partial<TestKey> = {}): Promise<PresentedKey> => {
  const { secret } = await createKey(store, { ...wide, ...fields });
  return parseSecret(secret) as PresentedKey;
};

/** A separate environment: a cold cache and a clock. */
export const makeCaller = (store: LimiterStore, now: () => number): Keys => ({ store, cache: createLimiterCache(), now });

/** A cache that does not remember refusals, for tests that compare every decision with a reference model. */
export const forgetfulCache = (): LimiterCache => ({ ...createLimiterCache(), refuses: () => false });

/** One attempt: the admission, or the error that rejected it. */
export const attempt = async (
  keys: Keys,
  key: PresentedKey,
  tokens = 1,
  requestId = newRequestId(keys.now()),
  maxCostNanos = 0n,
): Promise<Admission | Error> => {
  try {
    return await admit(keys, { key, model: 'm', requestId, tokens, maxCostNanos: () => maxCostNanos });
  } catch (error) {
    return error as Error;
  }
};

export const isAdmitted = (result: Admission | Error): result is Admission => !(result instanceof Error);

/** A request's usage in tests without money. */
export const usedTokens = (tokens: number): Used => ({ tokens, costNanos: 0n });
