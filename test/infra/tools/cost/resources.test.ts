import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Template } from 'aws-cdk-lib/assertions';
import { type Resource, readAssembly, type Stack } from '../../../../infra/assembly/read-assembly.ts';
import { linesAtRest, linesOnce } from '../../../../infra/tools/cost/at-rest.ts';
import { costNanos, totalNanos } from '../../../../infra/tools/cost/line.ts';
import { type Resources, readResources } from '../../../../infra/tools/cost/resources.ts';
import { assemblyDir } from '../../../support/assembly/assembly.ts';
import { stackNames, templateOf } from '../../../support/assembly/templates.ts';
import { EVERY_RESOURCE, NO_RESOURCES } from './resources-fixture.ts';

const NOTHING_STORED = { storedGb: 0n };

let stacks: Stack[];
let resources: Resources;
beforeAll(async () => {
  stacks = await readAssembly(assemblyDir());
  resources = readResources(stacks);
});

const found = (type: string): ReturnType<Template['findResources']>[string][] =>
  stackNames.flatMap((name) => Object.values(templateOf(name).findResources(type)));

const withOneMoreOperationsResource = (resource: Resource): Stack[] =>
  stacks.map((stack) =>
    stack.name === 'sluice-operations' ? { ...stack, resources: new Map([...stack.resources, ['OneMore', resource]]) } : stack,
  );

describe('what is billed at rest is counted in the templates', () => {
  test('alarms, dashboards and the metrics of log lines', () => {
    const alarms = found('AWS::CloudWatch::Alarm').map(({ Properties }) => JSON.stringify(Properties));
    const metrics = alarms.reduce((sum, alarm) => sum + (alarm.match(/"MetricStat"/g)?.length ?? 1), 0);
    expect(alarms.length).toBeGreaterThan(30);
    expect(resources.alarmMetrics).toEqual({ ofOperations: metrics, ofReleases: 0 });
    expect(resources.dashboards).toBe(found('AWS::CloudWatch::Dashboard').length);
    const names = new Set(found('AWS::Logs::MetricFilter').map(({ Properties }) => Properties.MetricTransformations[0].MetricName));
    expect(resources.metrics.atRest).toBe(0);
    expect(resources.metrics.ofRequests).toBeLessThan(names.size);
  });

  test('schedules and the queues that Lambda polls', () => {
    const rules = found('AWS::Events::Rule').filter(({ Properties }) => Properties.ScheduleExpression);
    expect(resources.schedules).toHaveLength(rules.length);
    const sources = found('AWS::Lambda::EventSourceMapping').filter(({ Properties }) => !Properties.StartingPosition);
    expect(resources.polledQueues.standard + resources.polledQueues.fifo).toBe(sources.length);
    expect(resources.recoverableTables).toBe(found('AWS::DynamoDB::GlobalTable').length);
  });

  test('memory, as the functions have it', () => {
    for (const { Properties } of found('AWS::Lambda::Function'))
      expect(resources.memoryMb[Properties.Environment.Variables.SLUICE_FUNCTION]).toBe(Properties.MemorySize);
  });

  test('a new alarm on one metric costs ten cents more, and one on a formula of two metrics twenty', () => {
    const cost = (more: Stack[]): bigint => totalNanos(linesAtRest(readResources(more), NOTHING_STORED));
    const before = cost(stacks);
    const alarm = (properties: object): Resource => ({ type: 'AWS::CloudWatch::Alarm', properties: { ...properties } });
    expect(cost(withOneMoreOperationsResource(alarm({ MetricName: 'Errors' })))).toBe(before + 100_000_000n);
    const metrics = [{ Expression: 'a / b' }, { MetricStat: {} }, { MetricStat: {} }];
    expect(cost(withOneMoreOperationsResource(alarm({ Metrics: metrics })))).toBe(before + 200_000_000n);
  });

  test('a new dashboard costs three dollars more', () => {
    expect(readResources(withOneMoreOperationsResource({ type: 'AWS::CloudWatch::Dashboard', properties: {} })).dashboards).toBe(
      resources.dashboards + 1,
    );
  });

  test('a schedule of a function that was not measured asks to be measured', () => {
    const schedules = [{ function: 'rollup', memoryMb: 1_769, seconds: 60 }];
    expect(() => linesAtRest({ ...NO_RESOURCES, schedules }, NOTHING_STORED)).toThrow("no measurements for 'rollup'");
  });

  test('without a sampling rule of X-Ray, the model asks to be changed', () => {
    const without = stacks.map((stack) => ({
      ...stack,
      resources: new Map([...stack.resources].filter(([, { type }]) => type !== 'AWS::XRay::SamplingRule')),
    }));
    expect(() => readResources(without)).toThrow('The templates have no sampling rule of X-Ray');
  });
});

test('warm throughput costs once what its units cost', () => {
  const [writes, reads, ...others] = linesOnce({ ...NO_RESOURCES, warmUnits: { writes: 10_000, reads: 1_000 } });
  expect(others).toEqual([]);
  expect([writes, reads].map((line) => line && costNanos(line))).toEqual([6_500_000_000n, 130_000_000n]);
});

describe('a month at rest', () => {
  test('costs what is computed by hand', () => {
    const lines = linesAtRest(EVERY_RESOURCE, { storedGb: 10n });
    const cost = (price: string): bigint => lines.filter((line) => line.price === price).reduce((sum, line) => sum + costNanos(line), 0n);
    expect(cost('alarmMetric')).toBe(200_000_000n);
    expect(cost('dashboard')).toBe(3_000_000_000n);
    expect(cost('customMetric')).toBe(300_000_000n);
    expect(cost('kmsKey')).toBe(1_000_000_000n);
    expect(cost('firewallList') + cost('firewallRule')).toBe(6_000_000_000n);
    expect(cost('secret')).toBe(400_000_000n);
    expect(cost('dynamoStorage')).toBe(2_500_000_000n);
    expect(cost('dynamoRecovery')).toBe(2_000_000_000n);
    // A quarter of a GB for 730 hours: 657,000 GB-seconds at $3.3334 a million.
    expect(cost('lambdaProvisionedGbSecond')).toBe(2_190_043_800n);
    // 8,760 runs of 300 ms: 657 GB-seconds; 12.5 read units and a third of a write unit each.
    expect(cost('lambdaRequest')).toBe(1_752_000n);
    expect(cost('lambdaGbSecond')).toBe(8_760_044n);
    expect(cost('dynamoRead')).toBe(13_687_500n);
    expect(cost('dynamoWrite')).toBe(1_823_175n);
    // Five polls every 20 seconds: 657,000 a month.
    expect(cost('sqsStandard')).toBe(262_800_000n);
    expect(cost('sqsFifo')).toBe(328_500_000n);
  });

  test('costs nothing if there is nothing', () => {
    expect(linesAtRest(NO_RESOURCES, NOTHING_STORED)).toEqual([]);
    expect(linesOnce(NO_RESOURCES)).toEqual([]);
  });

  test('says for each line how it is brought to zero', () => {
    for (const { toZero } of linesAtRest(EVERY_RESOURCE, { storedGb: 1n })) expect(toZero).toMatch(/\w{2}/);
  });

  test('is cheaper without the stack of operations, which no other stack needs', () => {
    const imports = stackNames
      .filter((name) => name !== 'operations')
      .filter((name) => JSON.stringify(templateOf(name).toJSON()).includes('sluice-operations'));
    expect(imports).toEqual([]);
  });
});
