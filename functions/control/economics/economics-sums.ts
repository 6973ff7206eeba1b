import type { InstanceTime } from './instance-time.ts';

/** The requests that a deployment answered, or that were answered without one. */
export interface ServedUsage {
  requests: number;
  promptTokens: bigint;
  /** They are among the prompt tokens. */
  cachedTokens: bigint;
  completionTokens: bigint;
  /** The charges of callers for the tokens. */
  soldNanos: bigint;
  /** The time from the call of the model to the first token, and from there to the end of the answer. */
  promptMs: bigint;
  generationMs: bigint;
}

/** Everything that is added up. All quotients are made of these sums, so nothing is averaged twice. */
export interface EconomicsSums extends InstanceTime, ServedUsage {
  /** Tokens that no deployment served, so that the cost of their instances is not known. */
  unmeteredTokens: bigint;
  /** Days of deployments with at least one instance, and those of them without a request. */
  awakeDays: number;
  unusedDays: number;
}

export const NO_USAGE: ServedUsage = {
  requests: 0,
  promptTokens: 0n,
  cachedTokens: 0n,
  completionTokens: 0n,
  soldNanos: 0n,
  promptMs: 0n,
  generationMs: 0n,
};

export const NO_TIME: InstanceTime = {
  seconds: { waking: 0n, busy: 0n, idle: 0n, draining: 0n },
  awakeSeconds: 0n,
  costNanos: 0n,
  uncostedSeconds: 0n,
  chargeNanos: 0n,
};

export const usageSum = (a: ServedUsage, b: ServedUsage): ServedUsage => ({
  requests: a.requests + b.requests,
  promptTokens: a.promptTokens + b.promptTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  completionTokens: a.completionTokens + b.completionTokens,
  soldNanos: a.soldNanos + b.soldNanos,
  promptMs: a.promptMs + b.promptMs,
  generationMs: a.generationMs + b.generationMs,
});

/** The sums of a deployment's day. */
export const sumsOfDeployment = (time: InstanceTime, usage: ServedUsage): EconomicsSums => {
  const isAwake = time.awakeSeconds > 0n;
  return {
    ...time,
    ...usage,
    unmeteredTokens: 0n,
    awakeDays: isAwake ? 1 : 0,
    unusedDays: isAwake && usage.requests === 0 ? 1 : 0,
  };
};

/** The sums of a day's requests that no deployment served. */
export const sumsWithoutDeployment = (usage: ServedUsage): EconomicsSums => ({
  ...usage,
  ...NO_TIME,
  unmeteredTokens: usage.promptTokens + usage.completionTokens,
  awakeDays: 0,
  unusedDays: 0,
});

export const sumOf = (a: EconomicsSums, b: EconomicsSums): EconomicsSums => ({
  ...usageSum(a, b),
  seconds: {
    waking: a.seconds.waking + b.seconds.waking,
    busy: a.seconds.busy + b.seconds.busy,
    idle: a.seconds.idle + b.seconds.idle,
    draining: a.seconds.draining + b.seconds.draining,
  },
  awakeSeconds: a.awakeSeconds + b.awakeSeconds,
  costNanos: a.costNanos + b.costNanos,
  uncostedSeconds: a.uncostedSeconds + b.uncostedSeconds,
  chargeNanos: a.chargeNanos + b.chargeNanos,
  unmeteredTokens: a.unmeteredTokens + b.unmeteredTokens,
  awakeDays: a.awakeDays + b.awakeDays,
  unusedDays: a.unusedDays + b.unusedDays,
});
