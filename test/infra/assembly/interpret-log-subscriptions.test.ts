import { describe, expect, test } from '@jest/globals';
import { interpret } from '../../../infra/assembly/interpret.ts';
import type { LocalApp } from '../../../infra/assembly/local-app.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type FixtureStack, fixtureStacks, writeAssembly } from '../local/fixtures.ts';

const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });

// Lines of `Streaming` go to the function `Buffered`.
const subscribed = (changes: { filter?: object; permission?: object; config?: object } = {}): Record<string, FixtureStack> => {
  const { 'test-serverless': serverless } = fixtureStacks as Record<string, FixtureStack>;
  const { Streaming } = (serverless?.resources ?? {}) as { Streaming: { Properties: object } };
  const resources = {
    ...serverless?.resources,
    Streaming: { ...Streaming, Properties: { ...Streaming.Properties, LoggingConfig: { LogGroup: { Ref: 'Logs' } } } },
    Logs: { Type: 'AWS::Logs::LogGroup', Properties: {} },
    Failures: { Type: 'AWS::SQS::Queue', Properties: {} },
    Filter: {
      Type: 'AWS::Logs::SubscriptionFilter',
      Properties: {
        LogGroupName: { Ref: 'Logs' },
        FilterPattern: '{ $.message = "refused" }',
        DestinationArn: arnOf('Buffered'),
        ...changes.filter,
      },
    },
    Permission: {
      Type: 'AWS::Lambda::Permission',
      Properties: {
        Action: 'lambda:InvokeFunction',
        FunctionName: arnOf('Buffered'),
        Principal: 'logs.amazonaws.com',
        SourceArn: arnOf('Logs'),
        ...changes.permission,
      },
    },
    Config: {
      Type: 'AWS::Lambda::EventInvokeConfig',
      Properties: {
        FunctionName: { Ref: 'Buffered' },
        Qualifier: '$LATEST',
        MaximumRetryAttempts: 1,
        DestinationConfig: { OnFailure: { Destination: arnOf('Failures') } },
        ...changes.config,
      },
    },
  };
  return { ...fixtureStacks, 'test-serverless': { ...serverless, resources } };
};

const interpreted = async (stacks: Readonly<Record<string, FixtureStack>>): Promise<LocalApp> => {
  await using folder = temporaryFolder();
  await writeAssembly(folder.path, stacks);
  return interpret(await readAssembly(folder.path));
};

describe('a subscription to the log of a function', () => {
  test('is returned with the function that gets the lines, which lines, and what happens to those that fail', async () => {
    const { logSubscriptions, functions, queues } = await interpreted(subscribed());
    expect(logSubscriptions).toEqual([
      {
        logicalId: 'Filter',
        logGroup: 'test-serverless-Logs',
        sourceName: 'streaming',
        matches: expect.any(Function),
        functionArn: functions.find(({ shortName }) => shortName === 'buffered')?.arn,
        maxRetries: 1,
        failureQueueArn: queues[0]?.arn,
      },
    ]);
    expect(['{"message":"refused"}', '{"message":"request"}'].map((line) => logSubscriptions[0]?.matches(line))).toEqual([true, false]);
  });

  test.each([
    ['an unknown pattern', { filter: { FilterPattern: 'refused' } }, 'not refused (Filter in stack test-serverless)'],
    ['a log of no function', { filter: { LogGroupName: 'others' } }, 'not others (Filter in stack test-serverless)'],
    ['a stream of Kinesis', { filter: { DestinationArn: 'arn:aws:kinesis:x' } }, 'not arn:aws:kinesis:x (Filter in stack test-serverless)'],
    ['a missing permission', { permission: { Principal: 'events.amazonaws.com' } }, 'No permission lets logs.amazonaws.com invoke'],
    ['a permission for another log', { permission: { SourceArn: 'arn:aws:logs:x' } }, 'No permission lets logs.amazonaws.com invoke'],
    [
      'an unknown queue',
      { config: { DestinationConfig: { OnFailure: { Destination: 'arn:x' } } } },
      'not arn:x (Config in stack test-serverless)',
    ],
    [
      'a queue for the failures of another function',
      { config: { FunctionName: { Ref: 'Streaming' } } },
      'of functions that get log lines only',
    ],
  ])('is rejected with %s', async (_, changes, words) => {
    await expect(interpreted(subscribed(changes))).rejects.toThrow(words);
  });
});
