import { describe, expect, test } from '@jest/globals';
import { type Batch, type BatchTimes, createBatch } from '../../../../../infra/local/model-server/replies/batch.ts';
import { complete, control, startContainer } from '../fixtures.ts';

const TIMES: BatchTimes = { step_ms: 20, step_ms_per_sequence: 2, prefill_ms_per_1000_tokens: 100, max_sequences: 8 };

// Time that passes as soon as something waits for it.
const createClock = () => {
  let nowMs = 0;
  return {
    now: () => nowMs,
    waitUntil: async (ms: number) => {
      nowMs = Math.max(nowMs, ms);
    },
  };
};

interface Answer {
  promptTokens: number;
  tokens: number;
  times?: BatchTimes;
  signal?: AbortSignal;
}

// The times of its tokens.
const generate = async (batch: Batch, clock: ReturnType<typeof createClock>, answer: Answer): Promise<number[]> => {
  const { promptTokens, tokens, times = TIMES, signal = new AbortController().signal } = answer;
  const place = batch.enter(times, { count: 1, promptTokens });
  const ends: number[] = [];
  try {
    for (let i = 0; i < tokens; i++) {
      await place.tokens(signal);
      ends.push(clock.now());
    }
  } finally {
    place.leave();
  }
  return ends;
};

const generateAll = async (answers: readonly Answer[]): Promise<{ ends: number[][]; lastMs: number }> => {
  const clock = createClock();
  const batch = createBatch(clock);
  const ends = await Promise.all(answers.map((answer) => generate(batch, clock, answer)));
  return { ends, lastMs: clock.now() };
};

describe('a batch', () => {
  test('reads the prompt in the first step, and gives a token in each', async () => {
    const { ends } = await generateAll([{ promptTokens: 1_000, tokens: 3 }]);
    expect(ends).toEqual([[122, 144, 166]]);
  });

  test('takes longer for each sequence, and generates for all of them in the same step', async () => {
    const { ends } = await generateAll(Array.from({ length: 8 }, () => ({ promptTokens: 0, tokens: 2 })));
    expect(ends).toEqual(Array.from({ length: 8 }, () => [36, 72]));
  });

  test('makes those wait, in order, for which there is no room', async () => {
    const { ends } = await generateAll([
      ...Array.from({ length: 8 }, (_, i) => ({ promptTokens: 0, tokens: i === 0 ? 1 : 2 })),
      { promptTokens: 0, tokens: 1 },
    ]);
    expect(ends.at(-1)).toEqual([72]);
  });

  test('generates with as many sequences as its knee predicts for a time between tokens', async () => {
    const tokensASecond = async (sequences: number): Promise<number> => {
      const { lastMs } = await generateAll(Array.from({ length: sequences }, () => ({ promptTokens: 0, tokens: 100 })));
      return (sequences * 100 * 1_000) / lastMs;
    };
    // A step of c sequences takes 20 + 2 c ms; with more than 8, the others wait.
    expect(await tokensASecond(1)).toBeCloseTo(1_000 / 22);
    expect(await tokensASecond(8)).toBeCloseTo(8_000 / 36);
    expect(await tokensASecond(16)).toBeCloseTo(8_000 / 36);
  });

  test('runs a request alone that has more sequences than there is room for', async () => {
    const clock = createClock();
    const batch = createBatch(clock);
    const place = batch.enter(TIMES, { count: 20, promptTokens: 0 });
    await place.tokens(new AbortController().signal);
    place.leave();
    expect(clock.now()).toBe(60);
  });

  test('goes on without a sequence whose caller has left', async () => {
    const left = new AbortController();
    const clock = createClock();
    const batch = createBatch(clock);
    const leaving = generate(batch, clock, { promptTokens: 0, tokens: 100, signal: left.signal });
    const staying = generate(batch, clock, { promptTokens: 0, tokens: 2 });
    left.abort();
    await expect(leaving).rejects.toThrow('aborted');
    expect(await staying).toEqual([22, 44]);
  });

  test('is empty again afterwards, and takes the times of the next request', async () => {
    const clock = createClock();
    const batch = createBatch(clock);
    await generate(batch, clock, { promptTokens: 0, tokens: 2 });
    expect(await generate(batch, clock, { promptTokens: 0, tokens: 1, times: { ...TIMES, step_ms: 5 } })).toEqual([51]);
  });
});

test('the container generates in a batch while `/control` has its times', async () => {
  const container = await startContainer();
  try {
    await control(container, { batch: { ...TIMES, step_ms: 10 } });
    const start = performance.now();
    await Promise.all(Array.from({ length: 8 }, () => complete(container, { max_tokens: 5, ignore_eos: true })));
    // Five steps of at least 26 ms; a timer can fire up to a millisecond early.
    expect(performance.now() - start).toBeGreaterThanOrEqual(5 * 26 - 5);
  } finally {
    await container.close();
  }
});
