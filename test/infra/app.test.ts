import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { readConfig } from '../../infra/config.ts';
import { assemblyDir } from '../support/assembly.ts';

let data: Template;
let identity: Template;
let serverless: Template;
let operations: Template;

beforeAll(() => {
  const read = (name: string): Template =>
    Template.fromString(readFileSync(path.join(assemblyDir(), `sluice-${name}.template.json`), 'utf8'));
  data = read('data');
  identity = read('identity');
  serverless = read('serverless');
  operations = read('operations');
});

describe('the data stack', () => {
  test('keeps each table on demand, recoverable, protected from deletion, under a name that no refactoring changes', () => {
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

  test('keeps the tokenizers in a bucket that is private, encrypted, TLS only and stays, under a name that no refactoring changes', () => {
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

  test('lets stored responses and counts of attempts expire, and nothing else', () => {
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
  test('keeps the users, protected from deletion, under names that no refactoring changes', () => {
    const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
    expect(identity.findResources('AWS::Cognito::UserPool')).toEqual({ Users: expect.objectContaining(kept) });
    expect(identity.findResources('AWS::Cognito::UserPoolClient')).toEqual({ UsersClient: expect.objectContaining(kept) });
    identity.hasResourceProperties('AWS::Cognito::UserPool', { DeletionProtection: 'ACTIVE' });
    identity.hasOutput('UserPoolId', { Value: { Ref: 'Users' } });
    identity.hasOutput('UserPoolClientId', { Value: { Ref: 'UsersClient' } });
  });

  test('names users by their e-mail address in any case, lets administrators invite them, and trusts no telephone', () => {
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

  test('takes passwords through our host only, tells nobody who has an account, and gives tokens of an hour for 30 days', () => {
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

describe('the serverless host', () => {
  test('streams chat completions for up to 600 s and is regional', () => {
    serverless.hasResourceProperties('AWS::ApiGateway::RestApi', {
      EndpointConfiguration: { Types: ['REGIONAL'] },
      BinaryMediaTypes: ['*/*'],
    });
    serverless.hasResourceProperties('AWS::ApiGateway::Method', {
      HttpMethod: 'POST',
      Integration: { ResponseTransferMode: 'STREAM', TimeoutInMillis: 600_000 },
    });
    // Every resource has an ANY, so that nothing is answered by API Gateway itself.
    const of = (type: string) => Object.entries(serverless.findResources(type));
    const anys = of('AWS::ApiGateway::Method')
      .filter(([, { Properties }]) => Properties.HttpMethod === 'ANY')
      .map(([, { Properties }]) => Properties.ResourceId.Ref);
    for (const [id] of of('AWS::ApiGateway::Resource')) expect(anys).toContain(id);
  });

  test('says everything in our own words: each gateway response has our body, a request id and CORS; 5XX is a 503 to be retried', () => {
    const responses = Object.values(serverless.findResources('AWS::ApiGateway::GatewayResponse')).map(({ Properties }) => Properties);
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

  test('logs every access without a body or a header', () => {
    const [stage] = Object.values(serverless.findResources('AWS::ApiGateway::Stage'));
    expect(stage?.Properties.AccessLogSetting.Format).not.toMatch(/header|authorizer|body/i);
    serverless.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [Match.objectLike({ DataTraceEnabled: false, LoggingLevel: 'ERROR' })],
    });
  });

  test('runs functions on Node 24 and arm64, with logs that expire and environments that are counted', () => {
    const functions = Object.values(serverless.findResources('AWS::Lambda::Function')).map(({ Properties }) => Properties);
    expect(functions.map(({ Environment }) => Environment.Variables.SLUICE_FUNCTION).sort()).toEqual([
      'catalog',
      'inference',
      'metering',
      'rollup',
      'tokenizer',
    ]);
    for (const fn of functions)
      expect(fn).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        ReservedConcurrentExecutions: expect.any(Number),
        LoggingConfig: { LogFormat: 'JSON' },
      });
    for (const { Properties } of Object.values(serverless.findResources('AWS::Logs::LogGroup')))
      expect(Properties.RetentionInDays).toBe(30);
  });

  test('lets inference write to its tables and invoke tagged endpoints and the tokenizer, and nothing else', () => {
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

  test('sweeps every five minutes', () => {
    serverless.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(5 minutes)' });
  });
});

test('alarms may publish to their topic', () => {
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

test('each alarm has an entry of its name in the runbook', () => {
  const runbook = readFileSync(path.join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const alarms = Object.values(operations.findResources('AWS::CloudWatch::Alarm')).map(
    ({ Properties }) => /"(\w+)"/.exec(Properties.AlarmDescription)?.[1],
  );
  expect(alarms.length).toBeGreaterThan(4);
  for (const name of alarms) expect(runbook).toContain(`### ${name}`);
});

describe('the configuration', () => {
  test('has a default for everything, and is read from the command line as JSON', () => {
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
    });
    expect(readConfig('{"alarmEmail":"ops@example.com"}').alarmEmail).toBe('ops@example.com');
  });

  test.each([{ name: 'Not OK' }, { logRetentionDays: 8 }, { alarmEmail: 'nobody' }, { typo: true }])(
    'refuses %j, naming the field',
    (value) => {
      expect(() => readConfig(value)).toThrow(Object.keys(value)[0] as string);
    },
  );
});
