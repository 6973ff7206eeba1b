/** A timer that calls back once, unless it is cleared before. */
export interface Timeout {
  /** Restarts the timer. */
  refresh: () => void;
  clear: () => void;
}

/**
 * Calls back after this time. If the process was held up for longer, what arrived meanwhile is read first; overdue
 * timers of Node can run before.
 */
export const startTimeout = (ms: number, onLate: () => void): Timeout => {
  let turn: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    turn = setImmediate(onLate);
  }, ms);
  return {
    refresh: () => {
      clearImmediate(turn);
      timer.refresh();
    },
    clear: () => {
      clearImmediate(turn);
      clearTimeout(timer);
    },
  };
};
