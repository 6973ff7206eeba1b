import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { drawDashboard } from '../../../../infra/tools/pictures/dashboards/draw-dashboard.ts';
import { readDashboards, shownIn, type Widget } from '../../../../infra/tools/pictures/dashboards/read-dashboards.ts';
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

test('sweep and streams are on the serverless dashboard, and every state of deployments is on the on-demand one', () => {
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

test.each(dashboards)('docs/images has the current picture of $name; if not, run npm run synth && npm run pictures', (dashboard) => {
  const file = path.join(import.meta.dirname, `../../../docs/images/dashboard-${dashboard.name}.svg`);
  expect(readFileSync(file, 'utf8')).toBe(drawDashboard(dashboard));
});
