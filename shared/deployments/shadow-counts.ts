/** Why a request that was also sent has no answer of the next generation. */
export const SHADOW_FAILURES = ['timed_out', 'no_capacity', 'refused', 'too_large', 'failed'] as const;
export type ShadowFailure = (typeof SHADOW_FAILURES)[number];

/** The generation that serves, and the next one. */
export type ShadowSide = 'serving' | 'shadow';

export const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'other'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

/** Which of two answers are valid. */
export type Validity = 'both' | 'serving_only' | 'shadow_only' | 'neither';

export type Timing = 'first_token' | 'duration';

/** The counts of a comparison, by the names of their attributes. A bucket of a histogram has its number. */
export type ShadowCount =
  | 'compared'
  | `failed_${ShadowFailure}`
  | `${'finish' | 'exact'}_${'same' | 'different'}`
  | `${ShadowSide}_finish_${FinishReason}`
  | `${'schema' | 'tools'}_${Validity}`
  | `${ShadowSide}_${'prompt' | 'completion'}_tokens`
  | `${ShadowSide}_${Timing}_${'ms' | number}`;

export type ShadowCounts = Partial<Record<ShadowCount, number>>;

const FIRST_BUCKET_MS = 10;
const BUCKETS_PER_DOUBLING = 4;
/** The last one also has everything above nine minutes. */
export const TIME_BUCKETS = 64;

/** The bucket of a histogram in which a time is: each is 19% wider than the one before. */
export const bucketOf = (ms: number): number => {
  const bucket = Math.ceil(Math.log2(ms / FIRST_BUCKET_MS) * BUCKETS_PER_DOUBLING);
  return Math.min(TIME_BUCKETS - 1, Math.max(0, bucket));
};

/** The longest time in a bucket, in milliseconds. */
export const longestIn = (bucket: number): number => Math.round(FIRST_BUCKET_MS * 2 ** (bucket / BUCKETS_PER_DOUBLING));
