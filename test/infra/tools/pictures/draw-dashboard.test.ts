import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { drawDashboard } from '../../../../infra/tools/pictures/dashboards/draw-dashboard.ts';
import { readDashboards, shownIn, type Widget } from '../../../../infra/tools/pictures/dashboards/read-dashboards.ts';
import { sampleValues } from '../../../../infra/tools/pictures/dashboards/sample-data.ts';
import { assemblyDir } from '../../../support/assembly/assembly.ts';
import { templateOf } from '../../../support/assembly/templates.ts';

const dashboards = readDashboards(path.join(assemblyDir(), 'sluice-operations.template.json'));
const widgetsOf = (host: string): Widget[] => dashboards.find(({ name }) => name === `sluice-${host}`)?.widgets ?? [];
const titlesOf = (host: string): string[] => widgetsOf(host).map(({ properties }) => properties.title);

test('each host has a dashboard', () => {
  expect(dashboards.map(({ name }) => name)).toEqual(['sluice-control', 'sluice-ondemand', 'sluice-serverless']);
});

describe.each(['serverless', 'ondemand'])('the dashboard of the %s host', (host) => {
  test('shows traffic, failures, first tokens, cost and the contention of limiters', () => {
    expect(titlesOf(host)).toEqual(
      expect.arrayContaining([
        ...[
          'Alarms',
          'Requests',
          'Failures',
          'Misses of the objectives (%)',
          'Time to first token (ms)',
          'Cost of a thousand requests ($)',
        ],
        ...['Limiters', 'Tokens', 'Executions'],
      ]),
    );
  });

  test('shows the metrics of its own host only', () => {
    const own = host === 'serverless' ? 'Serverless' : 'Ondemand';
    const metrics = widgetsOf(host).flatMap(({ properties }) => properties.metrics ?? []);
    const ofHosts = metrics.map(([, name]) => String(name)).filter((name) => /^(?:Serverless|Ondemand)/.test(name));
    expect(ofHosts.length).toBeGreaterThan(10);
    for (const name of ofHosts) expect(name).toMatch(new RegExp(`^${own}`));
  });
});

test("draws sweep and streams on the serverless dashboard, and deployments' states on the on-demand one", () => {
  expect(titlesOf('serverless')).toEqual(expect.arrayContaining(['Sweep: behind (minutes)', 'Streams: age of the oldest record (s)']));
  const [states] = widgetsOf('ondemand').filter(({ properties }) => properties.title === 'Deployments by state');
  const labels = states ? shownIn(states).map(({ label }) => label) : [];
  expect(labels).toEqual(expect.arrayContaining(['in_service', 'waking', 'scaled_to_zero', 'failed', 'stopped']));
  expect(labels).not.toContain('deleted');
});

test('a thousand requests cost a thousand times the average of the charges, in dollars', () => {
  const [cost] = widgetsOf('serverless').filter(({ properties }) => properties.title.startsWith('Cost'));
  expect(cost?.properties.metrics).toEqual([
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

test('each dashboard begins with the state of every alarm that notifies', () => {
  const template = templateOf('operations');
  const alarms = ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::CompositeAlarm'].flatMap((type) =>
    Object.entries(template.findResources(type)),
  );
  const notifying = alarms.filter(([, { Properties }]) => Properties.AlarmActions).map(([id]) => id);
  for (const { widgets } of dashboards) expect(widgets[0]?.properties.alarms?.toSorted()).toEqual(notifying.toSorted());
});

describe('the picture of a dashboard', () => {
  const pictures = dashboards.map((dashboard) => ({ dashboard, svg: drawDashboard(dashboard) }));

  test('draws a line or an area for each series, with scales and hours', () => {
    for (const { dashboard, svg } of pictures) {
      const graphs = dashboard.widgets.filter(({ type }) => type === 'metric');
      const series = graphs.flatMap(shownIn);
      expect(svg.match(/<poly(line|gon) /g)).toHaveLength(series.length);
      expect(svg.match(/>12:00</g)).toHaveLength(graphs.length);
    }
  });

  test('has values in every graph, which are named as samples', () => {
    for (const { dashboard, svg } of pictures) {
      expect(svg).toContain('>sample data<');
      for (const widget of dashboard.widgets.filter(({ type }) => type === 'metric')) {
        const values = shownIn(widget).flatMap(({ label }) => sampleValues(dashboard.name, widget.properties.title, label));
        expect({ title: widget.properties.title, hasValues: Math.max(...values) > 0 }).toMatchObject({ hasValues: true });
      }
    }
  });

  test('is refused for a series without sample values', () => {
    expect(() => sampleValues('sluice-serverless', 'Requests', '6XX')).toThrow("Add sample values of '6XX' in 'Requests'");
  });
});

test.each(dashboards)('docs/images has the current picture of $name; if not, run npm run synth && npm run pictures', (dashboard) => {
  const file = path.join(import.meta.dirname, `../../../../docs/images/dashboard-${dashboard.name}.svg`);
  expect(readFileSync(file, 'utf8')).toBe(drawDashboard(dashboard));
});
