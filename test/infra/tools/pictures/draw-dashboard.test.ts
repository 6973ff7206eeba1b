import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { drawDashboard } from '../../../../infra/tools/pictures/dashboards/draw-dashboard.ts';
import {
  readDashboards,
  type SynthesizedDashboard,
  shownIn,
  type Widget,
} from '../../../../infra/tools/pictures/dashboards/read-dashboards.ts';
import { sampleValues } from '../../../../infra/tools/pictures/dashboards/sample-data.ts';
import { assemblyDir } from '../../../support/assembly/assembly.ts';
import { templateOf } from '../../../support/assembly/templates.ts';

const dashboards = readDashboards(path.join(assemblyDir(), 'sluice-operations.template.json'));
const [dashboard] = dashboards as [SynthesizedDashboard];
const widgetOf = (title: string): Widget => {
  const found = dashboard.widgets.find(({ properties }) => properties.title === title);
  if (!found) throw new Error(`The dashboard has no ${title}.`);
  return found;
};
const titles = dashboard.widgets.map(({ properties }) => properties.title);

test('there is one dashboard, because each costs three dollars a month', () => {
  expect(dashboards.map(({ name }) => name)).toEqual(['sluice']);
});

test('the dashboard has the number of metrics for which AWS gives no allowance, as the cost model says', () => {
  expect(dashboard.widgets.flatMap(({ properties }) => properties.metrics ?? []).length).toBeGreaterThan(50);
});

test('every graph has a title of its own', () => {
  expect(titles.filter((title, i) => titles.indexOf(title) !== i)).toEqual([]);
});

describe.each([
  ['Serverless', 'Serverless'],
  ['On-demand', 'Ondemand'],
])('the part of the host %s', (host, prefix) => {
  test('shows traffic, failures, first tokens, cost and the contention of limiters', () => {
    expect(titles).toEqual(
      expect.arrayContaining(
        [
          ...['requests', 'failures', 'misses of the objectives (%)', 'time to first token (ms)', 'cost of a thousand requests ($)'],
          ...['limiters', 'tokens', 'executions'],
        ].map((title) => `${host}: ${title}`),
      ),
    );
  });

  test('shows the metrics of that host only', () => {
    const widgets = dashboard.widgets.filter(({ properties }) => properties.title.startsWith(`${host}: `));
    const metrics = widgets.flatMap(({ properties }) => properties.metrics ?? []);
    const ofHosts = metrics.map(([, name]) => String(name)).filter((name) => /^(?:Serverless|Ondemand)/.test(name));
    expect(ofHosts.length).toBeGreaterThan(10);
    for (const name of ofHosts) expect(name).toMatch(new RegExp(`^${prefix}`));
  });
});

test("sweep, tickets and deployments' states are read from log lines, which cost nothing at rest", () => {
  const ofLines = dashboard.widgets.filter(({ type }) => type === 'log').map(({ properties }) => properties.title);
  expect(ofLines).toEqual(['Deployments by state', 'Tickets by status', 'Tickets that are late', 'How far the sweep is behind (ms)']);
  const labels = shownIn(widgetOf('Deployments by state')).map(({ label }) => label);
  expect(labels).toEqual(expect.arrayContaining(['in_service', 'waking', 'scaled_to_zero', 'failed', 'stopped']));
  expect(labels).not.toContain('deleted');
  const { query } = widgetOf('Tickets that are late').properties;
  expect(query).toMatch(
    /^SOURCE '\S+' \| filter message = "tickets_counted"\n\| stats max\(first_response_overdue\) as `First response`, max\(resolution_overdue\) as `Resolution` by bin\(5m\)$/,
  );
});

test('a thousand requests cost a thousand times the average of the charges, in dollars', () => {
  expect(widgetOf('Serverless: cost of a thousand requests ($)').properties.metrics).toEqual([
    [{ label: 'Charged to callers', expression: 'nanos * 1000 / 1000000000' }],
    ['sluice', 'ServerlessCostNanos', expect.objectContaining({ id: 'nanos', visible: false })],
  ]);
});

test('every metric of our own that a dashboard shows comes from a log line', () => {
  const made = Object.values(templateOf('operations').findResources('AWS::Logs::MetricFilter')).flatMap(({ Properties }) =>
    Properties.MetricTransformations.map(({ MetricName }: { MetricName: string }) => MetricName),
  );
  const shown = dashboards.flatMap(({ widgets }) => widgets.flatMap(({ properties }) => properties.metrics ?? []));
  const own = shown.filter(([namespace]) => namespace === 'sluice').map(([, name]) => name);
  expect(own.length).toBeGreaterThan(20);
  expect(made).toEqual(expect.arrayContaining(own));
});

test('the dashboard begins with the state of every alarm that notifies', () => {
  const template = templateOf('operations');
  const alarms = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
  const notifying = alarms.filter(([, { Properties }]) => Properties.AlarmActions).map(([id]) => id);
  expect(dashboard.widgets[0]?.properties.alarms?.toSorted()).toEqual(notifying.toSorted());
});

describe('the picture of the dashboard', () => {
  const svg = drawDashboard(dashboard);

  test('draws a line or an area for each series, with scales and hours', () => {
    const graphs = dashboard.widgets.filter(({ type }) => type !== 'alarm');
    const series = graphs.flatMap(shownIn);
    expect(svg.match(/<poly(line|gon) /g)).toHaveLength(series.length);
    expect(svg.match(/>12:00</g)).toHaveLength(graphs.length);
  });

  test('has values in every graph, which are named as samples', () => {
    expect(svg).toContain('>sample data<');
    for (const widget of dashboard.widgets.filter(({ type }) => type !== 'alarm')) {
      const values = shownIn(widget).flatMap(({ label }) => sampleValues(widget.properties.title, label));
      expect({ title: widget.properties.title, hasValues: Math.max(...values) > 0 }).toMatchObject({ hasValues: true });
    }
  });

  test('is refused for a series without sample values', () => {
    expect(() => sampleValues('Serverless: requests', '6XX')).toThrow("Add sample values of '6XX' in 'Serverless: requests'");
  });
});

test('docs/images has the current picture; if not, run npm run synth && npm run pictures', () => {
  const file = path.join(import.meta.dirname, '../../../../docs/images/dashboard-sluice.svg');
  expect(readFileSync(file, 'utf8')).toBe(drawDashboard(dashboard));
});
