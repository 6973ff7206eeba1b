import { setTimeout as delay } from 'node:timers/promises';
import { collect } from '../http/collect.ts';
import { createBackoff } from '../processes/backoff.ts';
import type { FunctionSet } from './function-set.ts';
import { InvocationFailed } from './invocation.ts';

const MAX_RESULT_BYTES = 6_291_556;
const MAX_WAITING = 1_000;
// Lambda's default for errors of the function.
const MAX_FAILED_ATTEMPTS = 3;
// Attempts for an event that reaches no process of the function. Lambda tries for six hours.
const MAX_UNREACHED_ATTEMPTS = 20;

/** The events of invocations whose result nobody waits for. */
export interface AsyncInvocations {
  /** Invokes a function soon. Returns false if too many events are waiting. */
  add(functionName: string, event: Buffer): boolean;
  /** Drops the events that are waiting. */
  close(): void;
}

/**
 * Invokes functions as Lambda does for the invocation type Event: a function that fails is invoked twice more. Unlike
 * Lambda, which waits one and two minutes in between, it waits a growing delay of at most five seconds.
 */
export const createAsyncInvocations = (start: FunctionSet['start'], log: (line: string) => void): AsyncInvocations => {
  const closed = new AbortController();
  const { signal } = closed;
  let waiting = 0;

  /** Returns the error of an attempt that failed. */
  const attempt = async (functionName: string, event: Buffer): Promise<unknown> => {
    try {
      const { body } = await start(functionName, event);
      await collect(body, MAX_RESULT_BYTES);
      return undefined;
    } catch (error) {
      return error;
    }
  };

  const run = async (functionName: string, event: Buffer): Promise<void> => {
    const backoff = createBackoff();
    let [failed, unreached] = [0, 0];
    while (!signal.aborted) {
      const error = await attempt(functionName, event);
      if (error === undefined || signal.aborted) return;
      if (isUnreached(error)) unreached += 1;
      else failed += 1;
      if (failed === MAX_FAILED_ATTEMPTS || unreached === MAX_UNREACHED_ATTEMPTS) {
        log(`an event for ${functionName} is given up: ${error instanceof Error ? error.message : String(error)}`);
        return;
      }
      await delay(backoff.nextDelayMs(), undefined, { signal, ref: false }).catch(() => undefined);
    }
  };

  return {
    add(functionName, event) {
      if (waiting >= MAX_WAITING) return false;
      waiting += 1;
      void run(functionName, event).finally(() => {
        waiting -= 1;
      });
      return true;
    },
    close: () => closed.abort(),
  };
};

const isUnreached = (error: unknown): boolean =>
  error instanceof InvocationFailed && (error.reason === 'throttled' || error.reason === 'not_reached');
