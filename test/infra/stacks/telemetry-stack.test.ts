import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { readConfig } from '../../../infra/config/config.ts';
import { destinationsOf } from '../../../infra/constructs/queues/telemetry.ts';
import { templateOf, templatesWith } from '../../support/assembly/templates.ts';

const SECRET = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:otlp-AbC123';
const AWS_TRACES = 'https://xray.eu-west-1.amazonaws.com/v1/traces';
const AWS_METRICS = 'https://monitoring.eu-west-1.amazonaws.com/v1/metrics';
const telemetry = {
  otlp: [
    { aws: true, traces: AWS_TRACES, metrics: AWS_METRICS },
    { traces: 'https://otlp.example.com/v1/traces', headersSecretArn: SECRET },
  ],
};

const destinations = [
  { signal: 'traces', url: AWS_TRACES, aws: { service: 'xray', region: 'eu-west-1' } },
  { signal: 'metrics', url: AWS_METRICS, aws: { service: 'monitoring', region: 'eu-west-1' } },
  { signal: 'traces', url: 'https://otlp.example.com/v1/traces', headersSecretArn: SECRET },
];

describe('without endpoints', () => {
  test('nothing reads the stream of usage events but the totals, and there is no stack for telemetry', () => {
    expect(() => templateOf('telemetry')).toThrow('ENOENT');
    expect(JSON.stringify(templateOf('operations').toJSON())).not.toContain('Telemetry');
  });
});

describe('with endpoints', () => {
  let stack: Template;
  let operations: Template;
  beforeAll(async () => {
    const templates = await templatesWith({ telemetry });
    [stack, operations] = [templates('telemetry'), templates('operations')];
  });

  test('one function reads the stream of usage events, and queues what failed to the end', () => {
    const mappings = Object.values(stack.findResources('AWS::Lambda::EventSourceMapping')).map(({ Properties }) => Properties);
    expect(mappings.filter(({ EventSourceArn }) => JSON.stringify(EventSourceArn).includes('UsageStreamArn'))).toEqual([
      expect.objectContaining({
        BisectBatchOnFunctionError: true,
        BatchSize: 1_000,
        MaximumRecordAgeInSeconds: 20 * 3_600,
        DestinationConfig: { OnFailure: { Destination: expect.anything() } },
        FilterCriteria: {
          Filters: [{ Pattern: '{"eventName":["INSERT"],"dynamodb":{"Keys":{"usage_event":{"S":[{"prefix":"req_"}]}}}}' }],
        },
      }),
    ]);
    stack.resourceCountIs('AWS::Lambda::Function', 1);
  });

  test('each URL has a queue of its own, whose messages are repeated for more than a day', () => {
    const queues = Object.values(stack.findResources('AWS::SQS::Queue')).map(({ Properties }) => Properties);
    const ofDestinations = queues.filter(({ RedrivePolicy }) => RedrivePolicy !== undefined);
    expect(ofDestinations).toHaveLength(destinations.length);
    for (const { VisibilityTimeout, RedrivePolicy, MessageRetentionPeriod } of ofDestinations) {
      expect(VisibilityTimeout * RedrivePolicy.maxReceiveCount).toBeGreaterThanOrEqual(25 * 3_600);
      expect(MessageRetentionPeriod).toBeGreaterThan(VisibilityTimeout * RedrivePolicy.maxReceiveCount);
    }
    stack.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          SLUICE_FUNCTION: 'telemetry',
          TELEMETRY_DESTINATIONS: JSON.stringify(destinations),
          TELEMETRY_QUEUE_0: Match.anyValue(),
          TELEMETRY_QUEUE_2: Match.anyValue(),
        }),
      },
    });
  });

  test('the function can read its secret and write metrics, and reads no table', () => {
    const actions = Object.values(stack.findResources('AWS::IAM::Policy'))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement as { Action: string | string[]; Resource: unknown }[])
      .flatMap(({ Action, Resource }) => [Action].flat().map((action) => [action, Resource] as const))
      .filter(([action]) => !/^(logs|sqs|xray):/.test(action));
    expect(Object.fromEntries(actions)).toEqual({
      'dynamodb:ListStreams': '*',
      'dynamodb:DescribeStream': expect.anything(),
      'dynamodb:GetRecords': expect.anything(),
      'dynamodb:GetShardIterator': expect.anything(),
      'secretsmanager:GetSecretValue': SECRET,
      'cloudwatch:PutMetricData': '*',
    });
  });

  test.each(['TelemetryLate', 'TelemetryUndelivered', 'TelemetryFailed', 'TelemetryRejected'])(
    'the alarm %s is set and has a runbook entry',
    (name) => {
      operations.hasResourceProperties('AWS::CloudWatch::Alarm', { AlarmName: `sluice-operations-${name}` });
      expect(readFileSync(path.join(import.meta.dirname, '../../../docs/runbook.md'), 'utf8')).toContain(`### ${name}\n`);
    },
  );
});

describe('the settings of telemetry', () => {
  test('name a URL for each signal, and the service and region that a request to AWS is signed for', () => {
    const settings = readConfig({ telemetry }).telemetry;
    expect(settings && destinationsOf(settings)).toEqual(destinations);
    expect(readConfig({}).telemetry).toBeUndefined();
    expect(readConfig({ telemetry: { otlp: [{ traces: 'http://localhost:4318/v1/traces' }] } }).telemetry).toBeDefined();
  });

  test.each([
    [{ otlp: [] }],
    [{ otlp: [{}] }],
    [{ otlp: [{ traces: 'http://otlp.example.com/v1/traces' }] }],
    [{ otlp: [{ traces: 'https://key@otlp.example.com/v1/traces' }] }],
    [{ otlp: [{ traces: 'https://otlp.example.com/v1/traces?key=1' }] }],
    [{ otlp: [{ aws: true, traces: 'https://otlp.example.com/v1/traces' }] }],
    [{ otlp: [{ aws: true, metrics: AWS_TRACES }] }],
    [{ otlp: [{ aws: true, traces: AWS_TRACES, headersSecretArn: SECRET }] }],
    [{ otlp: [{ traces: AWS_TRACES }, { traces: AWS_TRACES }] }],
    [{ otlp: [{ traces: 'https://otlp.example.com/v1/traces', headersSecretArn: 'otlp' }] }],
  ])('reject %j', (settings) => {
    expect(() => readConfig({ telemetry: settings })).toThrow('telemetry');
  });
});
