import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type GraphWidgetProps,
  type IAlarm,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  type Metric,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { NodeFunction } from '../functions/node-function.ts';
import { PERIOD } from './alarms.ts';

interface LinesShown {
  from: NodeFunction;
  /** The message of the lines. */
  message: string;
  /** The fields with the numbers, by what the graph calls them. */
  fields: Readonly<Record<string, string>>;
  isStacked?: boolean;
}

// Half of a dashboard's 24 columns.
const HALF = 12;
const ALARM_ROWS = 5;

/** A graph of half a dashboard's width, of values in five minutes. */
export const graph = (title: string, left: IMetric[], more: Omit<GraphWidgetProps, 'title' | 'left' | 'width'> = {}): GraphWidget =>
  new GraphWidget({ title, left, width: HALF, ...more });

/** A graph of numbers in log lines. They are read when someone looks at it, so it costs nothing at rest. */
export const graphOfLines = (title: string, { from, message, fields, isStacked = false }: LinesShown): LogQueryWidget =>
  new LogQueryWidget({
    title,
    width: HALF,
    view: isStacked ? LogQueryVisualizationType.STACKEDAREA : LogQueryVisualizationType.LINE,
    logGroupNames: [from.logGroup.logGroupName],
    queryLines: [
      `filter message = "${message}"`,
      `stats ${Object.entries(fields)
        .map(([label, field]) => `max(${field}) as \`${label}\``)
        .join(', ')} by bin(${PERIOD.toMinutes()}m)`,
    ],
  });

/** A metric under another name. */
export const labelled = (label: string, metric: Metric): Metric => metric.with({ label });

/**
 * Metrics in a larger unit, such as minutes instead of milliseconds, under other names. @param unit the larger unit
 * in the metrics' own
 */
export const inUnits = (unit: number, metrics: Readonly<Record<string, Metric>>): MathExpression[] =>
  Object.entries(metrics).map(
    ([label, metric], i) =>
      // An id means the same metric in the whole graph.
      new MathExpression({ expression: `value${i} / ${unit}`, usingMetrics: { [`value${i}`]: metric }, label, period: PERIOD }),
  );

/** The sum, and only this, of each of a function's metrics. */
export const sumsOf = (name: string, functions: readonly NodeFunction[]): Metric[] =>
  functions.map((fn) => fn.metric(name, { statistic: Stats.SUM, period: PERIOD, label: fn.title }));

/** The most executions of each function at the same time. */
export const executionsOf = (functions: readonly NodeFunction[]): Metric[] =>
  functions.map((fn) => fn.metric('ConcurrentExecutions', { statistic: Stats.MAXIMUM, period: PERIOD, label: fn.title }));

/** Draws API Gateway's requests by the class of their status. */
export const trafficOf = (host: string, stage: Stage): GraphWidget =>
  graph(`${host}: requests`, [
    labelled('All', stage.metricCount({ period: PERIOD })),
    labelled('4XX', stage.metricClientError({ statistic: Stats.SUM, period: PERIOD })),
    labelled('5XX', stage.metricServerError({ statistic: Stats.SUM, period: PERIOD })),
  ]);

export const latencyOf = (host: string, stage: Stage): GraphWidget =>
  graph(
    `${host}: duration of responses (ms)`,
    (['p50', 'p90', 'p99'] as const).map((statistic) => labelled(statistic, stage.metricLatency({ statistic, period: PERIOD }))),
  );

/** Adds the dashboard, which begins with the state of every alarm. @param rows two graphs in each */
export const addDashboard = (stack: Construct, id: string, name: string, alarms: readonly IAlarm[], rows: readonly IWidget[][]): void => {
  const states = new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: 2 * HALF, height: ALARM_ROWS });
  new Dashboard(stack, id, { dashboardName: name, widgets: [[states], ...rows] });
};
