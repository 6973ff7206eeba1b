import { setImmediate, setTimeout } from 'node:timers/promises';
import type { ControlSettings, Fault } from './control.ts';
import type { Step } from './generation/generate.ts';

/** A full-speed answer lets other requests run after this many tokens. */
const TOKENS_PER_TURN = 4;

/** The point at which a reply must break, thrown in place of its next step. */
export class FaultReached extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(`fault ${fault.kind}`);
    this.fault = fault;
  }
}

/**
 * Steps in, the same steps out at the speed of the settings; those made at the same time wait once. With a fault no step finishes, and `FaultReached` is thrown
 * after its tokens. An abort ends it with the signal's reason.
 */
export async function* paceSteps(steps: Iterable<Step>, settings: ControlSettings, signal: AbortSignal): AsyncGenerator<Step, void, void> {
  const { fault } = settings;
  let tokens = 0;
  for (const step of steps) {
    if (fault && tokens >= (fault.after_tokens ?? 0)) throw new FaultReached(fault);
    const delayMs = tokens === 0 ? settings.first_token_delay_ms : settings.token_delay_ms;
    if (delayMs > 0 && step.opensRound) await setTimeout(delayMs, undefined, { signal });
    else if (tokens % TOKENS_PER_TURN === 0) await setImmediate(undefined, { signal });
    tokens += 1;
    yield fault ? { ...step, finish: null } : step;
  }
  if (fault) throw new FaultReached(fault);
}
