import { formatDuration } from '../format/times.ts';
import classes from './data.module.css';

export interface Span {
  name: string;
  /** Milliseconds from the beginning of all. */
  fromMs: number;
  toMs: number;
}

const FULL_PERCENT = 100;

/** Steps of something as bars below one another, on one axis of time. */
export const Spans = ({ label, spans, totalMs }: { label: string; spans: readonly Span[]; totalMs: number }) => {
  const percent = (milliseconds: number): string => `${(milliseconds / Math.max(1, totalMs)) * FULL_PERCENT}%`;
  return (
    <dl className={classes.bars} aria-label={label}>
      {spans.map(({ name, fromMs, toMs }) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd className={classes.lane} aria-hidden="true">
            <div className={classes.span} style={{ left: percent(fromMs), width: percent(toMs - fromMs) }} />
          </dd>
          <dd className={classes.number}>{formatDuration(toMs - fromMs)}</dd>
        </div>
      ))}
    </dl>
  );
};
