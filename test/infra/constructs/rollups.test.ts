import { describe, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { templateOf } from '../../support/templates.ts';

const data = templateOf('data');
const serverless = templateOf('serverless');

describe('the serverless host', () => {
  describe('rolls usage events up', () => {
    test('as batches of new events alone, in halves after a failure, until an operator is told', () => {
      const [[queueId] = []] = Object.entries(serverless.findResources('AWS::SQS::Queue'));
      serverless.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
        EventSourceArn: { 'Fn::ImportValue': Match.stringLikeRegexp('UsageStreamArn') },
        StartingPosition: 'TRIM_HORIZON',
        BatchSize: 10_000,
        MaximumBatchingWindowInSeconds: 60,
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: 100,
        MaximumRecordAgeInSeconds: 6 * 3_600,
        DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': [queueId, 'Arn'] } } },
        FilterCriteria: {
          Filters: [{ Pattern: '{"eventName":["INSERT"],"dynamodb":{"Keys":{"usage_event":{"S":[{"prefix":"req_"}]}}}}' }],
        },
      });
      data.hasResourceProperties('AWS::DynamoDB::GlobalTable', { StreamSpecification: { StreamViewType: 'KEYS_ONLY' } });
    });

    test('and keeps what failed for 14 days, encrypted and TLS only', () => {
      serverless.hasResourceProperties('AWS::SQS::Queue', { MessageRetentionPeriod: 14 * 86_400, SqsManagedSseEnabled: true });
      serverless.hasResourceProperties('AWS::SQS::QueuePolicy', {
        PolicyDocument: { Statement: [Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } })] },
      });
    });
  });
});
