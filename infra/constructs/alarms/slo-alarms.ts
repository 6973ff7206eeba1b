import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Config } from '../../config/config.ts';
import type { NodeFunction } from '../functions/node-function.ts';
import type { AlarmName } from './alarm-texts.ts';
import { type Alarms, errorsOf, throttlesOf } from './alarms.ts';
import type { HostMetrics } from './host-metrics.ts';

/** An objective: a share of events that must be good. */
export interface Objective {
  /** The percentage that must be good. */
  percentage: number;
  /**
   * The bad events, with 0 where there are none, and what the expression is made of. `id` is their name in other
   * expressions.
   */
  bad: { id: string; expression: string; metrics: Record<string, Metric> };
  /** All events. */
  total: { expression: string; metrics: Record<string, Metric> };
}

// From the SRE workbook (https://sre.google/workbook/alerting-on-slos/), for 30 days: 6 times the allowed rate uses up
// 5 % of the budget in six hours. docs/decisions/0124 says what another window would add.
const BURN_RATE = 6;
const WINDOW = Duration.hours(6);

const over = (metrics: Record<string, Metric>, period: Duration): Record<string, IMetric> =>
  Object.fromEntries(Object.entries(metrics).map(([id, metric]) => [id, metric.with({ period })]));

/**
 * The percentage of bad events in a window.
 * @param minimum with fewer bad events, 0. A floor of all events would be silent while every request of a quiet host
 * fails.
 */
export const badPercentage = ({ bad, total }: Objective, period: Duration, minimum = 1): MathExpression =>
  new MathExpression({
    expression: `IF(${bad.id} >= ${minimum}, 100 * ${bad.id} / (${total.expression}), 0)`,
    usingMetrics: {
      [bad.id]: new MathExpression({ expression: bad.expression, usingMetrics: over(bad.metrics, period), period }),
      ...over(total.metrics, period),
    },
    period,
  });

// Goes off while the budget is used up too fast.
const addBurnAlarm = (alarms: Alarms, name: AlarmName, objective: Objective, minimumMisses: number): void =>
  // Without the error of binary fractions, such as 0.5999999999999943.
  alarms.above(name, badPercentage(objective, WINDOW, minimumMisses), Number((BURN_RATE * (100 - objective.percentage)).toFixed(6)));

export interface WatchedHost {
  inference: NodeFunction;
  metrics: HostMetrics;
}

/**
 * Counts requests without an answer. A function that crashes or can't start writes no line about the request, so its
 * own metrics count, too.
 */
export const availabilityOf = ({ inference, metrics }: WatchedHost, { availability }: Config['slo']): Objective => ({
  percentage: availability,
  bad: {
    id: 'unanswered',
    expression: 'FILL(failed, 0) + FILL(crashed, 0) + FILL(throttled, 0)',
    metrics: { failed: metrics.failed, crashed: errorsOf(inference), throttled: throttlesOf(inference) },
  },
  total: { expression: 'FILL(answered, 0) + unanswered', metrics: { answered: metrics.answered } },
});

/** Counts late first tokens. Requests that fail before their first token count against availability. */
export const firstTokensOf = ({ metrics }: WatchedHost, { firstTokenShare }: Config['slo']): Objective => ({
  percentage: firstTokenShare,
  bad: { id: 'late', expression: 'FILL(counted_late, 0)', metrics: { counted_late: metrics.firstTokenLate } },
  total: { expression: 'timed', metrics: { timed: metrics.firstTokenMs.with({ statistic: 'n' }) } },
});

/** How the names of a host's metrics and alarms begin. */
export type HostPrefix = 'Serverless' | 'Ondemand';

/** Adds the alarms of a host's objectives. @param prefix the first part of their names */
export const addSloAlarms = (alarms: Alarms, prefix: HostPrefix, host: WatchedHost, slo: Config['slo']): void => {
  addBurnAlarm(alarms, `${prefix}AvailabilityBurning`, availabilityOf(host, slo), slo.minimumMisses);
  addBurnAlarm(alarms, `${prefix}FirstTokensBurning`, firstTokensOf(host, slo), slo.minimumMisses);
};
