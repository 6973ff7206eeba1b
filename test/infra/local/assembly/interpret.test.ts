import { describe, expect, test } from '@jest/globals';
import { interpret } from '../../../../infra/local/assembly/interpret.ts';
import type { LocalApp } from '../../../../infra/local/assembly/local-app.ts';
import { readAssembly } from '../../../../infra/local/assembly/read-assembly.ts';
import { type FixtureStack, fixtureStacks, temporaryFolder, writeAssembly } from '../fixtures.ts';

const interpreted = async (stacks: Readonly<Record<string, FixtureStack>>): Promise<LocalApp> => {
  await using folder = temporaryFolder();
  await writeAssembly(folder.path, stacks);
  return interpret(await readAssembly(folder.path));
};

const withResource = (id: string, Type: string, Properties: object = {}): Record<string, FixtureStack> => ({
  ...fixtureStacks,
  'test-more': { resources: { [id]: { Type, Properties } } },
});

describe('an assembly', () => {
  test('gives the routes of its APIs with their functions, transfer mode and timeout', async () => {
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

  test('gives functions with their code, and variables resolved across stacks', async () => {
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

  test('gives buckets', async () => {
    expect((await interpreted(fixtureStacks)).buckets).toEqual([{ name: 'test-data-files', logicalId: 'Files' }]);
  });

  test('gives tables and schedules', async () => {
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

  test('with something that cannot be served is an error with type, logical id and stack', async () => {
    await expect(interpreted(withResource('Jobs', 'AWS::SQS::Queue'))).rejects.toThrow('AWS::SQS::Queue (Jobs in stack test-more)');
  });

  test('with a schedule other than a rate is an error with the expression', async () => {
    const rule = withResource('Nightly', 'AWS::Events::Rule', { ScheduleExpression: 'cron(0 2 * * ? *)' });
    await expect(interpreted(rule)).rejects.toThrow('cron(0 2 * * ? *) (Nightly in stack test-more)');
  });

  test('with a method that is not an open Lambda proxy is an error with its name', async () => {
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

  test('keeps event sources apart, for the run to refuse until it can read streams', async () => {
    const mapping = { EventSourceArn: 'arn:aws:dynamodb:table/x/stream/1', FunctionName: 'metering', BatchSize: 10 };
    const { eventSources } = await interpreted(withResource('Reads', 'AWS::Lambda::EventSourceMapping', mapping));
    expect(eventSources).toEqual([{ logicalId: 'Reads', sourceArn: mapping.EventSourceArn, functionName: 'metering', batchSize: 10 }]);
  });

  test('that is not there is an error with the folder', async () => {
    await expect(readAssembly('/nowhere/cdk.out')).rejects.toThrow('/nowhere/cdk.out/manifest.json');
  });
});
