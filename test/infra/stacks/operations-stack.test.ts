import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { compileLogFilter, type LogLine } from '../../../infra/tools/cost/log-filter.ts';
import { type Minute, simulate } from '../../support/assembly/alarm-simulation.ts';
import { templateOf } from '../../support/assembly/templates.ts';

const operations = templateOf('operations');

test('alarms can publish to both of their topics', () => {
  operations.resourceCountIs('AWS::SNS::Topic', 2);
  for (const topic of Object.keys(operations.findResources('AWS::SNS::Topic')))
    operations.hasResourceProperties('AWS::SNS::TopicPolicy', {
      Topics: [{ Ref: topic }],
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Allow', Action: 'sns:Publish', Principal: { Service: 'cloudwatch.amazonaws.com' } }),
        ]),
      },
    });
});

describe('the alarms', () => {
  const source = (name: string) => ({ 'Fn::ImportValue': Match.stringLikeRegexp(name) });
  const bothInferences = ['sluice-serverless:.*RefInferenceLogs', 'sluice-ondemand:.*RefInferenceLogs'];
  const bothCatalogs = ['sluice-serverless:.*RefCatalogLogs', 'sluice-ondemand:.*RefCatalogLogs'];

  test.each([
    ['SettlementFailed', bothInferences],
    ['ContentLost', [...bothInferences, 'sluice-serverless:.*RefPayloadRedactionFunctionLogs']],
    ['RequestsRefused', bothInferences],
    ['ChargeInexact', bothInferences],
    [
      'UnhandledError',
      [
        ...bothInferences,
        ...bothCatalogs,
        'sluice-control:.*RefControlLogs',
        'sluice-control:.*RefSignInLogs',
        'sluice-control:.*RefMachineSignInLogs',
        'sluice-control:.*RefSingleSignOnLogs',
        'sluice-control:.*RefConsoleLogs',
      ],
    ],
  ])('%s counts the log lines of every function that can write them', (MetricName, logs) => {
    for (const log of logs)
      operations.hasResourceProperties('AWS::Logs::MetricFilter', {
        LogGroupName: source(log),
        MetricTransformations: [Match.objectLike({ MetricName })],
      });
    operations.resourcePropertiesCountIs(
      'AWS::Logs::MetricFilter',
      { MetricTransformations: [Match.objectLike({ MetricName })] },
      logs.length,
    );
  });

  const topicOf = (severity: string) =>
    Object.keys(operations.findResources('AWS::SNS::Topic')).find((id) => id.includes('Tickets') === (severity === 'ticket'));

  describe('SweepStalled', () => {
    const summed = (Id: string, MetricName: string, dimension: object) =>
      Match.objectLike({
        Id,
        MetricStat: { Metric: Match.objectLike({ MetricName, Dimensions: [dimension] }), Period: 1_800, Stat: 'Sum' },
        ReturnData: false,
      });

    test('compares the runs of the schedule with those that were dropped, and has no state before the first', () => {
      const topic = topicOf('page');
      operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmName: 'sluice-operations-SweepStalled',
        Metrics: Match.arrayWith([
          summed('runs', 'Invocations', { Name: 'RuleName', Value: source('sluice-serverless:.*RefSweepSchedule') }),
          summed('dropped', 'AsyncEventsDropped', { Name: 'FunctionName', Value: source('sluice-serverless:.*RefMetering') }),
        ]),
        EvaluationPeriods: 1,
        TreatMissingData: 'missing',
        AlarmActions: [{ Ref: topic }],
        InsufficientDataActions: [{ Ref: topic }],
      });
    });

    // A run in every fifth minute. Each is kept, or dropped so many minutes later.
    const runs = (each: readonly (number | 'kept')[]): Minute[] => {
      const minutes = Array.from({ length: each.length * 5 }, (_, i): { Invocations?: number; AsyncEventsDropped?: number } =>
        i % 5 === 0 ? { Invocations: 1 } : {},
      );
      for (const [i, after] of each.entries()) {
        const dropped = after === 'kept' ? undefined : minutes[i * 5 + after];
        if (dropped) dropped.AsyncEventsDropped = 1;
      }
      return minutes.map((metrics) => ({ metrics }));
    };
    const THROWS = 0;
    const TIMES_OUT = 4;
    const FINDS_NO_ENVIRONMENT = 6;
    const [hour, kept] = [12, 'kept' as const];
    const stateOf = (each: readonly (number | 'kept')[]): boolean[][] =>
      [true, false].map((fillsEmpty) => simulate(operations, 'SweepStalled', runs(each), { fillsEmpty }));

    test.each([
      ['throws', [THROWS]],
      ['times out', [TIMES_OUT]],
      ['finds no environment', [FINDS_NO_ENVIRONMENT]],
      ['finds no environment or throws, in turn', [FINDS_NO_ENVIRONMENT, THROWS]],
      ['finds no environment or times out', [FINDS_NO_ENVIRONMENT, FINDS_NO_ENVIRONMENT, TIMES_OUT]],
    ] as [string, number[]][])('goes off within 40 minutes if every run %s, and stays on', (_, failing) => {
      const failed = Array.from({ length: hour }, (__, i) => failing[i % failing.length] as number);
      for (const state of stateOf([...Array(hour).fill(kept), ...failed])) {
        expect(state.slice(0, 80)).not.toContain(true);
        expect(state.slice(100)).not.toContain(false);
      }
    });

    test('goes off when no run comes', () => {
      const silence = Array.from({ length: 40 }, (): Minute => ({}));
      const states = simulate(operations, 'SweepStalled', [...runs([kept, kept]), ...silence]);
      expect([states.slice(0, 35).includes(true), states.at(-1)]).toEqual([false, true]);
    });

    test.each([
      ['the first runs of a new installation throw', [THROWS, THROWS, THROWS, ...Array(hour).fill(kept)]],
      ['every other run throws', Array.from({ length: hour }, (_, i) => (i % 2 === 0 ? THROWS : kept))],
    ] as [string, (number | 'kept')[]][])('does not go off if %s', (_, each) => {
      for (const state of stateOf(each)) expect(state).not.toContain(true);
    });
  });

  test('TicketsStalled goes off if every run throws or none starts, and has no state before the first', () => {
    const topic = topicOf('ticket');
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-TicketsStalled',
      // The schedule alone runs this function, which writes 0 or 1 for each run.
      MetricName: 'Errors',
      Statistic: 'Average',
      Dimensions: [{ Name: 'FunctionName', Value: source('sluice-support:.*RefSupport') }],
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      Threshold: 1,
      Period: 300,
      EvaluationPeriods: 6,
      TreatMissingData: 'missing',
      AlarmActions: [{ Ref: topic }],
      InsufficientDataActions: [{ Ref: topic }],
    });
  });

  const filterOf = (MetricName: string): ((line: LogLine) => boolean) => {
    const metric = { MetricTransformations: [Match.objectLike({ MetricName, MetricValue: '1', DefaultValue: Match.absent() })] };
    const [filter] = Object.values(operations.findResources('AWS::Logs::MetricFilter', { Properties: metric }));
    return compileLogFilter(filter?.Properties.FilterPattern);
  };

  test('SweepLate goes off for sweeps that run, complete or not, and stay more than half an hour behind', () => {
    const counts = filterOf('SweepBehind');
    const line = { message: 'sweep', complete: false, behind_ms: 30 * 60_000 };
    expect([counts(line), counts({ ...line, behind_ms: line.behind_ms + 1 }), counts({ ...line, message: 'other' })]).toEqual([
      false,
      true,
      false,
    ]);
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-SweepLate',
      MetricName: 'SweepBehind',
      Threshold: 0,
    });
  });

  test.each(['first_response_overdue', 'resolution_overdue'])('TicketsLate goes off for %s, and is silent without', (field) => {
    const counts = filterOf('LateTicketsCounted');
    const line = { message: 'tickets_counted', first_response_overdue: 0, resolution_overdue: 0 };
    expect([counts(line), counts({ ...line, [field]: 1 }), counts({ message: 'tickets_not_counted' })]).toEqual([false, true, true]);
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-TicketsLate',
      MetricName: 'LateTicketsCounted',
      Threshold: 0,
    });
  });

  test.each(['is_capped', 'is_overcounted'])('ChargesInexact goes off for a request that %s', (field) => {
    const counts = filterOf('ChargeInexact');
    expect([counts({ message: 'request' }), counts({ message: 'request', [field]: true })]).toEqual([false, true]);
  });

  test('sets ReconcilerStalled off if deployments are not reconciled, while their instances keep running', () => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-ReconcilerStalled',
      MetricName: 'Invocations',
      Dimensions: [{ Name: 'FunctionName', Value: source('sluice-deployments:.*RefDeployments') }],
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      EvaluationPeriods: 6,
      TreatMissingData: 'missing',
      InsufficientDataActions: [{ Ref: Match.anyValue() }],
    });
  });

  test('DeploymentsFailed counts failures, and repeated calls that AWS rejects, that owners can’t fix', () => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-DeploymentsFailed',
      MetricName: 'DeploymentFailed',
      Threshold: 0,
      // Longer than any wait between two rejections, which is at most 15 minutes.
      Period: 20 * 60,
    });
    operations.hasResourceProperties('AWS::Logs::MetricFilter', {
      LogGroupName: source('sluice-deployments:.*RefDeploymentsLogs'),
      MetricTransformations: [Match.objectLike({ MetricName: 'DeploymentFailed' })],
    });
    const counts = filterOf('DeploymentFailed');
    const failed = { message: 'deployment_state', state: 'failed', reason: 'quota_exceeded' };
    const rejected = { message: 'aws_call_rejected', call: 'register_scaling', is_repeated: true, reason: 'access_denied' };
    expect([failed, { ...failed, state: 'stopped' }, { ...failed, reason: 'weights_unreadable' }].map(counts)).toEqual([
      true,
      false,
      false,
    ]);
    // A creation that is rejected fails the deployment.
    expect([rejected, { ...rejected, reason: 'weights_unreadable' }, { ...rejected, is_repeated: false }].map(counts)).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('GpuTimeUncharged counts GPU time without a price, and without credit to pay for it', () => {
    operations.hasResourceProperties('AWS::Logs::MetricFilter', {
      LogGroupName: source('sluice-deployments:.*RefDeploymentsLogs'),
      FilterPattern: Match.stringLikeRegexp('gpu_time_unpriced.*gpu_time_unpaid.*gpu_time_not_metered'),
      MetricTransformations: [Match.objectLike({ MetricName: 'GpuTimeNotCharged' })],
    });
  });

  test('ReconciliationsStuck goes off for the first deployment whose reconciliation fails to the end', () => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-ReconciliationsStuck',
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: source('sluice-deployments:.*ReconciliationsFailures') }],
      Threshold: 0,
    });
  });

  test.each(['response_not_kept', 'payload_log_failed', 'queued_payload_gone'])(
    'ContentNotKept goes off for the first line %s',
    (message) => {
      expect([filterOf('ContentLost')({ message }), filterOf('ContentLost')({ message: 'request' })]).toEqual([true, false]);
      operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmName: 'sluice-operations-ContentNotKept',
        MetricName: 'ContentLost',
        Statistic: 'Sum',
        Threshold: 0,
      });
    },
  );

  test('sets PayloadsLate off when content has waited an hour for redaction, long before it is deleted', () => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-PayloadsLate',
      MetricName: 'ApproximateAgeOfOldestMessage',
      Dimensions: [{ Name: 'QueueName', Value: source('sluice-serverless:.*PayloadRedactionPayloadsQueue') }],
      Threshold: 3_600,
    });
  });

  test('PayloadsStuck goes off for the first content that was given up', () => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-PayloadsStuck',
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: source('sluice-serverless:.*PayloadRedactionPayloadsFailures') }],
      Threshold: 0,
    });
  });

  test('MonthsNotClosed goes off if a month could be closed at 01:00 and is open at 06:00', () => {
    operations.hasResourceProperties('AWS::Logs::MetricFilter', {
      LogGroupName: source('sluice-billing:.*RefBillingLogs'),
      FilterPattern: '{ $.message = "months_due" }',
      MetricTransformations: [Match.objectLike({ MetricName: 'MonthsLateMinutes', MetricValue: '$.late_minutes' })],
    });
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-MonthsNotClosed',
      MetricName: 'MonthsLateMinutes',
      Statistic: 'Maximum',
      Threshold: 300,
      Period: 3_600,
    });
  });

  test('TotalsDiffer goes off for the first difference between events and totals', () => {
    operations.hasResourceProperties('AWS::Logs::MetricFilter', {
      LogGroupName: source('sluice-billing:.*RefBillingLogs'),
      FilterPattern: '{ $.message = "totals_differ" }',
      MetricTransformations: [Match.objectLike({ MetricName: 'TotalsDiffering' })],
    });
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-TotalsDiffer',
      MetricName: 'TotalsDiffering',
      Threshold: 0,
    });
  });

  test('BillingStalled reports that the schedule does not run, whatever tasks do', () => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-BillingStalled',
      Namespace: 'AWS/Events',
      MetricName: 'Invocations',
      Dimensions: [{ Name: 'RuleName', Value: source('sluice-billing:.*RefSchedule') }],
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      Period: 3_600,
      EvaluationPeriods: 3,
      TreatMissingData: 'missing',
      InsufficientDataActions: [{ Ref: Match.anyValue() }],
    });
  });

  test.each([
    ['BillingTasksStuck', 'sluice-billing:.*BillingTasksFailures'],
    ['DeliveriesStuck', 'sluice-notifications:.*DeliveriesFailures'],
  ])('%s goes off for the first message that failed to the end', (alarm, queue) => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: `sluice-operations-${alarm}`,
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: source(queue) }],
      Threshold: 0,
    });
  });

  test.each([
    ['BillingFailed', 'Errors', 'sluice-billing:.*RefBilling'],
    ['NotificationsLate', 'IteratorAge', 'sluice-notifications:.*RefNotifications'],
  ])('%s watches the metric %s of its function', (alarm, MetricName, fn) => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: `sluice-operations-${alarm}`,
      MetricName,
      Dimensions: [{ Name: 'FunctionName', Value: source(fn) }],
    });
  });

  test.each(['Control plane: executions', 'Control plane: function errors', 'Functions that could not start'])(
    'draws every function that signs callers in under %s',
    (title) => {
      const [dashboard] = Object.values(operations.findResources('AWS::CloudWatch::Dashboard'));
      const graph = JSON.stringify(dashboard?.Properties)
        .split('"title')
        .find((text) => text.includes(title));
      for (const fn of ['SignIn', 'MachineSignIn', 'SingleSignOn']) expect(graph).toMatch(new RegExp(`sluice-control:[^"]*Ref${fn}`));
    },
  );

  test('have 46 metrics at most, of which each costs ten cents a month', () => {
    const metrics = Object.values(operations.findResources('AWS::CloudWatch::Alarm')).flatMap(
      ({ Properties }) => Properties.Metrics?.filter(({ MetricStat }: { MetricStat?: unknown }) => MetricStat) ?? [Properties.MetricName],
    );
    expect(metrics.length).toBeLessThanOrEqual(46);
  });

  test('no alarm is in alarm when it is created, because none takes missing data for a problem', () => {
    for (const { Properties } of Object.values(operations.findResources('AWS::CloudWatch::Alarm')))
      expect(['notBreaching', 'missing']).toContain(Properties.TreatMissingData);
  });

  describe.each([
    ['HostUnavailable', 'sluice-serverless', ['deployment_waking', 'deployment_not_ready']],
    ['OndemandUnavailable', 'sluice-ondemand', ['deployment_waking', 'deployment_not_ready', 'no_capacity']],
  ])('%s', (name, host, excused) => {
    const refused = (code: string) => ({ message: 'refused', status: 503, code });
    const goesOff = (failing: Minute): boolean[] =>
      [true, false].map((fillsEmpty) =>
        simulate(
          operations,
          name,
          Array.from({ length: 10 }, () => failing),
          { fillsEmpty },
        ).some(Boolean),
      );

    test(`counts the responses of ${host}`, () => {
      const { Metrics = [], Threshold } =
        Object.values(operations.findResources('AWS::CloudWatch::Alarm')).find(
          ({ Properties }) => Properties.AlarmName === `sluice-operations-${name}`,
        )?.Properties ?? {};
      expect(Metrics.find(({ Id }: { Id: string }) => Id === 'errors').MetricStat).toMatchObject({
        Metric: { MetricName: '5XXError', Dimensions: expect.arrayContaining([{ Name: 'ApiName', Value: host }]) },
        Period: 300,
      });
      expect(Threshold).toBe(5);
    });

    test.each([
      ['its containers fail', { lines: [[refused('upstream_error'), 2]] }],
      ['its function can’t start, and writes no line', {}],
    ] as [string, Minute][])('goes off when %s', (_, minute) => {
      expect(goesOff({ ...minute, metrics: { '5XXError': 2 } })).toEqual([true, true]);
    });

    test.each(excused)('does not go off because of %s', (code) => {
      expect(goesOff({ lines: [[refused(code), 30]], metrics: { '5XXError': 30 } })).toEqual([false, false]);
    });
  });

  test('HostUnavailable goes off for a shared model without capacity, which only operators can add', () => {
    const full: Minute = { lines: [[{ message: 'refused', status: 503, code: 'no_capacity' }, 2]], metrics: { '5XXError': 2 } };
    expect(simulate(operations, 'HostUnavailable', Array(10).fill(full))).toContain(true);
  });
});
