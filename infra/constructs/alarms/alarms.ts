import { Duration, type Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IAlarm,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Rule } from 'aws-cdk-lib/aws-events';
import { FilterPattern, type IFilterPattern, MetricFilter, type MetricFilterProps } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { NodeFunction } from '../functions/node-function.ts';
import { type AlarmName, alarmTexts, type Severity } from './alarm-texts.ts';

export const PERIOD = Duration.minutes(5);
const HALF_AN_HOUR = Duration.minutes(30);
const PERIODS_WITHOUT = HALF_AN_HOUR.toMinutes() / PERIOD.toMinutes();

/** Matches log lines with this message. */
export const logMessage = (message: string) => FilterPattern.stringValue('$.message', '=', message);

/** Messages that no function has taken. Those of a dead-letter queue wait for an operator. */
export const visibleMessages = (queue: Queue): Metric =>
  queue.metricApproximateNumberOfMessagesVisible({ statistic: 'max', period: PERIOD });

export const errorsOf = (fn: NodeFunction): Metric => fn.metricErrors({ statistic: 'sum', period: PERIOD });
export const throttlesOf = (fn: NodeFunction): Metric => fn.metricThrottles({ statistic: 'sum', period: PERIOD });
/** How often a schedule ran. */
export const runsOf = ({ ruleName: RuleName }: Rule, period = PERIOD): Metric =>
  new Metric({ namespace: 'AWS/Events', metricName: 'Invocations', dimensionsMap: { RuleName }, statistic: 'sum', period });
// The runs of a schedule in half an hour that threw, or found no environment in time.
const droppedOf = (fn: NodeFunction): Metric => fn.metric('AsyncEventsDropped', { statistic: 'sum', period: HALF_AN_HOUR });

/**
 * How often a schedule ran in half an hour, or 0 if all its runs but one were dropped. Messages of queues count
 * neither as runs nor as dropped. A run that finds no environment is dropped some minutes after it began, so that the
 * dropped ones of half an hour can be one too few. In the first half an hour there are too few runs to tell.
 * @param every how often it runs
 */
export const keptRunsOf = (schedule: Rule, fn: NodeFunction, every: Duration): MathExpression =>
  new MathExpression({
    expression: `IF(runs >= ${HALF_AN_HOUR.toMinutes() / every.toMinutes() - 1}, IF(SUM([runs, 0 - FILL(dropped, 0)]) <= 1, 0, runs), runs)`,
    usingMetrics: { runs: runsOf(schedule, HALF_AN_HOUR), dropped: droppedOf(fn) },
    period: HALF_AN_HOUR,
  });
// The share of a function's runs that threw. Lambda writes 0 or 1 for each run, and nothing while none can start.
const failingShareOf = (fn: NodeFunction): Metric => fn.metricErrors({ statistic: 'avg', period: PERIOD });
/** The age of the oldest record of a stream that a function has not processed, in ms. */
export const ageOfStream = (fn: NodeFunction): Metric => fn.metric('IteratorAge', { statistic: 'max', period: PERIOD });

const ABOVE = {
  evaluationPeriods: 1,
  comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
  treatMissingData: TreatMissingData.NOT_BREACHING,
} as const;

interface AlarmsProps {
  /** Where alarms of each severity go. */
  topics: Readonly<Record<Severity, ITopic>>;
  namespace: string;
  /** The URL of the page with the runbook. */
  runbookUrl: string;
}

/**
 * Adds alarms to a stack that notify the topic of their severity, and metrics of log lines. docs/runbook.md has an
 * entry for each alarm, under its name.
 */
export class Alarms {
  readonly all: IAlarm[] = [];
  readonly #stack: Stack;
  readonly #actions: Readonly<Record<Severity, SnsAction>>;
  readonly #namespace: string;
  readonly #runbookUrl: string;

  constructor(stack: Stack, { topics, namespace, runbookUrl }: AlarmsProps) {
    this.#stack = stack;
    this.#actions = { page: new SnsAction(topics.page), ticket: new SnsAction(topics.ticket) };
    this.#namespace = namespace;
    this.#runbookUrl = runbookUrl;
  }

  /** The number of matching log lines of these functions. */
  count(name: string, pattern: IFilterPattern, ...from: NodeFunction[]): Metric {
    const filters = from.map((fn, i) =>
      this.#filter(i === 0 ? name : `${name}${i + 1}`, { logGroup: fn.logGroup, filterPattern: pattern, metricName: name }),
    );
    return (filters[0] as MetricFilter).metric({ statistic: 'sum', period: PERIOD });
  }

  /**
   * The same for one function, and 0 for a minute in which it wrote other lines only, so that a ratio has both its
   * numbers.
   */
  countOrZero(name: string, pattern: IFilterPattern, from: NodeFunction): Metric {
    const filter = this.#filter(name, { logGroup: from.logGroup, filterPattern: pattern, metricName: name, defaultValue: 0 });
    return filter.metric({ statistic: 'sum', period: PERIOD });
  }

  /**
   * A number in the matching log lines of a function. A metric with values costs $0.30 a month: what no alarm needs,
   * and functions write at rest, is a graph of lines. @param field such as `$.late_minutes`
   */
  value(name: string, pattern: IFilterPattern, field: string, from: NodeFunction, period: Duration = PERIOD): Metric {
    const filter = this.#filter(name, { logGroup: from.logGroup, filterPattern: pattern, metricName: name, metricValue: field });
    return filter.metric({ statistic: 'max', period });
  }

  /** Goes off when the metric is above the threshold in one period. */
  above(name: AlarmName, metric: IMetric, threshold: number): void {
    this.#add(name, { ...ABOVE, metric, threshold });
  }

  /**
   * Goes off when the metric has been 0 for so many periods, and when it stops having values. A new alarm has no
   * state until the first value, because missing data is not a breach; it would otherwise start in alarm.
   */
  whenMissing(name: AlarmName, metric: IMetric, evaluationPeriods = PERIODS_WITHOUT): void {
    this.#orMissing(name, { metric, threshold: 1, evaluationPeriods, comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD });
  }

  /** Goes off when every run of a function has thrown for half an hour, and when none has started. */
  whenAllFail(name: AlarmName, fn: NodeFunction): void {
    const comparisonOperator = ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD;
    this.#orMissing(name, { metric: failingShareOf(fn), threshold: 1, evaluationPeriods: PERIODS_WITHOUT, comparisonOperator });
  }

  #orMissing(name: AlarmName, props: Omit<AlarmProps, 'treatMissingData'>): void {
    const alarm = this.#add(name, { ...props, treatMissingData: TreatMissingData.MISSING });
    alarm.addInsufficientDataAction(this.#actions[alarmTexts[name].severity]);
  }

  #add(name: AlarmName, props: AlarmProps): Alarm {
    const alarm = new Alarm(this.#stack, name, { ...props, ...this.#texts(name) });
    this.#notify(name, alarm);
    return alarm;
  }

  /** Notifies the topic of the alarm's severity, also when the alarm is over. */
  #notify(name: AlarmName, alarm: Alarm): void {
    const action = this.#actions[alarmTexts[name].severity];
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    this.all.push(alarm);
  }

  #texts(name: AlarmName): { alarmName: string; alarmDescription: string } {
    const { fact, impact } = alarmTexts[name];
    const entry = `${this.#runbookUrl}#${name.toLowerCase()}`;
    return { alarmName: `${this.#stack.stackName}-${name}`, alarmDescription: `${fact} ${impact} ${entry}` };
  }

  #filter(id: string, props: Omit<MetricFilterProps, 'metricNamespace'>): MetricFilter {
    return new MetricFilter(this.#stack, id, { ...props, metricNamespace: this.#namespace });
  }
}
