/** The times and tokens of one answer. */
export interface Sample {
  /** From sending the request to its first token. */
  ttftMs: number;
  /** The mean time between two tokens after the first one; undefined if there is only one. */
  interTokenMs: number | undefined;
  durationMs: number;
  promptTokens: number;
  completionTokens: number;
}

export interface LevelLoad {
  /** Requests in flight at the same time. */
  concurrency: number;
  /** The requests that count: those that are sent after the first `concurrency` ones, which only fill the batch. */
  counted: number;
  /** Then the level ends with what it has. */
  maxMs: number;
}

/** The answers of a level. Requests that were cut off at its end are in neither list. */
export interface LevelSamples {
  samples: Sample[];
  failures: unknown[];
}

interface LevelDependencies {
  /** Sends a request and reads its answer. @throws if it fails, or the signal is aborted */
  send: (signal: AbortSignal) => Promise<Sample>;
  /** Resolves after this many milliseconds, or rejects when the signal is aborted. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Keeps a number of requests in flight: each answer is followed by the next request. Further requests fill the place of
 * those that have ended until all that count have their answers, so that the last ones meet the same load as the first.
 * Requests that are left are aborted.
 * @param stop ends the level early, with its reason
 * @throws the reason of `stop`
 */
export const measureLevel = async (
  { send, wait }: LevelDependencies,
  { concurrency, counted, maxMs }: LevelLoad,
  stop: AbortSignal,
): Promise<LevelSamples> => {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, stop]);
  const samples: Sample[] = [];
  const failures: unknown[] = [];
  let sent = 0;
  let answered = 0;
  const end = (): void => over.abort();

  const sendOne = async (): Promise<void> => {
    const number = sent++;
    const counts = number >= concurrency && number < concurrency + counted;
    try {
      const sample = await send(signal);
      if (counts) samples.push(sample);
    } catch (error) {
      if (signal.aborted) return;
      failures.push(error);
      // A failed level misses the goals, whatever the other answers are.
      end();
    }
    if (counts && ++answered === counted) end();
  };
  const keepOne = async (): Promise<void> => {
    while (!signal.aborted) await sendOne();
  };

  const timer = wait(maxMs, signal).then(end, () => undefined);
  await Promise.all(Array.from({ length: concurrency }, keepOne));
  end();
  await timer;
  stop.throwIfAborted();
  return { samples, failures };
};
