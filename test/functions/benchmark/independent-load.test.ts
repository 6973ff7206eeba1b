import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { BatchTimes } from '../../../infra/local/model-server/replies/batch.ts';
import type { BenchmarkPoint } from '../../../shared/deployments/benchmark.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { sized } from '../../support/sized.ts';
import { type BenchmarkWorld, createClock, createContainer, createWorld, type Served } from './world.ts';

// About vLLM's times on a CPU: reading a prompt takes longest.
const SLOW: BatchTimes = { step_ms: 15, step_ms_per_sequence: 2, prefill_ms_per_1000_tokens: 900, max_sequences: 64 };
// A fast model, whose times are a few milliseconds.
const FAST: BatchTimes = { step_ms: 1.3, step_ms_per_sequence: 0.1, prefill_ms_per_1000_tokens: 8, max_sequences: 64 };
const PROMPT_TOKENS = 200;
const COMPLETION_TOKENS = 20;
const MIX = [{ prompt_tokens: PROMPT_TOKENS, completion_tokens: COMPLETION_TOKENS, weight: 1 }];
const GOALS = { ttft_p95_ms: 60_000, inter_token_p95_ms: 10_000 };
const MOST_CONCURRENT = 8;
// Enough for percentiles that hardly depend on chance.
const INDEPENDENT_REQUESTS = 200;
const MOST_PERCENT = 10;

let db: TestDatabase;
beforeAll(async () => {
  db = await startTestDatabase({ hasStreams: false });
});
afterAll(() => db.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
});

// The linear congruential generator of Numerical Recipes.
const randomFrom = (seed: number) => {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  return (): number => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

// Words have one to three tokens, most of them one.
const tokensOf = (word: string): number => [1, 1, 1, 2, 3][[...word].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 5] ?? 1;

// Steps differ by up to 8 % from one to the next, as vLLM's do on a CPU.
const jittered = (times: BatchTimes, random: () => number): BatchTimes => {
  const factor = (): number => 0.92 + 0.16 * random();
  return {
    ...times,
    get step_ms() {
      return times.step_ms * factor();
    },
    get prefill_ms_per_1000_tokens() {
      return times.prefill_ms_per_1000_tokens * factor();
    },
  };
};

const FIGURES = ['firstP50', 'firstP95', 'betweenP50', 'betweenP95', 'tokensPerSecond'] as const;
type Figures = Record<(typeof FIGURES)[number], number>;

// Its own words for what a percentile is: at least so many percent of the values are not greater.
const percentileOf = (values: readonly number[], percent: number): number =>
  Math.min(...values.filter((value) => values.filter((other) => other <= value).length * 100 >= percent * values.length));

const figuresOf = (served: readonly Served[], concurrency: number): Figures => {
  const first = served.map(({ arrivedMs, tokensMs }) => (tokensMs[0] ?? 0) - arrivedMs);
  const between = served.map(({ tokensMs }) => ((tokensMs.at(-1) ?? 0) - (tokensMs[0] ?? 0)) / (tokensMs.length - 1));
  const spentMs = served.reduce((sum, { arrivedMs, tokensMs }) => sum + (tokensMs.at(-1) ?? 0) - arrivedMs, 0);
  const tokens = served.reduce((sum, { tokensMs }) => sum + tokensMs.length, 0);
  return {
    firstP50: percentileOf(first, 50),
    firstP95: percentileOf(first, 95),
    betweenP50: percentileOf(between, 50),
    betweenP95: percentileOf(between, 95),
    tokensPerSecond: (tokens * concurrency * 1_000) / spentMs,
  };
};

const figuresOfPoint = ({ ttft_ms, inter_token_ms, tokens_per_second }: BenchmarkPoint): Figures => ({
  firstP50: ttft_ms.p50,
  firstP95: ttft_ms.p95,
  betweenP50: inter_token_ms.p50,
  betweenP95: inter_token_ms.p95,
  tokensPerSecond: tokens_per_second,
});

// Runs a benchmark. Returns its points, and by level the requests that the container has seen.
const benchmark = async (times: BatchTimes, seed: number): Promise<{ points: BenchmarkPoint[]; levels: Served[][] }> => {
  const random = randomFrom(seed);
  const fields = { mix: MIX, goals: GOALS, max_concurrency_per_copy: MOST_CONCURRENT };
  const world: BenchmarkWorld = await createWorld(db, { benchmark: fields, random });
  const levels: Served[][] = [];
  world.traffic.tokensOf = tokensOf;
  world.traffic.times = jittered(times, random);
  world.traffic.onRequest = async () => {
    const served = world.traffic.served.at(-1) as Served;
    const level = (await world.row()).points.length;
    levels[level] = [...(levels[level] ?? []), served];
  };
  expect(await world.run()).toBe('ended');
  return { points: (await world.row()).points, levels };
};

test('the figures of a level are those of the requests that the container has served', async () => {
  const { points, levels } = await benchmark(FAST, 1);
  expect(points.map(({ concurrency_per_copy }) => concurrency_per_copy)).toEqual([1, 2, 4, 8]);
  for (const [i, point] of points.entries()) {
    // The first two requests of a run count the tokens of words; those that fill the copies don't count.
    const skipped = point.concurrency_per_copy + (i === 0 ? 2 : 0);
    const counted = (levels[i] ?? []).slice(skipped, skipped + point.requests);
    const figures = figuresOf(counted, point.concurrency_per_copy);
    const own = figuresOfPoint(point);
    expect(FIGURES.filter((name) => Math.abs(own[name] / figures[name] - 1) > 0.01)).toEqual([]);
  }
});

// A closed loop of its own, with a container of its own: prompts have the tokens of the mix, and the first requests of
// each place don't count.
const independent = async (times: BatchTimes, seed: number, concurrency: number): Promise<Figures> => {
  const random = randomFrom(seed);
  const clock = createClock();
  const { invoke, traffic } = createContainer(clock);
  traffic.tokensOf = tokensOf;
  traffic.times = jittered(times, random);
  const prompt = (): string => {
    const words: string[] = [];
    for (let tokens = 10; tokens < PROMPT_TOKENS; ) {
      const word = Array.from({ length: 3 }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');
      words.push(word);
      tokens += tokensOf(word);
    }
    return words.join(' ');
  };
  const wanted = concurrency + INDEPENDENT_REQUESTS;
  const place = async (): Promise<void> => {
    while (traffic.sent < wanted) {
      const body = JSON.stringify({ messages: [{ role: 'user', content: prompt() }], max_tokens: COMPLETION_TOKENS });
      const invocation = { body, signal: new AbortController() } as Parameters<Invoke>[0];
      for await (const _ of invoke(invocation));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, place));
  return figuresOf(traffic.served.slice(concurrency, wanted), concurrency);
};

test('its figures are those of an independent load generator, within 10 %', async () => {
  const differences: { percent: number; text: string }[] = [];
  for (const times of sized([SLOW], [SLOW, FAST]))
    for (let seed = 1; seed <= sized(1, 10); seed++) {
      const { points } = await benchmark(times, seed);
      for (const point of points) {
        const [own, other] = [figuresOfPoint(point), await independent(times, 1_000 + seed, point.concurrency_per_copy)];
        for (const name of FIGURES) {
          const percent = (100 * own[name]) / other[name] - 100;
          const text = `${point.concurrency_per_copy} at once: ${name} ${own[name]} and ${other[name].toFixed(2)}, ${percent.toFixed(1)} %`;
          differences.push({ percent: Math.abs(percent), text });
        }
      }
    }
  const [most] = differences.toSorted((one, another) => another.percent - one.percent);
  process.stderr.write(`\nOf ${differences.length} figures, this one differs most from the independent generator's: ${most?.text}.\n`);
  expect(differences.filter(({ percent }) => percent > MOST_PERCENT)).toEqual([]);
});
