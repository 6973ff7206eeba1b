import { readFileSync } from 'node:fs';

// Namespace, name and dimensions, or none of these for an expression, then the display options.
type ShownMetric = [...string[], { label?: string; expression?: string; visible?: boolean; yAxis?: 'left' | 'right' }];

/**
 * Part of a dashboard, in a grid of 24 columns.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
 */
export interface Widget {
  type: 'metric' | 'log' | 'alarm';
  x: number;
  y: number;
  width: number;
  height: number;
  properties: {
    title: string;
    alarms?: string[];
    metrics?: ShownMetric[];
    /** The query of log lines. */
    query?: string;
    stacked?: boolean;
    annotations?: { horizontal?: { label: string; value: number }[] };
  };
}

export interface SynthesizedDashboard {
  name: string;
  widgets: Widget[];
}

// The name in a reference, such as the logical id of an alarm.
const nameOf = (reference: Record<string, unknown>): string => String(Object.values(reference).flat()[0]);

// References become names.
const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const { 'Fn::Join': join, ...reference } = value as { 'Fn::Join'?: [string, unknown[]] };
  return join ? join[1].map(textOf).join(join[0]) : nameOf(reference);
};

/**
 * The dashboards of a synthesized template, in the order of their names. @param file the template of the stack
 * `operations`
 */
export const readDashboards = (file: string): SynthesizedDashboard[] => {
  const { Resources } = JSON.parse(readFileSync(file, 'utf8')) as {
    Resources: Record<string, { Type: string; Properties: { DashboardName: unknown; DashboardBody: unknown } }>;
  };
  return Object.values(Resources)
    .filter(({ Type }) => Type === 'AWS::CloudWatch::Dashboard')
    .map(({ Properties: { DashboardName, DashboardBody } }) => ({
      name: textOf(DashboardName),
      widgets: JSON.parse(textOf(DashboardBody)).widgets as Widget[],
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
};

interface Shown {
  label: string;
  isRight: boolean;
}

/** The series that a graph shows, with what the legend says and on which axis they are. */
export const shownIn = ({ properties: { metrics = [], query = '' } }: Widget): Shown[] => [
  ...[...query.matchAll(/ as `([^`]+)`/g)].map(([, label = '']) => ({ label, isRight: false })),
  ...metrics.flatMap((metric) => {
    const shown = metric.at(-1);
    const options = typeof shown === 'object' ? shown : {};
    if (options.visible === false) return [];
    return [{ label: options.label ?? String(metric[1]), isRight: options.yAxis === 'right' }];
  }),
];
