import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { readConfig } from '../../infra/config/config.ts';
import { DataStack } from '../../infra/stacks/data-stack.ts';
import { ServerlessStack } from '../../infra/stacks/serverless-stack.ts';
import { assemblyDir } from '../support/assembly.ts';

let data: Template;
let identity: Template;
let serverless: Template;
let ondemand: Template;
let operations: Template;

beforeAll(() => {
  const read = (name: string): Template =>
    Template.fromString(readFileSync(path.join(assemblyDir(), `sluice-${name}.template.json`), 'utf8'));
  data = read('data');
  identity = read('identity');
  serverless = read('serverless');
  ondemand = read('ondemand');
  operations = read('operations');
});

describe('the data stack', () => {
  test('has on-demand, recoverable tables that are protected from deletion and have fixed logical ids', () => {
    const tables = data.findResources('AWS::DynamoDB::GlobalTable');
    expect(Object.keys(tables).sort()).toEqual(['Accounts', 'Attempts', 'Audit', 'Keys', 'Models', 'Responses', 'Usage']);
    for (const { Properties, DeletionPolicy } of Object.values(tables)) {
      expect(DeletionPolicy).toBe('Retain');
      expect(Properties).toMatchObject({ BillingMode: 'PAY_PER_REQUEST' });
      expect(Properties.Replicas[0]).toMatchObject({
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      });
    }
  });

  test('has a private, encrypted, TLS-only bucket for tokenizers that is retained and has a fixed logical id', () => {
    const [[id, bucket] = []] = Object.entries(data.findResources('AWS::S3::Bucket'));
    expect(id).toBe('Tokenizers');
    expect(bucket).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BucketEncryption: { ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }] },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        VersioningConfiguration: { Status: 'Enabled' },
      },
    });
    data.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: [Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } }, Principal: { AWS: '*' } })],
      },
    });
    data.hasOutput('TokenizersBucket', { Value: { Ref: 'Tokenizers' } });
  });

  test('expires only stored responses and attempt counters', () => {
    const expiring = Object.entries(data.findResources('AWS::DynamoDB::GlobalTable'))
      .filter(([, { Properties }]) => Properties.TimeToLiveSpecification)
      .map(([id, { Properties }]) => [id, Properties.TimeToLiveSpecification]);
    const byTime = { AttributeName: 'expires_at', Enabled: true };
    expect(Object.fromEntries(expiring)).toEqual({ Responses: byTime, Attempts: byTime });
  });

  test('has no index that projects counters', () => {
    data.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      GlobalSecondaryIndexes: ['epoch', 'organization'].map((IndexName) => ({ IndexName, Projection: { ProjectionType: 'KEYS_ONLY' } })),
    });
  });
});

describe('the identity stack', () => {
  test('has a user pool that is protected from deletion and has fixed logical ids', () => {
    const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
    expect(identity.findResources('AWS::Cognito::UserPool')).toEqual({ Users: expect.objectContaining(kept) });
    expect(identity.findResources('AWS::Cognito::UserPoolClient')).toEqual({ UsersClient: expect.objectContaining(kept) });
    identity.hasResourceProperties('AWS::Cognito::UserPool', { DeletionProtection: 'ACTIVE' });
    identity.hasOutput('UserPoolId', { Value: { Ref: 'Users' } });
    identity.hasOutput('UserPoolClientId', { Value: { Ref: 'UsersClient' } });
  });

  test('identifies users by e-mail address in any case, lets only administrators invite them, and does not use SMS', () => {
    identity.hasResourceProperties('AWS::Cognito::UserPool', {
      UsernameAttributes: ['email'],
      UsernameConfiguration: { CaseSensitive: false },
      AutoVerifiedAttributes: ['email'],
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
      AccountRecoverySetting: { RecoveryMechanisms: [{ Name: 'verified_email', Priority: 1 }] },
      UserAttributeUpdateSettings: { AttributesRequireVerificationBeforeUpdate: ['email'] },
      MfaConfiguration: 'OPTIONAL',
      EnabledMfas: ['SOFTWARE_TOKEN_MFA'],
      SmsConfiguration: Match.absent(),
      Policies: {
        PasswordPolicy: {
          MinimumLength: 12,
          RequireLowercase: true,
          RequireUppercase: true,
          RequireNumbers: true,
          RequireSymbols: true,
          TemporaryPasswordValidityDays: 7,
        },
      },
    });
    identity.resourceCountIs('AWS::IAM::Role', 0);
  });

  test('accepts passwords only through our host, hides which accounts exist, and issues one-hour tokens for 30 days', () => {
    identity.hasResourceProperties('AWS::Cognito::UserPoolClient', {
      ExplicitAuthFlows: ['ALLOW_ADMIN_USER_PASSWORD_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH'],
      GenerateSecret: false,
      PreventUserExistenceErrors: 'ENABLED',
      EnableTokenRevocation: true,
      AllowedOAuthFlowsUserPoolClient: false,
      AllowedOAuthFlows: Match.absent(),
      AccessTokenValidity: 60,
      IdTokenValidity: 60,
      RefreshTokenValidity: 30 * 24 * 60,
      TokenValidityUnits: { AccessToken: 'minutes', IdToken: 'minutes', RefreshToken: 'minutes' },
    });
  });
});

describe.each(['serverless', 'ondemand'])('the %s host', (name) => {
  let host: Template;
  beforeAll(() => {
    host = name === 'serverless' ? serverless : ondemand;
  });

  test('streams chat completions for up to 600 s and is regional', () => {
    host.hasResourceProperties('AWS::ApiGateway::RestApi', {
      EndpointConfiguration: { Types: ['REGIONAL'] },
      BinaryMediaTypes: ['*/*'],
    });
    host.hasResourceProperties('AWS::ApiGateway::Method', {
      HttpMethod: 'POST',
      Integration: { ResponseTransferMode: 'STREAM', TimeoutInMillis: 600_000 },
    });
    // Every resource has an ANY method, so that API Gateway itself never answers.
    const of = (type: string) => Object.entries(host.findResources(type));
    const anys = of('AWS::ApiGateway::Method')
      .filter(([, { Properties }]) => Properties.HttpMethod === 'ANY')
      .map(([, { Properties }]) => Properties.ResourceId.Ref);
    for (const [id] of of('AWS::ApiGateway::Resource')) expect(anys).toContain(id);
  });

  test('gives every gateway response our error body, a request id and CORS headers, and turns 5XX into a 503 with retry-after', () => {
    const responses = Object.values(host.findResources('AWS::ApiGateway::GatewayResponse')).map(({ Properties }) => Properties);
    expect(responses.map(({ ResponseType }) => ResponseType).sort()).toEqual(
      [
        'DEFAULT_4XX',
        'DEFAULT_5XX',
        'INTEGRATION_FAILURE',
        'INTEGRATION_TIMEOUT',
        'QUOTA_EXCEEDED',
        'REQUEST_TOO_LARGE',
        'THROTTLED',
        'WAF_FILTERED',
      ].sort(),
    );
    for (const { ResponseType, StatusCode, ResponseParameters, ResponseTemplates } of responses) {
      const text: string = ResponseTemplates['application/json'];
      expect(text).not.toContain('$context.error');
      expect(JSON.parse(text)).toEqual({
        error: { message: expect.any(String), type: expect.any(String), param: null, code: expect.any(String) },
        request_id: '$context.extendedRequestId',
      });
      expect(ResponseParameters).toMatchObject({
        'gatewayresponse.header.x-request-id': 'context.extendedRequestId',
        'gatewayresponse.header.access-control-allow-origin': "'*'",
      });
      if (/5XX|INTEGRATION/.test(ResponseType)) expect(StatusCode).toBe('503');
      if (['503', '429'].includes(StatusCode)) expect(ResponseParameters['gatewayresponse.header.retry-after']).toMatch(/^'\d+'$/);
    }
  });

  test('logs every access without bodies or headers', () => {
    const [stage] = Object.values(host.findResources('AWS::ApiGateway::Stage'));
    expect(stage?.Properties.AccessLogSetting.Format).not.toMatch(/header|authorizer|body/i);
    host.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [Match.objectLike({ DataTraceEnabled: false, LoggingLevel: 'ERROR' })],
    });
  });

  test('runs functions on Node 24 and arm64, with log retention and reserved concurrency', () => {
    const functions = Object.values(host.findResources('AWS::Lambda::Function')).map(({ Properties }) => Properties);
    for (const fn of functions)
      expect(fn).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        ReservedConcurrentExecutions: expect.any(Number),
        LoggingConfig: { LogFormat: 'JSON' },
      });
    for (const { Properties } of Object.values(host.findResources('AWS::Logs::LogGroup'))) expect(Properties.RetentionInDays).toBe(30);
  });
});

const namesOfFunctions = (stack: Template): string[] =>
  Object.values(stack.findResources('AWS::Lambda::Function'))
    .map(({ Properties }) => Properties.Environment.Variables.SLUICE_FUNCTION)
    .sort();

/** The methods and paths whose responses are streamed. */
const streamedPaths = (stack: Template): string[] => {
  const resources = stack.findResources('AWS::ApiGateway::Resource');
  const pathOf = (id: string | undefined): string => {
    const found = id === undefined ? undefined : resources[id];
    return found ? `${pathOf(found.Properties.ParentId.Ref)}/${found.Properties.PathPart}` : '';
  };
  return Object.values(stack.findResources('AWS::ApiGateway::Method'))
    .filter(({ Properties }) => Properties.Integration.ResponseTransferMode === 'STREAM')
    .map(({ Properties }) => `${Properties.HttpMethod} ${pathOf(Properties.ResourceId.Ref)}`)
    .sort();
};

describe('the serverless host', () => {
  test('streams the routes of the inference function', () => {
    expect(streamedPaths(serverless)).toEqual([
      'POST /detokenize',
      'POST /tokenize',
      'POST /v1/chat/completions',
      'POST /v1/completions',
      'POST /v1/responses',
    ]);
    expect(namesOfFunctions(serverless)).toEqual(['catalog', 'inference', 'metering', 'rollup', 'tokenizer']);
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
        ...dynamo('DeleteItem', 'GetItem', 'GetItem', 'GetItem', 'PutItem', 'PutItem', 'Query', 'UpdateItem', 'UpdateItem'),
        ...own,
        'lambda:InvokeFunction',
        'sagemaker:InvokeEndpoint',
        'sagemaker:InvokeEndpointWithResponseStream',
      ].sort(),
    );
    expect(actions('Catalog')).toEqual([...dynamo('GetItem', 'GetItem', 'PutItem', 'Query'), ...own].sort());
    expect(actions('Metering')).toEqual([...dynamo('GetItem', 'GetItem', 'PutItem', 'PutItem', 'Query', 'UpdateItem'), ...own].sort());
    const ofStream = dynamo('DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams');
    expect(actions('Rollups')).toEqual([...dynamo('PutItem', 'Query'), ...ofStream, ...own, 'sqs:SendMessage'].sort());
    expect(actions('Tokenizer')).toEqual([...own, 's3:GetObject'].sort());
    const [tokenizerId] =
      Object.entries(serverless.findResources('AWS::Lambda::Function')).find(
        ([, { Properties }]) => Properties.Environment.Variables.SLUICE_FUNCTION === 'tokenizer',
      ) ?? [];
    serverless.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Action: 'lambda:InvokeFunction', Resource: { 'Fn::GetAtt': [tokenizerId, 'Arn'] } }),
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
          STRUCTURED_OUTPUTS: 'false',
        }),
      },
    });
    serverless.hasResourceProperties('AWS::Lambda::Function', {
      MemorySize: 1_769,
      Timeout: 20,
      ReservedConcurrentExecutions: 100,
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

  describe('the rollup of usage events', () => {
    test('reads batches of new events only, splits failed batches, and finally sends them to a queue', () => {
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

    test('keeps failed batches for 14 days in an encrypted, TLS-only queue', () => {
      serverless.hasResourceProperties('AWS::SQS::Queue', { MessageRetentionPeriod: 14 * 86_400, SqsManagedSseEnabled: true });
      serverless.hasResourceProperties('AWS::SQS::QueuePolicy', {
        PolicyDocument: { Statement: [Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } })] },
      });
    });
  });

  test('runs the sweep every five minutes', () => {
    serverless.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(5 minutes)' });
  });
});

describe('the on-demand host', () => {
  test('streams chat completions and responses from its own functions', () => {
    expect(streamedPaths(ondemand)).toEqual(['POST /v1/chat/completions', 'POST /v1/responses']);
    expect(namesOfFunctions(ondemand)).toEqual(['ondemand-catalog', 'ondemand-inference']);
    for (const [SLUICE_FUNCTION, ReservedConcurrentExecutions] of Object.entries({ 'ondemand-inference': 200, 'ondemand-catalog': 20 }))
      ondemand.hasResourceProperties('AWS::Lambda::Function', {
        ReservedConcurrentExecutions,
        Environment: { Variables: Match.objectLike({ SLUICE_FUNCTION, HOST_SCOPE: 'on_demand' }) },
      });
  });

  test.each(['Inference', 'Catalog'])('gives %s the same permissions as on the serverless host', (name) => {
    const grants = (stack: Template): { Action: string | string[]; Resource: unknown }[] => {
      const [, policy] = Object.entries(stack.findResources('AWS::IAM::Policy')).find(([id]) => id.startsWith(name)) ?? [];
      return policy?.Properties.PolicyDocument.Statement;
    };
    const isOfTokenizer = ({ Action }: { Action: string | string[] }): boolean => Action === 'lambda:InvokeFunction';
    const others = (stack: Template): unknown[] => grants(stack).filter((grant) => !isOfTokenizer(grant));
    expect(others(ondemand)).toEqual(others(serverless));
    expect(grants(ondemand).filter(isOfTokenizer)).toEqual(
      grants(serverless)
        .filter(isOfTokenizer)
        .map((grant) => ({ ...grant, Resource: { 'Fn::ImportValue': expect.stringMatching(/^sluice-serverless:.*GetAttTokenizer/) } })),
    );
  });

  test('shares the tokenizer, and knows the URL of the serverless host without depending on its deployment', () => {
    const apiId = { 'Fn::ImportValue': expect.stringMatching(/^sluice-serverless:ExportsOutputRefHostApi/) };
    for (const { Properties } of Object.values(ondemand.findResources('AWS::Lambda::Function'))) {
      const { OTHER_HOST_URL, TOKENIZER_FUNCTION, SLUICE_FUNCTION } = Properties.Environment.Variables;
      expect(OTHER_HOST_URL).toEqual({
        'Fn::Join': ['', ['https://', apiId, '.execute-api.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }, '/live']],
      });
      if (SLUICE_FUNCTION === 'ondemand-inference')
        expect(TOKENIZER_FUNCTION).toEqual({ 'Fn::ImportValue': expect.stringMatching(/^sluice-serverless:ExportsOutputRefTokenizer/) });
    }
    ondemand.hasOutput('OndemandUrl', {});
  });
});

test('alarms can publish to their topic', () => {
  operations.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Effect: 'Allow', Action: 'sns:Publish', Principal: { Service: 'cloudwatch.amazonaws.com' } }),
      ]),
    },
  });
  for (const { Properties } of Object.values(operations.findResources('AWS::CloudWatch::Alarm')))
    expect(Properties.AlarmActions).toHaveLength(1);
});

describe('the alarms', () => {
  const source = (name: string) => ({ 'Fn::ImportValue': Match.stringLikeRegexp(name) });
  const bothInferences = ['sluice-serverless:.*RefInferenceLogs', 'sluice-ondemand:.*RefInferenceLogs'];
  const bothCatalogs = ['sluice-serverless:.*RefCatalogLogs', 'sluice-ondemand:.*RefCatalogLogs'];

  test.each([
    ['SettlementFailed', bothInferences],
    ['ResponseNotKept', bothInferences],
    ['RequestsRefused', bothInferences],
    ['ChargeCapped', bothInferences],
    ['UnhandledError', [...bothInferences, ...bothCatalogs, 'sluice-control:.*RefControlLogs']],
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
      AlarmDescription: Match.stringLikeRegexp('"InferenceThrottled"'),
      Metrics: [Match.objectLike({ Expression: 'SUM([FILL(m1, 0), FILL(m2, 0)])' }), of('sluice-serverless'), of('sluice-ondemand')],
    });
  });

  test.each([
    ['HostUnavailable', 'sluice-serverless'],
    ['OndemandUnavailable', 'sluice-ondemand'],
  ])('%s goes off when %s returns more than five 5XX responses in five minutes', (alarm, api) => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmDescription: Match.stringLikeRegexp(`"${alarm}"`),
      MetricName: '5XXError',
      Dimensions: Match.arrayWith([{ Name: 'ApiName', Value: api }]),
      Threshold: 5,
      Period: 300,
    });
  });
});

test('each alarm has a runbook entry with its name', () => {
  const runbook = readFileSync(path.join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const alarms = Object.values(operations.findResources('AWS::CloudWatch::Alarm')).map(
    ({ Properties }) => /"(\w+)"/.exec(Properties.AlarmDescription)?.[1],
  );
  expect(alarms.length).toBeGreaterThan(4);
  for (const name of alarms) expect(runbook).toContain(`### ${name}`);
});

describe('the configuration', () => {
  test('has a default for every field, and can be JSON from the command line', () => {
    expect(readConfig(undefined)).toMatchObject({
      name: 'sluice',
      endpointTag: 'sluice',
      logRetentionDays: 30,
      structuredOutputs: false,
      selfSignUp: false,
    });
    expect(readConfig({ reservedConcurrency: { inference: 10, catalog: 5, metering: 1 } }).reservedConcurrency).toMatchObject({
      tokenizer: 100,
      rollup: 10,
      'ondemand-inference': 200,
      'ondemand-catalog': 20,
    });
    expect(readConfig('{"alarmEmail":"ops@example.com"}').alarmEmail).toBe('ops@example.com');
  });

  test('can give the serverless host the URL of the on-demand host', () => {
    // Skips bundling, which is slow.
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
    const config = readConfig({ ondemandUrl: 'https://ondemand.example.com' });
    const stack = new ServerlessStack(app, 'serverless', { config, data: new DataStack(app, 'data', {}) });
    for (const SLUICE_FUNCTION of ['inference', 'catalog'])
      Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
        Environment: { Variables: Match.objectLike({ SLUICE_FUNCTION, OTHER_HOST_URL: 'https://ondemand.example.com' }) },
      });
  });

  test.each([
    { name: 'Not OK' },
    { logRetentionDays: 8 },
    { alarmEmail: 'nobody' },
    { ondemandUrl: 'http://ondemand.example.com' },
    { ondemandUrl: 'https://ondemand.example.com/' },
    { typo: true },
  ])('rejects %j and names the field', (value) => {
    expect(() => readConfig(value)).toThrow(Object.keys(value)[0] as string);
  });
});
