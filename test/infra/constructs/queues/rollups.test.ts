import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { compileFilter } from '../../../../infra/assembly/event-filter.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { gpuEventId } from '../../../../shared/usage/gpu-event.ts';
import { templateOf } from '../../../support/assembly/templates.ts';

const data = templateOf('data');
const serverless = templateOf('serverless');

describe('the serverless host', () => {
  describe('the rollup of usage events', () => {
    test('reads batches of new events only, whole, splits failed batches, and finally sends them to a queue', () => {
      const queueId = Object.keys(serverless.findResources('AWS::SQS::Queue')).find((id) => id.startsWith('RollupsFailures'));
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
      const { Usage } = data.findResources('AWS::DynamoDB::GlobalTable');
      expect(Usage?.Properties.StreamSpecification).toEqual({ StreamViewType: 'NEW_IMAGE' });
    });

    test('gets the events of requests, and neither GPU time nor totals', () => {
      const [mapping] = Object.values(serverless.findResources('AWS::Lambda::EventSourceMapping')).filter(({ Properties }) =>
        JSON.stringify(Properties.EventSourceArn).includes('UsageStreamArn'),
      );
      const passes = compileFilter(JSON.parse(mapping?.Properties.FilterCriteria.Filters[0].Pattern), 'the test');
      const inserted = (usage_event: string) => ({ eventName: 'INSERT', dynamodb: { Keys: { usage_event: { S: usage_event } } } });
      const gpu = { deployment_id: 'dep_1', generation: 1, instance_type: 'ml.g5.xlarge', phase: 'serving', started_at: 0 } as const;
      expect(passes(inserted(newRequestId(0)))).toBe(true);
      for (const other of [gpuEventId(gpu), '2026-11-21#dep_1#ml.g5.xlarge', '2026-11-21#model', '16:40#key_1#model'])
        expect(passes(inserted(other))).toBe(false);
    });

    test('may read only the stream of usage events, and list streams, which AWS allows for all or none', () => {
      const [policy] = Object.entries(serverless.findResources('AWS::IAM::Policy'))
        .filter(([id]) => id.startsWith('Rollups'))
        .map(([, { Properties }]) => Properties.PolicyDocument.Statement as { Action: string | string[]; Resource: unknown }[]);
      const resourceOf = (action: string) =>
        policy?.filter(({ Action }) => [Action].flat().includes(action)).map(({ Resource }) => Resource);
      for (const action of ['DescribeStream', 'GetRecords', 'GetShardIterator'])
        expect(resourceOf(`dynamodb:${action}`)).toEqual([{ 'Fn::ImportValue': expect.stringContaining('UsageStreamArn') }]);
      expect(resourceOf('dynamodb:ListStreams')).toEqual(['*']);
    });

    test('keeps failed batches for 14 days in an encrypted, TLS-only queue', () => {
      serverless.hasResourceProperties('AWS::SQS::Queue', { MessageRetentionPeriod: 14 * 86_400, SqsManagedSseEnabled: true });
      serverless.hasResourceProperties('AWS::SQS::QueuePolicy', {
        PolicyDocument: { Statement: [Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } })] },
      });
    });
  });
});
