import { once } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import * as z from 'zod';

const LONGEST_STEP_MS = 10_000;
const MAX_SEQUENCES = 4_096;

/**
 * How long a GPU needs that generates for several requests at the same time, as vLLM does: a step gives each of its
 * sequences a token, and also reads the prompts of those that join. More sequences wait until others end.
 */
export const BatchTimes = z.strictObject({
  step_ms: z.number().min(1).max(LONGEST_STEP_MS),
  step_ms_per_sequence: z.number().min(0).max(LONGEST_STEP_MS),
  prefill_ms_per_1000_tokens: z.number().min(0).max(LONGEST_STEP_MS),
  max_sequences: z.int().min(1).max(MAX_SEQUENCES),
});
export type BatchTimes = z.infer<typeof BatchTimes>;

/** The time in ms, and a way to wait for it. */
export interface Clock {
  now(): number;
  waitUntil(ms: number): Promise<void>;
}

/** Answers to one request, which are generated in the same steps. */
export interface Sequences {
  count: number;
  promptTokens: number;
}

/** A request's place in the batch. */
export interface Place {
  /** Waits until the next tokens of its sequences are generated. @throws the signal's reason */
  tokens(signal: AbortSignal): Promise<void>;
  leave(): void;
}

export interface Batch {
  /** Joins the queue. Steps take as long as the times of the last request that joined say. */
  enter(times: BatchTimes, sequences: Sequences): Place;
}

interface Member extends Sequences {
  generated: EventTarget;
}

const systemClock: Clock = {
  now: () => performance.now(),
  waitUntil: async (ms) => {
    const waitMs = ms - performance.now();
    if (waitMs > 0) await setTimeout(waitMs);
  },
};

// A busy machine ends steps late. The next ones are shorter by that, but not by more than this.
const MAX_LATE_MS = 500;

/** Creates a batch, empty. It takes no time while nothing is in it. */
export const createBatch = (clock: Clock = systemClock): Batch => {
  const waiting: Member[] = [];
  const running = new Set<Member>();
  let times: BatchTimes;
  let isRunning = false;

  const count = (): number => [...running].reduce((sum, member) => sum + member.count, 0);

  // In the order of arrival. A request with more sequences than there is room for runs alone.
  const admitWaiting = (): Member[] => {
    const admitted: Member[] = [];
    for (let next = waiting[0]; next && (running.size === 0 || count() + next.count <= times.max_sequences); next = waiting[0]) {
      admitted.push(next);
      running.add(next);
      waiting.shift();
    }
    return admitted;
  };

  const stepMs = (admitted: readonly Member[]): number => {
    const prompts = admitted.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
    return times.step_ms + times.step_ms_per_sequence * count() + (times.prefill_ms_per_1000_tokens * prompts) / 1_000;
  };

  const run = async (): Promise<void> => {
    let endMs = clock.now();
    for (;;) {
      // Until then, requests that got a token have sent it, and leave or wait for the next one.
      await setImmediate();
      if (running.size + waiting.length === 0) break;
      const admitted = admitWaiting();
      endMs = Math.max(endMs, clock.now() - MAX_LATE_MS) + stepMs(admitted);
      await clock.waitUntil(endMs);
      for (const { generated } of running) generated.dispatchEvent(new Event('tokens'));
    }
    isRunning = false;
  };

  return {
    enter(newTimes, sequences) {
      times = newTimes;
      const member: Member = { ...sequences, generated: new EventTarget() };
      waiting.push(member);
      if (!isRunning) {
        isRunning = true;
        void run();
      }
      return {
        tokens: async (signal) => void (await once(member.generated, 'tokens', { signal })),
        leave: () => {
          running.delete(member);
          const index = waiting.indexOf(member);
          if (index >= 0) waiting.splice(index, 1);
        },
      };
    },
  };
};
