import { formatAmount, formatCount, formatMoney, percentOf } from '../format/amounts.ts';
import { ownCurrency } from '../format/currency.ts';
import { formatAge, formatDuration, formatTime, formatUtc } from '../format/times.ts';
import classes from './data.module.css';
import type { Tone } from './tone.ts';

/** An exact amount of money. @param currency default: that of all prices */
export const Money = ({ amount, currency = ownCurrency().code }: { amount: string | null | undefined; currency?: string }) => {
  if (amount === null || amount === undefined) return <span className={classes.soft}>–</span>;
  return (
    <span className={classes.number} title={`${amount} ${currency}`}>
      {currency === ownCurrency().code ? formatMoney(amount) : `${formatAmount(amount)} ${currency}`}
    </span>
  );
};

/** A whole number. */
export const Count = ({ value }: { value: number | string | null | undefined }) => (
  <span className={classes.number}>{value === null || value === undefined ? '–' : formatCount(value)}</span>
);

/** A time: how long ago, with the local time and UTC on hover. @param seconds since the epoch; null: never */
export const Time = ({ seconds, never = 'never' }: { seconds: number | null | undefined; never?: string }) =>
  seconds === null || seconds === undefined ? (
    <span className={classes.soft}>{never}</span>
  ) : (
    <time
      dateTime={new Date(seconds * 1_000).toISOString()}
      title={`${formatTime(seconds)} (${formatUtc(seconds)})`}
      className={classes.number}
    >
      {formatAge(seconds)}
    </time>
  );

/** A sentence that says when something was last used. @param what such as `The key` @param seconds null: never */
export const LastUsed = ({ what, seconds }: { what: string; seconds: number | null }) =>
  seconds === null ? (
    `${what} has never been used.`
  ) : (
    <>
      {what} was last used <Time seconds={seconds} />.
    </>
  );

/** A duration. */
export const Duration = ({ milliseconds }: { milliseconds: number | null | undefined }) => (
  <span className={classes.number}>{milliseconds === null || milliseconds === undefined ? '–' : formatDuration(milliseconds)}</span>
);

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  ready: 'good',
  paid: 'good',
  verified: 'good',
  succeeded: 'good',
  delivered: 'good',
  resolved: 'good',
  published: 'good',
  completed: 'good',
  creating: 'accent',
  updating: 'accent',
  starting: 'accent',
  issued: 'accent',
  open: 'accent',
  new: 'accent',
  pending: 'warn',
  waiting: 'warn',
  deprecated: 'warn',
  expired: 'warn',
  suspended: 'warn',
  client_closed: 'warn',
  disabled: 'warn',
  overdue: 'bad',
  failed: 'bad',
  refused: 'bad',
  upstream_failed: 'bad',
  timed_out: 'bad',
  orphaned: 'bad',
  error: 'bad',
};

/** A state, in its colour and in words. @param tone default: what the state usually means */
export const Chip = ({ state, tone = TONES[state] }: { state: string; tone?: Tone | undefined }) => (
  <span className={classes.chip} data-tone={tone}>
    {state.replaceAll('_', ' ')}
  </span>
);

interface GaugeProps {
  label: string;
  /** Decimal numbers. `limit` null: there is none. */
  used: string;
  limit: string | null;
  /** How to write the numbers. */
  format?: (value: string) => string;
}

const HIGH_PERCENT = 80;
const FULL_PERCENT = 95;

/** How much of a limit is used. */
export const Gauge = ({ label, used, limit, format = formatCount }: GaugeProps) => (
  <div className={classes.gauge}>
    <div className={classes['gauge-text']}>
      <span>{label}</span>
      <span className={classes.number}>
        {format(used)} {limit === null ? '(no limit)' : `of ${format(limit)}`}
      </span>
    </div>
    {limit !== null && (
      <meter
        aria-label={label}
        min={0}
        max={100}
        low={HIGH_PERCENT}
        high={FULL_PERCENT}
        optimum={0}
        value={Math.min(100, percentOf(used, limit))}
      />
    )}
  </div>
);
