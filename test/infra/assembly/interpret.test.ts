import { describe, expect, test } from '@jest/globals';
import { interpret } from '../../../infra/assembly/interpret.ts';
import type { LocalApp } from '../../../infra/assembly/local-app.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type FixtureStack, fixtureStacks, writeAssembly } from '../local/fixtures.ts';

const interpreted = async (stacks: Readonly<Record<string, FixtureStack>>): Promise<LocalApp> => {
  await using folder = temporaryFolder();
  await writeAssembly(folder.path, stacks);
  return interpret(await readAssembly(folder.path));
};

const withResource = (id: string, Type: string, Properties: object = {}): Record<string, FixtureStack> => ({
  ...fixtureStacks,
  'test-more': { resources: { [id]: { Type, Properties } } },
});

describe('interpreting an assembly', () => {
  test('returns the routes of its APIs with their functions, transfer modes and timeouts', async () => {
    const { apis, functions } = await interpreted(fixtureStacks);
    expect(apis).toHaveLength(1);
    expect(apis[0]).toMatchObject({ stackName: 'test-serverless', stage: 'live', binaryMediaTypes: ['*/*'] });
    expect(apis[0]?.routes).toEqual([
      expect.objectContaining({
        resourcePath: '/stream',
        method: 'POST',
        transferMode: 'STREAM',
        timeoutMs: 20_000,
        functionArn: functions[0]?.arn,
      }),
      expect.objectContaining({ resourcePath: '/{proxy+}', method: 'ANY', transferMode: 'BUFFERED', functionArn: functions[1]?.arn }),
    ]);
  });

  test('returns functions with their code folder and with variables resolved across stacks', async () => {
    const { functions } = await interpreted(fixtureStacks);
    expect(functions[0]).toMatchObject({
      name: 'test-serverless-Streaming',
      shortName: 'streaming',
      folder: expect.stringMatching(/functions\/streaming$/),
      environment: { THINGS_TABLE: 'test-data-Things' },
      timeoutMs: 20_000,
      memoryMiB: 256,
    });
  });

  test('returns buckets', async () => {
    expect((await interpreted(fixtureStacks)).buckets).toEqual([{ name: 'test-data-files', logicalId: 'Files' }]);
  });

  test('returns tables and schedules', async () => {
    const { tables, schedules, functions } = await interpreted(fixtureStacks);
    expect(tables).toEqual([
      {
        name: 'test-data-Things',
        logicalId: 'Things',
        properties: {
          keySchema: [{ name: 'id', role: 'HASH' }],
          attributes: [
            { name: 'id', type: 'S' },
            { name: 'owner', type: 'S' },
          ],
          indexes: [{ name: 'by-owner', keySchema: [{ name: 'owner', role: 'HASH' }], projection: 'KEYS_ONLY', projectedAttributes: [] }],
          streamViewType: 'NEW_IMAGE',
          timeToLiveAttribute: 'expires',
        },
      },
    ]);
    expect(schedules).toEqual([expect.objectContaining({ periodMs: 300_000, functionArn: functions[1]?.arn, input: undefined })]);
  });

  test('rejects an unsupported resource, naming its type, logical id and stack', async () => {
    await expect(interpreted(withResource('Jobs', 'AWS::Kinesis::Stream'))).rejects.toThrow(
      'AWS::Kinesis::Stream (Jobs in stack test-more)',
    );
  });

  describe('with a rule for events', () => {
    const EventPattern = { source: ['aws.sagemaker'], detail: { EndpointName: [{ prefix: 'sluice-' }] } };
    const withRule = (changes: object = {}): Record<string, FixtureStack> => {
      const { 'test-serverless': serverless } = fixtureStacks as Record<string, FixtureStack>;
      const Properties = { EventPattern, Targets: [{ Id: 'T', Arn: { 'Fn::GetAtt': ['Buffered', 'Arn'] } }], ...changes };
      const resources = { ...serverless?.resources, Changed: { Type: 'AWS::Events::Rule', Properties } };
      return { ...fixtureStacks, 'test-serverless': { ...serverless, resources } };
    };

    test('returns the function and the events that it gets', async () => {
      const { eventRules, functions } = await interpreted(withRule());
      expect(eventRules).toEqual([
        { ruleArn: expect.stringContaining(':rule/'), matches: expect.any(Function), functionArn: functions[1]?.arn },
      ]);
      const matches = (EndpointName: string) => eventRules[0]?.matches({ source: 'aws.sagemaker', detail: { EndpointName } });
      expect([matches('sluice-1'), matches('another')]).toEqual([true, false]);
      expect((await interpreted(withRule({ State: 'DISABLED' }))).eventRules).toEqual([]);
    });

    test.each([
      [{ EventPattern: { source: [{ wildcard: 'aws.*' }] } }, 'not by {"wildcard":"aws.*"} (Changed in stack test-serverless)'],
      [{ ScheduleExpression: 'rate(1 minute)' }, 'either a schedule or a pattern only (Changed in stack test-serverless)'],
      [{ Targets: [{ Arn: 'arn:nobody' }] }, 'a rule calls arn:nobody, which is not a function'],
      [{ Targets: [{ Arn: 'arn:nobody', Input: '{}' }] }, 'passes events on as they are only (Changed in stack test-serverless)'],
    ])('rejects an unsupported rule, naming it: %j', async (changes, words) => {
      await expect(interpreted(withRule(changes))).rejects.toThrow(words);
    });
  });

  test('rejects a schedule other than a rate, naming its expression', async () => {
    const rule = withResource('Nightly', 'AWS::Events::Rule', { ScheduleExpression: 'cron(0 2 * * ? *)' });
    await expect(interpreted(rule)).rejects.toThrow('cron(0 2 * * ? *) (Nightly in stack test-more)');
  });

  test('rejects a method that is not a Lambda proxy without authorization, naming it', async () => {
    const mock = {
      RestApiId: 'a',
      ResourceId: 'r',
      HttpMethod: 'GET',
      AuthorizationType: 'AWS_IAM',
      Integration: { Type: 'AWS_PROXY', Uri: 'u' },
    };
    await expect(interpreted(withResource('Guarded', 'AWS::ApiGateway::Method', mock))).rejects.toThrow(
      'AWS::ApiGateway::Method (Guarded in stack test-more)',
    );
  });

  describe('with a user pool', () => {
    const client = {
      Type: 'AWS::Cognito::UserPoolClient',
      Properties: {
        UserPoolId: { Ref: 'People' },
        AccessTokenValidity: 60,
        IdTokenValidity: 2,
        TokenValidityUnits: { AccessToken: 'minutes' },
      },
    };
    const withPool = (changes: object = {}, more: Record<string, unknown> = { PeopleClient: client }): Record<string, FixtureStack> => ({
      ...fixtureStacks,
      'test-identity': {
        resources: {
          People: {
            Type: 'AWS::Cognito::UserPool',
            Properties: {
              UsernameAttributes: ['email'],
              MfaConfiguration: 'OPTIONAL',
              EnabledMfas: ['SOFTWARE_TOKEN_MFA'],
              Policies: { PasswordPolicy: { MinimumLength: 12, RequireNumbers: true } },
              ...changes,
            },
          },
          ...more,
        },
      },
    });

    test('returns its client, password policy and second factor', async () => {
      const { userPools } = await interpreted(withPool());
      expect(userPools).toEqual([
        {
          id: expect.stringMatching(/^us-east-1_[0-9a-z]{9}$/),
          logicalId: 'People',
          clients: [
            {
              id: expect.stringMatching(/^[0-9a-z]{26}$/),
              authFlows: ['ALLOW_CUSTOM_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH', 'ALLOW_USER_SRP_AUTH'],
              accessTokenSeconds: 3_600,
              idTokenSeconds: 7_200,
              refreshTokenSeconds: 30 * 86_400,
            },
          ],
          hasTotp: true,
          passwords: {
            minLength: 12,
            requiresLowercase: false,
            requiresUppercase: false,
            requiresDigits: true,
            requiresSymbols: false,
            temporaryValiditySeconds: 7 * 86_400,
          },
        },
      ]);
      expect((await interpreted(withPool())).userPools).toEqual(userPools);
    });

    test('returns all its clients, which of them rotate refresh tokens, and its triggers', async () => {
      const flows = ['ALLOW_CUSTOM_AUTH'];
      const rotating = (RefreshTokenRotation: object) => ({
        ...client,
        Properties: { ...client.Properties, ExplicitAuthFlows: flows, RefreshTokenRotation },
      });
      const LambdaConfig = { DefineAuthChallenge: 'arn:1', CreateAuthChallenge: 'arn:2', VerifyAuthChallengeResponse: 'arn:3' };
      const more = {
        PeopleClient: client,
        Rotating: rotating({ Feature: 'ENABLED', RetryGracePeriodSeconds: 60 }),
        Plain: rotating({ Feature: 'DISABLED' }),
      };
      const [{ clients, triggers } = { clients: [], triggers: undefined }] = (await interpreted(withPool({ LambdaConfig }, more)))
        .userPools;
      expect(new Set(clients.map(({ id }) => id)).size).toBe(3);
      expect(clients.map(({ rotationGraceSeconds }) => rotationGraceSeconds)).toEqual([undefined, 60, undefined]);
      expect(clients.slice(1).map(({ authFlows }) => authFlows)).toEqual([flows, flows]);
      expect(triggers).toEqual({ define: 'arn:1', create: 'arn:2', verify: 'arn:3' });
    });

    test("resolves its id, client and issuer in functions' variables as AWS does", async () => {
      const attribute = (name: string) => ({ 'Fn::GetAtt': ['People', name] });
      const variables = {
        POOL: { Ref: 'People' },
        CLIENT: { Ref: 'PeopleClient' },
        ISSUER: attribute('ProviderURL'),
        PROVIDER: attribute('ProviderName'),
        ARN: attribute('Arn'),
      };
      const reader = {
        Type: 'AWS::Lambda::Function',
        Properties: { Code: { S3Key: 'h.zip' }, Handler: 'index.handler', Environment: { Variables: variables } },
      };
      const stacks = withPool({}, { PeopleClient: client, Reader: reader });
      const { functions, userPools } = await interpreted({
        ...stacks,
        'test-identity': { ...(stacks['test-identity'] as FixtureStack), assets: { h: '/code' } },
      });
      const { id, clients: [{ id: clientId }] = [{ id: '' }] } = userPools[0] ?? {};
      expect(functions.find(({ name }) => name === 'test-identity-Reader')?.environment).toEqual({
        POOL: id,
        CLIENT: clientId,
        ISSUER: `https://cognito-idp.us-east-1.amazonaws.com/${id}`,
        PROVIDER: `cognito-idp.us-east-1.amazonaws.com/${id}`,
        ARN: `arn:aws:cognito-idp:us-east-1:000000000000:userpool/${id}`,
      });
    });

    test.each([
      [{ UsernameAttributes: ['phone_number'] }, { PeopleClient: client }],
      [{ MfaConfiguration: 'ON' }, { PeopleClient: client }],
      [{ EnabledMfas: ['SMS_MFA'] }, { PeopleClient: client }],
      [{ UsernameConfiguration: { CaseSensitive: true } }, { PeopleClient: client }],
      [{}, {}],
      [{ LambdaConfig: { PreSignUp: 'arn' } }, { PeopleClient: client }],
    ])('rejects an unsupported pool, naming it: %j with %j', async (changes, more) => {
      await expect(interpreted(withPool(changes, more))).rejects.toThrow(/People in stack test-identity/);
    });
  });

  describe('with an event source', () => {
    const mapping = {
      EventSourceArn: { 'Fn::ImportValue': 'data:Stream' },
      FunctionName: { Ref: 'Buffered' },
      StartingPosition: 'TRIM_HORIZON',
      BatchSize: 10,
      MaximumBatchingWindowInSeconds: 5,
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 3,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['Failed', 'Arn'] } } },
      FilterCriteria: { Filters: [{ Pattern: '{"eventName":["INSERT"]}' }] },
    };
    const withMapping = (changes: object = {}): Record<string, FixtureStack> => {
      const { 'test-data': data, 'test-serverless': serverless } = fixtureStacks as Record<string, FixtureStack>;
      return {
        'test-data': {
          ...data,
          resources: data?.resources ?? {},
          outputs: { ...data?.outputs, Stream: { Value: { 'Fn::GetAtt': ['Things', 'StreamArn'] }, Export: { Name: 'data:Stream' } } },
        },
        'test-serverless': {
          ...serverless,
          resources: {
            ...serverless?.resources,
            Failed: { Type: 'AWS::SQS::Queue', Properties: {} },
            Reads: { Type: 'AWS::Lambda::EventSourceMapping', Properties: { ...mapping, ...changes } },
          },
        },
      };
    };

    test('returns all settings of its mapping, and its queue', async () => {
      const { eventSources, queues, functions } = await interpreted(withMapping());
      expect(queues).toEqual([
        {
          name: 'test-serverless-Failed',
          arn: 'arn:aws:sqs:us-east-1:000000000000:test-serverless-Failed',
          url: 'https://sqs.us-east-1.amazonaws.com/000000000000/test-serverless-Failed',
          isFifo: false,
          delayMs: 0,
        },
      ]);
      expect(eventSources).toEqual([
        {
          logicalId: 'Reads',
          sourceArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/test-data-Things/stream/local',
          tableName: 'test-data-Things',
          functionName: functions[1]?.name,
          batchSize: 10,
          windowMs: 5_000,
          filters: [expect.any(Function)],
          bisects: true,
          maxRetries: 3,
          maxAgeMs: Number.POSITIVE_INFINITY,
          failureQueueArn: queues[0]?.arn,
        },
      ]);
    });

    test.each([
      [
        { EventSourceArn: 'arn:aws:kinesis:us-east-1:1:stream/s' },
        'DynamoDB streams only, not arn:aws:kinesis:us-east-1:1:stream/s (Reads',
      ],
      [{ StartingPosition: 'LATEST' }, 'AWS::Lambda::EventSourceMapping (Reads in stack test-serverless)'],
      [{ ParallelizationFactor: 2 }, 'AWS::Lambda::EventSourceMapping (Reads in stack test-serverless)'],
      [
        { FilterCriteria: { Filters: [{ Pattern: '{"a":[{"exists":true}]}' }] } },
        'not by {"exists":true} (Reads in stack test-serverless)',
      ],
      [{ FunctionName: 'nobody' }, 'Reads invokes nobody, which is not a function'],
      [
        { EventSourceArn: 'arn:aws:dynamodb:us-east-1:1:table/other/stream/local' },
        'the stream of other, which is not a table with a stream',
      ],
      [{ DestinationConfig: { OnFailure: { Destination: 'arn:nowhere' } } }, 'failures to arn:nowhere, which is not a queue'],
    ])('rejects an unsupported mapping, naming it: %j', async (changes, words) => {
      await expect(interpreted(withMapping(changes))).rejects.toThrow(words);
    });
  });

  describe('a function that gets the messages of a queue', () => {
    const delivery = {
      EventSourceArn: { 'Fn::GetAtt': ['Work', 'Arn'] },
      FunctionName: { Ref: 'Buffered' },
      BatchSize: 7,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 2 },
    };
    const withQueue = (changes: object = {}, isFifo = true): Record<string, FixtureStack> => {
      const { 'test-serverless': serverless } = fixtureStacks as Record<string, FixtureStack>;
      const RedrivePolicy = { deadLetterTargetArn: { 'Fn::GetAtt': ['Lost', 'Arn'] }, maxReceiveCount: 4 };
      return {
        ...fixtureStacks,
        'test-serverless': {
          ...serverless,
          resources: {
            ...serverless?.resources,
            Work: { Type: 'AWS::SQS::Queue', Properties: { ...(isFifo && { FifoQueue: true }), DelaySeconds: 15, RedrivePolicy } },
            Lost: { Type: 'AWS::SQS::Queue', Properties: { FifoQueue: true } },
            Delivers: { Type: 'AWS::Lambda::EventSourceMapping', Properties: { ...delivery, ...changes } },
          },
        },
      };
    };

    test('is returned with its queue and the queue for failures', async () => {
      const { queueSources, queues, functions } = await interpreted(withQueue());
      const [work, lost] = queues;
      expect(queueSources).toEqual([
        {
          logicalId: 'Delivers',
          queueArn: work?.arn,
          queueUrl: work?.url,
          isFifo: true,
          delayMs: 15_000,
          functionName: functions[1]?.name,
          batchSize: 7,
          maxDeliveries: 4,
          failureQueueArn: lost?.arn,
        },
      ]);
    });

    test('can be one of a standard queue', async () => {
      expect((await interpreted(withQueue({}, false))).queueSources).toEqual([expect.objectContaining({ isFifo: false, delayMs: 15_000 })]);
    });

    test('must be a function of the assembly, get one of its queues, and report single failures', async () => {
      await expect(interpreted(withQueue({ EventSourceArn: 'arn:aws:sqs:us-east-1:000000000000:other' }))).rejects.toThrow(
        'delivers queues of the assembly only',
      );
      await expect(interpreted(withQueue({ FunctionName: 'nobody' }))).rejects.toThrow('Delivers invokes nobody');
      await expect(interpreted(withQueue({ FunctionResponseTypes: [] }))).rejects.toThrow('Delivers in stack test-serverless');
    });
  });

  test('rejects a missing assembly, naming its folder', async () => {
    await expect(readAssembly('/nowhere/cdk.out')).rejects.toThrow('/nowhere/cdk.out/manifest.json');
  });
});
