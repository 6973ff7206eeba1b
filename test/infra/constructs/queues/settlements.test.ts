import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { templateOf } from '../../../support/assembly/templates.ts';

const serverless = templateOf('serverless');
const idOf = (type: string, prefix: string): string | undefined =>
  Object.keys(serverless.findResources(type)).find((id) => id.startsWith(prefix));
const queue = idOf('AWS::SQS::Queue', 'SettlementsQueue');
const failures = idOf('AWS::SQS::Queue', 'SettlementsFailures');
const metering = idOf('AWS::Lambda::Function', 'Metering');

describe('the queue of settlements', () => {
  test('keeps messages in order for 14 days, encrypted, and moves failures of a day to another queue', () => {
    const common = { FifoQueue: true, MessageRetentionPeriod: 14 * 86_400, SqsManagedSseEnabled: true };
    serverless.hasResourceProperties('AWS::SQS::Queue', {
      ...common,
      VisibilityTimeout: 300,
      RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': [failures, 'Arn'] }, maxReceiveCount: 300 },
    });
    serverless.hasResourceProperties('AWS::SQS::Queue', { ...common, RedrivePolicy: Match.absent() });
  });

  test("delivers to metering, which reports each failure, and again only after the function's longest run", () => {
    serverless.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: { 'Fn::GetAtt': [queue, 'Arn'] },
      FunctionName: { Ref: metering },
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 2 },
    });
    const { Properties } = Object.values(serverless.findResources('AWS::Lambda::Function')).find(
      (fn) => fn.Properties.Environment.Variables.SLUICE_FUNCTION === 'metering',
    ) as { Properties: { Timeout: number } };
    expect(Properties.Timeout).toBeLessThan(300);
  });

  test('takes messages from both inference functions and the sweep, each of which knows its URL', () => {
    for (const [stack, name, url] of [
      [serverless, 'inference', { Ref: queue }],
      [serverless, 'metering', { Ref: queue }],
      [templateOf('ondemand'), 'ondemand-inference', { 'Fn::ImportValue': Match.stringLikeRegexp('RefSettlementsQueue') }],
    ] as const)
      stack.hasResourceProperties('AWS::Lambda::Function', {
        Environment: { Variables: Match.objectLike({ SLUICE_FUNCTION: name, SETTLEMENTS_QUEUE: url }) },
      });
  });
});
