import * as z from 'zod';
import { figuresFor, type ModelPromises, type PromiseFigures } from '../../../shared/service-levels/promise.ts';
import type { LevelCounts } from '../../../shared/service-levels/service-level.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { type Counts, count, sumOfCounts } from '../../../shared/usage/counts.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { STEPS } from '../../../shared/usage/phases.ts';

// Each distinct value in milliseconds with its number of requests, so that percentiles are exact.
const Values = z.array(z.tuple([z.int(), z.int()]));

/** The requests of a model with a promise, as stored in the file of a day. */
export const ServiceSum = z.object({
  model: z.string(),
  answered: z.int(),
  failed: z.int(),
  first_token_ms: Values,
  wait_ms: Values,
});
export type ServiceSum = z.output<typeof ServiceSum>;

interface Sum {
  answered: number;
  failed: number;
  firstTokenMs: Counts<number>;
  waitMs: Counts<number>;
}

/** Sums by model. */
export type ServiceSums = Map<string, Sum>;

const sumOf = (sums: ServiceSums, model: string): Sum => {
  const sum = sums.get(model) ?? { answered: 0, failed: 0, firstTokenMs: new Map(), waitMs: new Map() };
  sums.set(model, sum);
  return sum;
};

const FITTED = STEPS.indexOf('fitted');
const INVOKED = STEPS.indexOf('invoked');
// A request that waited for less was not waiting for capacity.
const WAITED_MS = SECOND_MS;

const waitOf = ({ step_ends_ms }: UsageEvent): number => {
  const [fittedMs, invokedMs] = [step_ends_ms?.[FITTED], step_ends_ms?.[INVOKED]];
  return fittedMs == null || invokedMs == null ? 0 : Math.max(0, invokedMs - fittedMs);
};

type Verdict = 'answered' | 'failed' | undefined;

const CLIENT_ERROR = 400;
const SERVER_ERROR = 500;

/** Tells a request that was answered from one that failed by no fault of its caller; undefined: it doesn't count. */
export const verdictOf = ({ outcome, error_code, error_status }: UsageEvent): Verdict => {
  if (outcome === 'client_closed') return undefined;
  const status = error_status ?? (error_code === undefined ? undefined : SERVER_ERROR);
  if (status !== undefined && status >= CLIENT_ERROR && status < SERVER_ERROR) return undefined;
  // An answer that the deadline cut off was delivered, and has no error.
  const isAnswered = status === undefined && (outcome === 'completed' || outcome === 'timed_out');
  return isAnswered ? 'answered' : 'failed';
};

// The on-demand host requires an end user of each request; calls of the tokenizer have no price.
const isOfSharedModel = ({ user_id, price_version, rerate }: UsageEvent): boolean =>
  user_id === undefined && price_version !== null && rerate === undefined;

// The shared model that a request named; undefined if it is not counted.
const modelOf = (event: UsageEvent): string | undefined =>
  isOfSharedModel(event) ? (event.attempts?.[0]?.model ?? event.model) : undefined;

/**
 * Counts the events of an API key on a day.
 * @param promised the models with a promise for the month of the day
 */
export const createServiceCount = (promised: ReadonlySet<string>) => {
  const sums: ServiceSums = new Map();
  let orphaned = 0;
  return {
    add: (event: UsageEvent): void => {
      if (event.outcome === 'orphaned') {
        orphaned++;
        return;
      }
      const model = modelOf(event);
      if (model === undefined || !promised.has(model)) return;
      const sum = sumOf(sums, model);
      const verdict = verdictOf(event);
      if (verdict) sum[verdict]++;
      const waitMs = waitOf(event);
      if (verdict !== 'answered') return;
      if (waitMs >= WAITED_MS) count(sum.waitMs, waitMs);
      else if (event.stream === true && event.time_to_first_token_ms !== null) count(sum.firstTokenMs, event.time_to_first_token_ms);
    },

    /** The sums. A request whose function crashed has no model, so it failed for each model that the key used. */
    end: (): ServiceSums => {
      for (const sum of sums.values()) sum.failed += orphaned;
      orphaned = 0;
      return sums;
    },
  };
};

const addCounts = (to: Counts<number>, from: Iterable<readonly [number, number]>): void => {
  for (const [value, times] of from) count(to, value, times);
};

/** Adds sums of one to others, in place. */
export const addServices = (to: ServiceSums, from: ServiceSums): void => {
  for (const [model, { answered, failed, firstTokenMs, waitMs }] of from) {
    const sum = sumOf(to, model);
    sum.answered += answered;
    sum.failed += failed;
    addCounts(sum.firstTokenMs, firstTokenMs);
    addCounts(sum.waitMs, waitMs);
  }
};

const sorted = (counts: Counts<number>): [number, number][] => [...counts].sort(([a], [b]) => a - b);

/** The sums in the order of the models' names, as stored. */
export const listServices = (sums: ServiceSums): ServiceSum[] =>
  [...sums]
    .map(([model, { answered, failed, firstTokenMs, waitMs }]) => ({
      model,
      answered,
      failed,
      first_token_ms: sorted(firstTokenMs),
      wait_ms: sorted(waitMs),
    }))
    .sort((a, b) => (a.model < b.model ? -1 : 1));

/** The sums of stored ones. */
export const readServices = (stored: readonly ServiceSum[] = []): ServiceSums =>
  new Map(
    stored.map(({ model, answered, failed, first_token_ms, wait_ms }) => [
      model,
      { answered, failed, firstTokenMs: new Map(first_token_ms), waitMs: new Map(wait_ms) },
    ]),
  );

const PERCENTILE = 95;

// By nearest rank: the smallest value that at least 95 percent of all values don't exceed.
const percentileOf = (counts: Counts<number>): number | null => {
  const rank = Math.ceil((PERCENTILE * sumOfCounts(counts)) / 100);
  let passed = 0;
  for (const [value, times] of sorted(counts)) {
    passed += times;
    if (passed >= rank) return value;
  }
  return null;
};

/** The counts and percentiles of a model; zeros for one without requests. */
export const countsOf = (sums: ServiceSums, model: string): LevelCounts => {
  const { answered, failed, firstTokenMs, waitMs } = sumOf(sums, model);
  return {
    answered,
    failed,
    first_tokens: sumOfCounts(firstTokenMs),
    first_token_p95_ms: percentileOf(firstTokenMs),
    waits: sumOfCounts(waitMs),
    wait_p95_ms: percentileOf(waitMs),
  };
};

/** The promises of a month, as an invoice's inputs have them: in the order of the models' names. */
export const promisesOf = (all: readonly ModelPromises[], month: string): { model: string; figures: PromiseFigures }[] =>
  all.flatMap(({ model, promises }) => {
    const figures = figuresFor(promises, month);
    return figures ? [{ model, figures }] : [];
  });
