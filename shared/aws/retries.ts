import { setTimeout as delay } from 'node:timers/promises';
import { isConnectionError, isServerError, isThrottle } from './errors.ts';

// As the SDK: a random wait of up to this before the second attempt, of up to twice this before the third. Throttles
// wait longer.
const BACKOFF_MS = 100;
const THROTTLE_BACKOFF_MS = 500;

/**
 * Makes a call again after a connection that broke, a timeout, a server error and a throttle, after a random wait.
 * @param attempts includes the first one
 * @param signal ends the attempts
 */
export const withRetries = async <Result>(
  attempts: number,
  signal: AbortSignal | undefined,
  attempt: () => Promise<Result>,
): Promise<Result> => {
  for (let number = 1; ; number++) {
    try {
      return await attempt();
    } catch (error) {
      const isWorthRetrying = isConnectionError(error) || isServerError(error) || isThrottle(error);
      if (number >= attempts || !isWorthRetrying || signal?.aborted) throw error;
      await delay((isThrottle(error) ? THROTTLE_BACKOFF_MS : BACKOFF_MS) * 2 ** (number - 1) * Math.random());
    }
  }
};
