import { setImmediate, setTimeout } from 'node:timers/promises';
import type { GenerationRequest, Step } from '../generation/generate.ts';
import type { Batch, Sequences } from './batch.ts';
import type { ControlSettings, Fault } from './control.ts';

// Without a delay, generation yields to other requests after this many tokens.
const TOKENS_PER_YIELD = 4;

/** Thrown instead of the next step where a fault breaks the response. */
export class FaultReached extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(`fault ${fault.kind}`);
    this.fault = fault;
  }
}

interface Paced {
  settings: ControlSettings;
  signal: AbortSignal;
  /** The batch of the container. */
  batch: Batch;
  /** The requests that the steps answer. */
  requests: readonly GenerationRequest[];
}

const sequencesOf = (requests: readonly GenerationRequest[]): Sequences => ({
  count: requests.reduce((sum, { choices }) => sum + choices, 0),
  promptTokens: requests.reduce((sum, { prompt }) => sum + prompt.length, 0),
});

/**
 * Yields the steps with the delays of the settings, or when the batch has generated them. Steps generated in parallel
 * share one delay. With a fault, no step has a finish, and `FaultReached` is thrown after the fault's tokens. Throws
 * the signal's reason on abort.
 */
export async function* paceSteps(steps: Iterable<Step>, paced: Paced): AsyncGenerator<Step, void, void> {
  const { settings, signal, batch, requests } = paced;
  const { fault } = settings;
  const place = settings.batch ? batch.enter(settings.batch, sequencesOf(requests)) : undefined;
  let tokens = 0;
  try {
    for (const step of steps) {
      if (fault && tokens >= (fault.after_tokens ?? 0)) throw new FaultReached(fault);
      const delayMs = tokens === 0 ? settings.first_token_delay_ms : settings.token_delay_ms;
      if (place && step.opensRound) await place.tokens(signal);
      else if (delayMs > 0 && step.opensRound) await setTimeout(delayMs, undefined, { signal });
      else if (tokens % TOKENS_PER_YIELD === 0) await setImmediate(undefined, { signal });
      tokens += 1;
      yield fault ? { ...step, finish: null } : step;
    }
    if (fault) throw new FaultReached(fault);
  } finally {
    place?.leave();
  }
}
