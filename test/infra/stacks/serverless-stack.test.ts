import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { templateOf } from '../../support/assembly/templates.ts';
import { namesOfFunctions, streamedPaths } from './host-template.ts';

const serverless = templateOf('serverless');

describe('the serverless host', () => {
  test('streams the routes of the inference function', () => {
    expect(streamedPaths(serverless)).toEqual([
      'POST /detokenize',
      'POST /tokenize',
      'POST /v1/chat/completions',
      'POST /v1/completions',
      'POST /v1/embeddings',
      'POST /v1/messages',
      'POST /v1/messages/count_tokens',
      'POST /v1/rerank',
      'POST /v1/responses',
      'POST /v2/rerank',
    ]);
    expect(namesOfFunctions(serverless)).toEqual(['catalog', 'inference', 'metering', 'payloads', 'refusals', 'rollup', 'tokenizer']);
  });

  test('gives each function only the permissions that it needs', () => {
    const policies = Object.entries(serverless.findResources('AWS::IAM::Policy'));
    const actions = (name: string): string[] => {
      const [, policy] = policies.find(([id]) => id.startsWith(name)) ?? [];
      return policy?.Properties.PolicyDocument.Statement.flatMap(({ Action }: { Action: string | string[] }) => Action).sort();
    };
    const own = ['logs:CreateLogStream', 'logs:PutLogEvents', 'xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
    const dynamo = (...names: string[]): string[] => names.map((name) => `dynamodb:${name}`);
    expect(actions('Inference')).toEqual(
      [
        ...dynamo('BatchGetItem', 'DeleteItem', 'GetItem', 'GetItem', 'GetItem', 'PutItem', 'PutItem', 'PutItem', 'Query'),
        ...dynamo('BatchGetItem', 'GetItem', 'UpdateItem', 'UpdateItem', 'UpdateItem', 'UpdateItem'),
        ...own,
        'lambda:InvokeFunction',
        's3:PutObject',
        's3:PutObject',
        's3:PutObjectTagging',
        'sagemaker:InvokeEndpoint',
        'sagemaker:InvokeEndpointWithResponseStream',
        'sqs:SendMessage',
      ].sort(),
    );
    expect(actions('Catalog')).toEqual([...dynamo('BatchGetItem', 'GetItem', 'GetItem', 'PutItem', 'Query'), ...own].sort());
    const ofQueue = ['DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage', 'SendMessage'].map((action) => `sqs:${action}`);
    const ofMetering = dynamo('BatchGetItem', 'ConditionCheckItem', 'GetItem', 'GetItem', 'PutItem', 'PutItem', 'Query', 'UpdateItem');
    expect(actions('Metering')).toEqual([...ofMetering, ...own, ...ofQueue].sort());
    const ofStream = dynamo('DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams');
    const ofRollups = dynamo('GetItem', 'GetItem', 'PutItem', 'PutItem', 'PutItem', 'Query', 'UpdateItem', 'UpdateItem');
    expect(actions('Rollups')).toEqual([...ofRollups, ...ofStream, ...own, 'sqs:SendMessage'].sort());
    expect(actions('Tokenizer')).toEqual([...own, 's3:GetObject'].sort());
    const [tokenizerId] =
      Object.entries(serverless.findResources('AWS::Lambda::Function')).find(
        ([, { Properties }]) => Properties.Environment.Variables.SLUICE_FUNCTION === 'tokenizer',
      ) ?? [];
    serverless.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Action: 'lambda:InvokeFunction', Resource: Match.arrayWith([{ 'Fn::GetAtt': [tokenizerId, 'Arn'] }]) }),
        ]),
      },
    });
    serverless.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          SLUICE_FUNCTION: 'inference',
          HOST_SCOPE: 'serverless',
          OTHER_HOST_URL: Match.absent(),
          TOKENIZER_FUNCTION: { Ref: tokenizerId },
          CACHE_SALT_SECRET: { Ref: 'AWS::StackId' },
        }),
      },
    });
    serverless.hasResourceProperties('AWS::Lambda::Function', {
      MemorySize: 1_769,
      Timeout: 20,
      Environment: { Variables: Match.objectLike({ SLUICE_FUNCTION: 'tokenizer', TOKENIZERS_BUCKET: Match.anyValue() }) },
    });
    serverless.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: ['sagemaker:InvokeEndpoint', 'sagemaker:InvokeEndpointWithResponseStream'],
            Condition: { StringEquals: { 'aws:ResourceTag/sluice': 'true' } },
          }),
        ]),
      },
    });
  });

  test('runs the sweep every five minutes', () => {
    serverless.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(5 minutes)' });
  });
});
