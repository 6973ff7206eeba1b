import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { measureLevel, type Sample } from '../../../functions/benchmark/measure-level.ts';
import { pointOf } from '../../../functions/benchmark/point.ts';
import { MAX_LEVELS, type MeasuredLevel, nextStep } from '../../../functions/benchmark/sweep.ts';
import { type BatchTimes, type Clock, createBatch } from '../../../infra/local/model-server/replies/batch.ts';
import type { BenchmarkGoals, BenchmarkPoint } from '../../../shared/deployments/benchmark.ts';
import { sized } from '../../support/sized.ts';

interface Model {
  times: BatchTimes;
  promptTokens: number;
  completionTokens: number;
  goals: BenchmarkGoals;
  max: number;
}

// Time that passes as soon as something waits for it.
const createClock = (): Clock => {
  let nowMs = 0;
  return {
    now: () => nowMs,
    waitUntil: async (ms) => {
      nowMs = Math.max(nowMs, ms);
    },
  };
};

const untilAborted = async (_ms: number, signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort');
  signal.throwIfAborted();
};

const createSend = ({ times, promptTokens, completionTokens }: Model) => {
  const clock = createClock();
  const batch = createBatch(clock);
  return async (signal: AbortSignal): Promise<Sample> => {
    const startMs = clock.now();
    const place = batch.enter(times, { count: 1, promptTokens });
    try {
      await place.tokens(signal);
      const ttftMs = clock.now() - startMs;
      for (let token = 1; token < completionTokens; token++) await place.tokens(signal);
      const durationMs = clock.now() - startMs;
      return { ttftMs, interTokenMs: (durationMs - ttftMs) / (completionTokens - 1), durationMs, promptTokens, completionTokens };
    } finally {
      place.leave();
    }
  };
};

const measure = async (model: Model, concurrencyPerCopy: number): Promise<BenchmarkPoint> => {
  const load = { concurrency: concurrencyPerCopy, counted: 3 * concurrencyPerCopy, maxMs: 60_000 };
  const level = await measureLevel({ send: createSend(model), wait: untilAborted }, load, new AbortController().signal);
  return pointOf(level, { concurrencyPerCopy, copies: 1, goals: model.goals, hourNanos: 3_600_000_000, nowMs: 0 });
};

const findKnee = async (model: Model): Promise<number | null> => {
  const measured: MeasuredLevel[] = [];
  for (let level = 0; level <= MAX_LEVELS; level++) {
    const step = nextStep(measured, model.max);
    if (step.kind === 'end') return step.concurrencyPerCopy;
    measured.push(await measure(model, step.concurrencyPerCopy));
  }
  throw new Error('The sweep did not end.');
};

// Requests that begin together stay together: a step gives each a token, and the first one also reads all prompts.
const predictedKnee = ({ times, promptTokens, goals, max }: Model): number | null => {
  const { step_ms: step, step_ms_per_sequence: perSequence, prefill_ms_per_1000_tokens: prefill, max_sequences: room } = times;
  let knee: number | null = null;
  for (let count = 1; count <= Math.min(room, max); count++) {
    const stepMs = step + perSequence * count;
    const firstMs = stepMs + (prefill * promptTokens * count) / 1_000;
    if (stepMs > goals.inter_token_p95_ms || firstMs > goals.ttft_p95_ms) break;
    knee = count;
  }
  return knee;
};

const arbitraryModel = fc
  .record({
    step_ms: fc.integer({ min: 5, max: 40 }),
    step_ms_per_sequence: fc.double({ min: 0.05, max: 4, noNaN: true }),
    prefill_ms_per_1000_tokens: fc.integer({ min: 0, max: 200 }),
    max_sequences: fc.integer({ min: 2, max: 48 }),
    promptTokens: fc.integer({ min: 10, max: 2_000 }),
    completionTokens: fc.integer({ min: 20, max: 40 }),
    interTokenGoal: fc.integer({ min: 5, max: 120 }),
    // Less than a whole answer takes, so that requests that wait for a place miss it.
    ttftSteps: fc.integer({ min: 1, max: 12 }),
  })
  .map(({ promptTokens, completionTokens, interTokenGoal, ttftSteps, ...times }): Model => {
    const goals = { ttft_p95_ms: ttftSteps * times.step_ms, inter_token_p95_ms: interTokenGoal };
    return { times, promptTokens, completionTokens, goals, max: 64 };
  });

test('finds the knee that the times of a model predict, within 10 %', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryModel, async (model) => {
      const [found, predicted] = [await findKnee(model), predictedKnee(model)];
      if (predicted === null || found === null) return expect(found).toBe(predicted);
      expect(Math.abs(found - predicted)).toBeLessThanOrEqual(predicted * 0.1);
    }),
    { numRuns: sized(15, 300) },
  );
});

test('measures the rate of tokens that the times of a model give', async () => {
  const times = { step_ms: 20, step_ms_per_sequence: 2, prefill_ms_per_1000_tokens: 0, max_sequences: 8 };
  const model = { times, promptTokens: 10, completionTokens: 40, goals: { ttft_p95_ms: 1_000, inter_token_p95_ms: 36 }, max: 64 };
  const point = await measure(model, 8);
  // Steps of 36 ms, in which 8 requests get a token.
  expect(point).toMatchObject({ requests: 24, tokens_per_second: 222, ttft_ms: { p95: 36 }, inter_token_ms: { p50: 36, p95: 36 } });
  // $3.60 an hour, for 278 tokens a second with those of the prompts.
  expect(point.million_nanos).toBe(3_600_000_000);
  expect(point.meets_goals).toBe(true);
  expect((await measure(model, 9)).meets_goals).toBe(false);
});
