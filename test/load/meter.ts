import type { Exchange } from '../bench/lib/exchange.ts';
import type { Question } from './question.ts';

/** Measurements of a load's requests that invoke the model. */
export interface Measured {
  elapsedMs: number;
  requests: number;
  tokens: number;
  /** The times to the first token of streams. */
  firstTokenMs: number[];
  streamMs: number[];
  wholeMs: number[];
  /** Streams that were open at once: on average over the whole load, and at most. */
  meanStreams: number;
  mostStreams: number;
}

/** Collects what a load measures. */
export const createMeter = () => {
  const seen = { requests: 0, tokens: 0, firstTokenMs: [] as number[], streamMs: [] as number[], wholeMs: [] as number[] };
  let open = 0;
  let mostStreams = 0;
  let openMs = 0;
  return {
    /** Counts a stream as open until the work is done. */
    during: async <Result>({ isStream }: Pick<Question, 'isStream'>, work: () => Promise<Result>): Promise<Result> => {
      if (!isStream) return work();
      const startedAt = performance.now();
      open += 1;
      mostStreams = Math.max(mostStreams, open);
      try {
        return await work();
      } finally {
        open -= 1;
        openMs += performance.now() - startedAt;
      }
    },
    /** Adds a reply that its caller read to its end. */
    add: ({ isStream }: Pick<Question, 'isStream'>, { latencyMs, firstTokenMs }: Exchange, tokens: number): void => {
      seen.requests += 1;
      seen.tokens += tokens;
      (isStream ? seen.streamMs : seen.wholeMs).push(latencyMs);
      if (isStream && firstTokenMs !== undefined) seen.firstTokenMs.push(firstTokenMs);
    },
    result: (elapsedMs: number): Measured => ({ ...seen, elapsedMs, mostStreams, meanStreams: openMs / elapsedMs }),
  };
};
