import { closableAt, monthOf } from '../../../shared/billing/month.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/time/units.ts';
import type { LocalClock } from '../clock/local-clock.ts';

/** The ways to move the clock. */
export const MOVES = ['hour', 'day', 'next_month', 'present'] as const;
export type Move = (typeof MOVES)[number];

// Months are closed by a job that runs every hour.
const AFTER_CLOSABLE_MS = 30 * MINUTE_MS;

/** How far a move puts the clock ahead of the machine's. `next_month`: when the current month can be billed. */
export const offsetAfter = (move: Move, clock: Pick<LocalClock, 'now' | 'offsetMs'>): number => {
  const offset = clock.offsetMs();
  switch (move) {
    case 'hour':
      return offset + HOUR_MS;
    case 'day':
      return offset + DAY_MS;
    case 'next_month':
      return offset + closableAt(monthOf(clock.now())) + AFTER_CLOSABLE_MS - clock.now();
    case 'present':
      return 0;
  }
};
