import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type AnsweredRequest, speedDifference } from '../../../../functions/deployments/drift/speed-difference.ts';
import type { BenchmarkPoint } from '../../../../shared/deployments/benchmark.ts';
import { sized } from '../../../support/sized.ts';

// The milliseconds between two tokens while so many answers are generated, and until the first one.
interface Container {
  stepMs: number;
  perAnswerMs: number;
  firstMs: number;
}

const PROMPT_TOKENS = 500;
const TOKENS = 120;
const MIX = [{ prompt_tokens: PROMPT_TOKENS, completion_tokens: TOKENS, weight: 1 }];
const LEVELS = [1, 2, 4, 8, 16, 32];
const HOUR_MS = 3_600_000;
const SPAN = { fromMs: 0, toMs: HOUR_MS, copies: 1 };

const interTokenMs = ({ stepMs, perAnswerMs }: Container, generating: number): number => stepMs + perAnswerMs * generating;

// With so many requests at the same time, as long as each takes.
const pointAt = (container: Container, concurrency: number, copies = 1): BenchmarkPoint => {
  let generating = concurrency;
  let requestMs = 0;
  for (let turn = 0; turn < 50; turn++) {
    const generationMs = (TOKENS - 1) * interTokenMs(container, generating);
    requestMs = container.firstMs + generationMs;
    generating = (concurrency * generationMs) / requestMs;
  }
  const betweenMs = Math.ceil(interTokenMs(container, generating));
  return {
    at: 0,
    concurrency_per_copy: concurrency,
    copies,
    requests: 100,
    failed_requests: 0,
    prompt_tokens: 100 * PROMPT_TOKENS,
    completion_tokens: 100 * TOKENS,
    ttft_ms: { p50: container.firstMs, p95: container.firstMs },
    inter_token_ms: { p50: betweenMs, p95: betweenMs },
    tokens_per_second: Math.round((TOKENS * concurrency * copies * 1_000) / requestMs),
    million_nanos: 1,
    meets_goals: true,
  };
};
const curveOf = (container: Container, copies = 1) => ({ mix: MIX, points: LEVELS.map((level) => pointAt(container, level, copies)) });

// Answers that begin at these times, each as fast as the number of them then allows.
const live = (container: Container, begins: readonly number[], tokens = TOKENS): AnsweredRequest[] => {
  const waiting = begins.toSorted((one, other) => one - other);
  const answers: { firstMs: number; left: number }[] = [];
  const ended: AnsweredRequest[] = [];
  for (let nowMs = 0; waiting.length > 0 || answers.length > 0; ) {
    const betweenMs = interTokenMs(container, answers.length);
    const least = Math.min(...answers.map(({ left }) => left));
    const nextMs = Math.min(waiting[0] ?? Number.POSITIVE_INFINITY, nowMs + least * betweenMs);
    for (const answer of answers) answer.left -= (nextMs - nowMs) / betweenMs;
    nowMs = nextMs;
    for (const answer of answers.filter(({ left }) => left < 1e-6)) {
      ended.push({
        firstMs: Math.round(answer.firstMs),
        endMs: Math.round(nowMs),
        promptTokens: PROMPT_TOKENS,
        completionTokens: tokens,
      });
      answers.splice(answers.indexOf(answer), 1);
    }
    while (waiting[0] !== undefined && waiting[0] <= nowMs) answers.push({ firstMs: waiting.shift() ?? 0, left: tokens - 1 });
  }
  return ended;
};

const CONTAINER: Container = { stepMs: 20, perAnswerMs: 2, firstMs: 300 };
const slower = (factor: number, { stepMs, perAnswerMs, firstMs }: Container = CONTAINER): Container => ({
  stepMs: stepMs * factor,
  perAnswerMs: perAnswerMs * factor,
  firstMs,
});
const every = (ms: number, count = 60): number[] => Array.from({ length: count }, (_, i) => 1_000 + i * ms);
// One at a time, and then fifteen at the same time.
const bursts = [...every(4_000, 20), ...Array.from({ length: 45 }, (_, i) => 200_000 + Math.floor(i / 15) * 20_000)];

describe('the difference of live requests from a curve', () => {
  test('is that of the container, whatever requests come when', () => {
    const arbitrary = fc.record({
      container: fc.record({
        stepMs: fc.integer({ min: 4, max: 60 }),
        perAnswerMs: fc.double({ min: 0.05, max: 3, noNaN: true }),
        firstMs: fc.integer({ min: 20, max: 2_000 }),
      }),
      factor: fc.double({ min: 0.5, max: 2, noNaN: true }),
      gaps: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5_000 })), { minLength: 40, maxLength: 80 }),
    });
    let known = 0;
    const check = ({ container, factor, gaps }: { container: Container; factor: number; gaps: number[] }) => {
      let atMs = 1_000;
      const begins = gaps.map((gap) => (atMs += gap));
      const found = speedDifference(live(slower(factor, container), begins), curveOf(container), SPAN);
      // With many at the same time, too few may be within what was measured.
      if (found === undefined) return;
      known++;
      expect(Math.abs(found - (1 / factor - 1) * 100)).toBeLessThanOrEqual(5);
    };
    const numRuns = sized(40, 3_000);
    fc.assert(fc.property(arbitrary, check), { numRuns });
    expect(known).toBeGreaterThan(numRuns / 3);
  });

  test('is near 0 for bursts too, although their mean says nothing about the number in flight', () => {
    const found = speedDifference(live(CONTAINER, bursts), curveOf(CONTAINER), SPAN);
    expect(Math.abs(found ?? 100)).toBeLessThanOrEqual(2);
  });

  test('is that of a slower and of a faster container', () => {
    expect(speedDifference(live(slower(1.5), bursts), curveOf(CONTAINER), SPAN)).toBe(-33);
    expect(speedDifference(live(slower(0.5), every(2_000)), curveOf(CONTAINER), SPAN)).toBeGreaterThan(90);
  });

  test('is that of each copy, if requests are spread over two', () => {
    const one = live(CONTAINER, every(600));
    const both = one.flatMap((request) => [request, { ...request }]);
    const found = speedDifference(both, curveOf(CONTAINER, 2), { ...SPAN, copies: 2 });
    expect(Math.abs(found ?? 100)).toBeLessThanOrEqual(2);
  });

  test('does not count some clients that read slowly', () => {
    const requests = live(CONTAINER, every(4_000)).map((request, i) =>
      i % 4 === 0 ? { ...request, endMs: request.endMs + 700 } : request,
    );
    expect(Math.abs(speedDifference(requests, curveOf(CONTAINER), SPAN) ?? 100)).toBeLessThanOrEqual(3);
  });

  test.each<[string, AnsweredRequest[], Partial<typeof SPAN>?]>([
    ['of too few requests', live(CONTAINER, every(4_000, 29))],
    ['of answers that are too short', live(CONTAINER, every(4_000), 49)],
    ['of requests with other lengths', live(CONTAINER, every(4_000)).map((request) => ({ ...request, promptTokens: 700 }))],
    ['of answers with other lengths', live(CONTAINER, every(9_000), 200)],
    ['of answers beyond the span', live(CONTAINER, every(4_000)), { fromMs: 130_000 }],
    ['with more requests at the same time than were measured', live(CONTAINER, Array(60).fill(1_000))],
  ])('is not known %s', (_, requests, span = {}) => {
    expect(speedDifference(requests, curveOf(CONTAINER), { ...SPAN, ...span })).toBeUndefined();
  });

  test('is not known without a level that was measured', () => {
    const point = pointAt(CONTAINER, 1);
    for (const points of [[], [{ ...point, failed_requests: 1 }], [{ ...point, tokens_per_second: 0 }]])
      expect(speedDifference(live(CONTAINER, every(4_000)), { mix: MIX, points }, SPAN)).toBeUndefined();
  });
});
