import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmProps,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  type IAlarm,
  type IAlarmRule,
  type IMetric,
  type Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { FilterPattern, type IFilterPattern, MetricFilter, type MetricFilterProps } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { NodeFunction } from './node-function.ts';

export const PERIOD = Duration.minutes(5);
/** Half an hour. */
const PERIODS_WITHOUT = 6;

/** Matches log lines with this message. */
export const says = (message: string) => FilterPattern.stringValue('$.message', '=', message);

/** How many messages nobody has taken: those of a dead-letter queue stay until an operator has looked at them. */
export const waiting = (queue: Queue): Metric => queue.metricApproximateNumberOfMessagesVisible({ statistic: 'max', period: PERIOD });

/** `scaled_to_zero` is `ScaledToZero`. */
export const metricNameOf = (state: string): string => state.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

export const errorsOf = (fn: NodeFunction): Metric => fn.metricErrors({ statistic: 'sum', period: PERIOD });
export const throttlesOf = (fn: NodeFunction): Metric => fn.metricThrottles({ statistic: 'sum', period: PERIOD });
/** The age of the oldest record of a stream that a function has not processed, in ms. */
export const ageOfStream = (fn: NodeFunction): Metric => fn.metric('IteratorAge', { statistic: 'max', period: PERIOD });

const ABOVE = {
  evaluationPeriods: 1,
  comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
  treatMissingData: TreatMissingData.NOT_BREACHING,
} as const;

const runbookOf = (name: string): string => `See docs/operations.md, "${name}".`;

/** What an alarm of several metrics is made of. */
interface Part {
  /** The last part of its name. */
  part: string;
  metric: IMetric;
  threshold: number;
}

/** Adds alarms to a stack that notify a topic, and metrics of log lines. docs/operations.md has an entry for each alarm, under its name. */
export class Alarms {
  /** The alarms that notify. */
  readonly all: IAlarm[] = [];
  readonly #stack: Construct;
  readonly #topic: ITopic;
  readonly #namespace: string;

  constructor(stack: Construct, { topic, namespace }: { topic: ITopic; namespace: string }) {
    this.#stack = stack;
    this.#topic = topic;
    this.#namespace = namespace;
  }

  /** The number of matching log lines of these functions. */
  count(name: string, pattern: IFilterPattern, ...from: NodeFunction[]): Metric {
    const filters = from.map((fn, i) =>
      this.#filter(i === 0 ? name : `${name}${i + 1}`, { logGroup: fn.logGroup, filterPattern: pattern, metricName: name }),
    );
    return (filters[0] as MetricFilter).metric({ statistic: 'sum', period: PERIOD });
  }

  /** The same for one function, and 0 for a minute in which it wrote other lines only, so that a ratio has both its numbers. */
  countOrZero(name: string, pattern: IFilterPattern, from: NodeFunction): Metric {
    const filter = this.#filter(name, { logGroup: from.logGroup, filterPattern: pattern, metricName: name, defaultValue: 0 });
    return filter.metric({ statistic: 'sum', period: PERIOD });
  }

  /** A number in the matching log lines of a function. @param field such as `$.late_minutes` */
  value(name: string, pattern: IFilterPattern, field: string, from: NodeFunction, period: Duration = PERIOD): Metric {
    const filter = this.#filter(name, { logGroup: from.logGroup, filterPattern: pattern, metricName: name, metricValue: field });
    return filter.metric({ statistic: 'max', period });
  }

  /** Goes off when the metric is above the threshold in one period. */
  above(name: string, metric: IMetric, threshold: number): void {
    this.#add(name, { ...ABOVE, metric, threshold });
  }

  /**
   * Goes off when the metric has been 0 for so many periods, and when it stops having values. A new alarm has no state until the first value, because
   * missing data is not a breach; it would otherwise start in alarm.
   */
  without(name: string, metric: IMetric, evaluationPeriods = PERIODS_WITHOUT): void {
    const comparisonOperator = ComparisonOperator.LESS_THAN_THRESHOLD;
    const alarm = this.#add(name, {
      metric,
      threshold: 1,
      evaluationPeriods,
      comparisonOperator,
      treatMissingData: TreatMissingData.MISSING,
    });
    alarm.addInsufficientDataAction(new SnsAction(this.#topic));
  }

  /** Goes off when, in any of the groups, all metrics are above their thresholds. Only this alarm notifies, not those that it is made of. */
  anyOfAll(name: string, groups: readonly (readonly Part[])[]): void {
    const alarmDescription = runbookOf(name);
    const watch = ({ part, metric, threshold }: Part): IAlarmRule =>
      AlarmRule.fromAlarm(new Alarm(this.#stack, `${name}${part}`, { ...ABOVE, metric, threshold, alarmDescription }), AlarmState.ALARM);
    const alarm = new CompositeAlarm(this.#stack, name, {
      alarmRule: AlarmRule.anyOf(...groups.map((parts) => AlarmRule.allOf(...parts.map(watch)))),
      alarmDescription,
    });
    alarm.addAlarmAction(new SnsAction(this.#topic));
    this.all.push(alarm);
  }

  #add(name: string, props: AlarmProps): Alarm {
    const alarm = new Alarm(this.#stack, name, { ...props, alarmDescription: runbookOf(name) });
    alarm.addAlarmAction(new SnsAction(this.#topic));
    this.all.push(alarm);
    return alarm;
  }

  #filter(id: string, props: Omit<MetricFilterProps, 'metricNamespace'>): MetricFilter {
    return new MetricFilter(this.#stack, id, { ...props, metricNamespace: this.#namespace });
  }
}
