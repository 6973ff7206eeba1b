import type { SpeedWatch } from '../../../shared/deployments/benchmark.ts';
import { DAY_MS } from '../../../shared/time/units.ts';

// Live requests differ more than the levels of a benchmark, whose bound is 15 %.
const DRIFT_PERCENT = 20;
// Below this, it is as before.
const SAME_PERCENT = 10;
// So many spans in succession must differ, in the same direction.
const DRIFT_SPANS = 3;

type State = Pick<SpeedWatch, 'beyond' | 'is_drifted' | 'notified_at'>;

/**
 * Follows the difference of a deployment's speed from its curve, from span to span. The owner is notified when it has
 * drifted, once until it is as before, and at most once a day.
 * @param state of the span before
 * @param percent the difference in the next span
 */
export const followDrift = (state: State, percent: number, nowMs: number): { state: State; isNotified: boolean } => {
  const isBeyond = Math.abs(percent) > DRIFT_PERCENT;
  const sign = Math.sign(percent);
  const before = Math.sign(state.beyond) === sign ? state.beyond : 0;
  // Longer successions are not told apart.
  const beyond = isBeyond ? Math.max(-DRIFT_SPANS, Math.min(DRIFT_SPANS, before + sign)) : 0;
  const isSame = Math.abs(percent) < SAME_PERCENT;
  const mayNotify = state.notified_at === undefined || nowMs - state.notified_at >= DAY_MS;
  const isNotified = Math.abs(beyond) === DRIFT_SPANS && !state.is_drifted && mayNotify;
  return {
    state: {
      beyond,
      is_drifted: isNotified || (state.is_drifted && !isSame),
      ...(isNotified ? { notified_at: nowMs } : state.notified_at !== undefined && { notified_at: state.notified_at }),
    },
    isNotified,
  };
};
