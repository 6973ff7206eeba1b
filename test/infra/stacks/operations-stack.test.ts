import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { compileLogFilter } from '../../../infra/tools/cost/log-filter.ts';
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
    ['ResponseNotKept', bothInferences],
    ['PayloadLogFailed', [...bothInferences, 'sluice-serverless:.*RefPayloadRedactionFunctionLogs']],
    ['RequestsRefused', bothInferences],
    ['RequestOvercounted', bothInferences],
    ['ChargeCapped', bothInferences],
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

  test('InferenceThrottled covers both hosts, even if one of them has no requests', () => {
    const of = (stack: string) =>
      Match.objectLike({
        MetricStat: {
          Metric: Match.objectLike({
            MetricName: 'Throttles',
            Dimensions: [{ Name: 'FunctionName', Value: source(`${stack}:.*RefInference`) }],
          }),
          Period: 300,
          Stat: 'Sum',
        },
        ReturnData: false,
      });
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-InferenceThrottled',
      Metrics: [Match.objectLike({ Expression: 'SUM([FILL(m1, 0), FILL(m2, 0)])' }), of('sluice-serverless'), of('sluice-ondemand')],
    });
  });

  test('gives SweepStalled no state before the first sweep, and sets it off for missing and endless sweeps', () => {
    // Every log line of the function counts as 0 completed sweeps, so only a function that does not run has no data.
    operations.hasResourceProperties('AWS::Logs::MetricFilter', {
      MetricTransformations: [Match.objectLike({ MetricName: 'SweepCompleted', MetricValue: '1', DefaultValue: 0 })],
    });
    const topic = Object.keys(operations.findResources('AWS::SNS::Topic')).find((id) => !id.includes('Tickets'));
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-SweepStalled',
      MetricName: 'SweepCompleted',
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      EvaluationPeriods: 6,
      TreatMissingData: 'missing',
      AlarmActions: [{ Ref: topic }],
      InsufficientDataActions: [{ Ref: topic }],
    });
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

  test('DeploymentsFailed counts only failures that owners can’t fix', () => {
    operations.hasResourceProperties('AWS::Logs::MetricFilter', {
      LogGroupName: source('sluice-deployments:.*RefDeploymentsLogs'),
      FilterPattern: Match.stringLikeRegexp('deployment_state.*failed.*quota_exceeded.*access_denied'),
      MetricTransformations: [Match.objectLike({ MetricName: 'DeploymentFailed' })],
    });
  });

  test('sets DeploymentCallsRejected off while a repeated call is rejected for a reason owners can’t fix', () => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-DeploymentCallsRejected',
      MetricName: 'DeploymentCallRejected',
      Threshold: 0,
      // Longer than any wait between two of them, which is at most 15 minutes.
      Period: 20 * 60,
    });
    const metric = { MetricTransformations: [Match.objectLike({ MetricName: 'DeploymentCallRejected' })] };
    const [filter] = Object.values(operations.findResources('AWS::Logs::MetricFilter', { Properties: metric }));
    expect(JSON.stringify(filter?.Properties.LogGroupName)).toMatch('RefDeploymentsLogs');
    const counts = compileLogFilter(filter?.Properties.FilterPattern);
    const line = { message: 'aws_call_rejected', call: 'register_scaling', is_repeated: true, reason: 'access_denied' };
    expect([
      counts(line),
      counts({ ...line, reason: 'weights_unreadable' }),
      // A creation that is rejected fails the deployment.
      counts({ ...line, is_repeated: false }),
    ]).toEqual([true, false, false]);
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

  test('PayloadsNotLogged goes off for the first payload that is lost', () => {
    operations.hasResourceProperties('AWS::Logs::MetricFilter', {
      FilterPattern: '{ ($.message = "payload_log_failed") || ($.message = "queued_payload_gone") }',
      MetricTransformations: [Match.objectLike({ MetricName: 'PayloadLogFailed', MetricValue: '1' })],
    });
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-PayloadsNotLogged',
      MetricName: 'PayloadLogFailed',
      Statistic: 'Sum',
      Threshold: 0,
    });
  });

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

  test('BillingStalled reports that nothing looks for what is due', () => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'sluice-operations-BillingStalled',
      MetricName: 'DueTasksSent',
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
    ['NotificationsFailed', 'sluice-notifications:.*OutboxFailures'],
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
    ['BillingThrottled', 'Throttles', 'sluice-billing:.*RefBilling'],
    ['NotificationsLate', 'IteratorAge', 'sluice-notifications:.*RefNotifications'],
    ['SignInThrottled', 'Throttles', 'sluice-control:.*RefSignIn'],
    ['MachineSignInThrottled', 'Throttles', 'sluice-control:.*RefMachineSignIn'],
    ['SingleSignOnThrottled', 'Throttles', 'sluice-control:.*RefSingleSignOn'],
  ])('%s watches the metric %s of its function', (alarm, MetricName, fn) => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: `sluice-operations-${alarm}`,
      MetricName,
      Dimensions: [{ Name: 'FunctionName', Value: source(fn) }],
    });
  });

  test.each(['Executions', 'Function errors'])('draws every function that signs callers in under %s', (title) => {
    const dashboard = Object.values(operations.findResources('AWS::CloudWatch::Dashboard')).map(({ Properties }) =>
      JSON.stringify(Properties),
    );
    const [control] = dashboard.filter((text) => text.includes('sluice-control"'));
    const graph = control?.split('"title').find((text) => text.includes(title));
    for (const fn of ['SignIn', 'MachineSignIn', 'SingleSignOn']) expect(graph).toMatch(new RegExp(`sluice-control:[^"]*Ref${fn}`));
  });

  test('no alarm is in alarm when it is created, because none takes missing data for a problem', () => {
    for (const { Properties } of Object.values(operations.findResources('AWS::CloudWatch::Alarm')))
      expect(['notBreaching', 'missing']).toContain(Properties.TreatMissingData);
  });

  test.each([
    ['HostUnavailable', 'sluice-serverless'],
    ['OndemandUnavailable', 'sluice-ondemand'],
  ])('%s goes off when %s returns more than five 5XX responses in five minutes', (alarm, api) => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: `sluice-operations-${alarm}`,
      MetricName: '5XXError',
      Dimensions: Match.arrayWith([{ Name: 'ApiName', Value: api }]),
      Threshold: 5,
      Period: 300,
    });
  });
});
