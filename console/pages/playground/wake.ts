import { ApiFailure } from '../../client/api-failure.ts';

/** A deployment that starts, and when the request is sent again. Times are Unix seconds. */
export interface Wake {
  /** The service's message about it. */
  sentence: string;
  startedAt: number;
  expectedAt: number;
  p50Seconds: number;
  p90Seconds: number;
  sentAgainAt: number;
}

/** The longest time for which requests are sent again by themselves. */
export const MAX_WAKE_SECONDS = 1_800;

const DEFAULT_RETRY_SECONDS = 15;
const MIN_RETRY_SECONDS = 1;
// A prediction can be wrong in both directions.
const MAX_RETRY_SECONDS = 60;

interface WakeOnWire {
  started_at: number;
  expected_at: number;
  p50_seconds: number;
  p90_seconds: number;
}

/**
 * The wait for a deployment that starts; undefined for other failures, and if the wait was too long already.
 * @param begunAt the Unix time of the first attempt, in seconds
 */
export const wakeOf = (failure: unknown, begunAt: number, nowSeconds: number): Wake | undefined => {
  if (!(failure instanceof ApiFailure) || failure.code !== 'deployment_waking') return undefined;
  const wait = Math.min(MAX_RETRY_SECONDS, Math.max(MIN_RETRY_SECONDS, failure.retryAfterSeconds ?? DEFAULT_RETRY_SECONDS));
  if (nowSeconds + wait > begunAt + MAX_WAKE_SECONDS) return undefined;
  const {
    started_at = nowSeconds,
    expected_at = nowSeconds + wait,
    p50_seconds = 0,
    p90_seconds = 0,
  } = (failure.details.wake ?? {}) as Partial<WakeOnWire>;
  return {
    // The next one says what programs should do, which happens here by itself.
    sentence: failure.message.replace(/\. .*$/s, '.'),
    startedAt: started_at,
    expectedAt: expected_at,
    p50Seconds: p50_seconds,
    p90Seconds: p90_seconds,
    sentAgainAt: nowSeconds + wait,
  };
};

/** How far a start is, from 0 to 1. It comes to the end only when the deployment answers. */
export const progressOf = ({ startedAt, expectedAt }: Pick<Wake, 'startedAt' | 'expectedAt'>, nowSeconds: number): number => {
  const whole = Math.max(1, expectedAt - startedAt);
  const MOST = 0.98;
  return Math.min(MOST, Math.max(0, nowSeconds - startedAt) / whole);
};
