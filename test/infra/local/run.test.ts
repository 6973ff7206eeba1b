import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { DynamoDBClient, ListTablesCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import { LocalFacts } from '../../../infra/local/local-facts.ts';
import { reservePorts } from '../../../infra/local/processes/reserve-ports.ts';
import { type LocalOptions, type LocalRun, startLocal } from '../../../infra/local/run.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { eventually, type FixtureStack, fixtureStacks, processState, twoHosts, writeAssembly } from './fixtures.ts';

// One for each host and one for the developer panel.
const PORTS_OF_A_RUN = 4;

const folder = temporaryFolder();
const assemblyDir = path.join(folder.path, 'cdk.out');
const stateDir = path.join(folder.path, 'state');
let container: Server;
let options: LocalOptions;
let run: LocalRun;

beforeAll(async () => {
  await writeAssembly(assemblyDir, fixtureStacks);
  container = createServer((_request, response) => response.end('data: [DONE]\n\n'));
  const containerUrl = await listen(container, 0);
  options = {
    assemblyDir,
    stateDir,
    containerUrl,
    ephemeral: true,
    port: 0,
    environments: undefined,
    stopOnDisconnect: false,
    tokenDelayMs: 0,
    quiet: true,
  };
  run = await startLocal(options);
});
afterAll(async () => {
  await run.close();
  await closeServer(container);
  await folder[Symbol.asyncDispose]();
});

const post = (action: string): Promise<Response> =>
  fetch(`${run.hosts.serverless}/stream?action=${action}`, { method: 'POST', body: 'hello' });

describe('a local run', () => {
  test('serves the streamed route through its function', async () => {
    const reply = await post('echo');
    expect(reply.status).toBe(201);
    expect(reply.headers.get('x-fixture')).toBe('yes');
    expect(await reply.json()).toMatchObject({
      event: {
        path: '/stream',
        httpMethod: 'POST',
        body: Buffer.from('hello').toString('base64'),
        isBase64Encoded: true,
        queryStringParameters: { action: 'echo' },
      },
    });
  });

  test('serves the buffered route through its function', async () => {
    const reply = await fetch(`${run.hosts.serverless}/any/where`);
    expect(await reply.json()).toMatchObject({ event: { path: '/any/where', body: null, pathParameters: { proxy: 'any/where' } } });
  });

  test('sends the gateway response for a function that crashes, and serves further requests', async () => {
    const reply = await post('die');
    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toBe('1');
    expect(await reply.json()).toEqual({ error: { code: 'service_unavailable' }, request_id: reply.headers.get('x-amzn-requestid') });
    expect((await post('echo')).status).toBe(201);
  });

  test('breaks the response of a function that crashes after its head', async () => {
    const reply = await post('die_midway');
    expect(reply.status).toBe(201);
    await expect(reply.text()).rejects.toThrow();
    expect((await post('echo')).status).toBe(201);
  });

  test("has the tables of the assembly, and passes the emulators' URLs to functions", async () => {
    expect(run.tables).toEqual({ Things: 'test-data-Things' });
    const client = new DynamoDBClient({
      endpoint: run.dynamodbEndpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    });
    expect((await client.send(new ListTablesCommand())).TableNames).toEqual(['test-data-Things']);
    client.destroy();
    expect(await run.invoke('buffered', { action: 'environment' })).toMatchObject({
      THINGS_TABLE: 'test-data-Things',
      AWS_ENDPOINT_URL_DYNAMODB: run.dynamodbEndpoint,
      AWS_ENDPOINT_URL_SAGEMAKER: run.sagemakerUrl,
      AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: run.sagemakerUrl,
      AWS_ENDPOINT_URL_APPLICATION_AUTO_SCALING: run.sagemakerUrl,
      AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: run.sagemakerUrl,
      AWS_ENDPOINT_URL_SERVICE_QUOTAS: run.sagemakerUrl,
      AWS_ENDPOINT_URL_RESOURCE_GROUPS_TAGGING_API: run.sagemakerUrl,
      AWS_ENDPOINT_URL_S3: run.s3Endpoint,
      AWS_ENDPOINT_URL_LAMBDA: run.lambdaEndpoint,
      AWS_ENDPOINT_URL_SQS: run.sqsEndpoint,
      AWS_LAMBDA_FUNCTION_NAME: 'test-serverless-Buffered',
    });
  });

  test('invokes functions by name, and rejects with their errors', async () => {
    expect(await run.invoke('buffered', { action: 'pid' })).toBe(run.pids().functions.buffered?.[0]);
    await expect(run.invoke('buffered', { action: 'fail' })).rejects.toThrow('RangeError: out of range');
    await expect(run.invoke('nothing', {})).rejects.toThrow('Function nothing does not exist');
  });

  test("has the buckets of the assembly and Lambda's Invoke API", async () => {
    expect(run.buckets).toEqual({ Files: 'test-data-files' });
    const place = { region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } };
    const s3 = new S3Client({ ...place, endpoint: run.s3Endpoint });
    await s3.send(new PutObjectCommand({ Bucket: run.buckets.Files, Key: 'a/b', Body: 'c' }));
    expect(await (await s3.send(new GetObjectCommand({ Bucket: run.buckets.Files, Key: 'a/b' }))).Body?.transformToString()).toBe('c');
    s3.destroy();
    const lambda = new LambdaClient({ ...place, endpoint: run.lambdaEndpoint });
    const { Payload } = await lambda.send(new InvokeCommand({ FunctionName: 'buffered', Payload: '{"action":"pid"}' }));
    expect(Number(Payload?.transformToString())).toBe(run.pids().functions.buffered?.[0]);
    lambda.destroy();
  });

  test('passes the local URL of the other host to the functions of each host, not its URL on AWS', async () => {
    const withTwo = path.join(folder.path, 'two-hosts');
    await writeAssembly(withTwo, twoHosts());
    const both = await startLocal({ ...options, assemblyDir: withTwo, stateDir: path.join(folder.path, 'two-hosts-state') });
    try {
      expect(await both.invoke('own', { action: 'environment' })).toMatchObject({ OTHER_HOST_URL: both.hosts.serverless });
      expect(await both.invoke('buffered', { action: 'environment' })).toMatchObject({ OTHER_HOST_URL: both.hosts.ondemand });
      const reply = await fetch(`${both.hosts.ondemand}/any/where`);
      expect(await reply.json()).toMatchObject({ pid: both.pids().functions.own?.[0] });
    } finally {
      await both.close();
    }
    expect(await run.invoke('buffered', { action: 'environment' })).not.toHaveProperty('OTHER_HOST_URL');
  });

  test('starts each function at its first invocation, if that is wanted', async () => {
    const late = await startLocal({ ...options, lateFunctions: true, stateDir: path.join(folder.path, 'late-state') });
    try {
      expect(Object.values(late.pids().functions).flat()).toEqual([]);
      const pid = await late.invoke('buffered', { action: 'pid' });
      expect(Object.values(late.pids().functions).flat()).toEqual([pid]);
    } finally {
      await late.close();
    }
  });

  test('holds early requests until it has started, and then serves them', async () => {
    using reserved = await reservePorts(PORTS_OF_A_RUN);
    const { port } = reserved;
    const starting = startLocal({ ...options, port, stateDir: path.join(folder.path, 'early') });
    let reply: Response | undefined;
    await eventually(async () => {
      reply = await fetch(`http://127.0.0.1:${port}/any/where`).catch((error: Error) => {
        if ((error.cause as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
        return undefined;
      });
      return reply !== undefined;
    }, 'the port accepts connections');
    expect(reply?.status).toBe(200);
    await (await starting).close();
  });

  test("passes a table's changes to the function that reads its stream, and failed batches to the queue", async () => {
    const { 'test-serverless': serverless } = fixtureStacks as { 'test-serverless': FixtureStack };
    const mapping = {
      EventSourceArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/test-data-Things/stream/local',
      FunctionName: { Ref: 'Buffered' },
      StartingPosition: 'TRIM_HORIZON',
      MaximumBatchingWindowInSeconds: 60,
      MaximumRetryAttempts: 0,
      BisectBatchOnFunctionError: true,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['Failed', 'Arn'] } } },
    };
    const resources = {
      ...serverless.resources,
      Failed: { Type: 'AWS::SQS::Queue', Properties: {} },
      Reads: { Type: 'AWS::Lambda::EventSourceMapping', Properties: mapping },
    };
    const withStream = path.join(folder.path, 'with-stream');
    await writeAssembly(withStream, { ...fixtureStacks, 'test-serverless': { ...serverless, resources } });
    const streamState = path.join(folder.path, 'stream-state');
    const reading = await startLocal({ ...options, assemblyDir: withStream, stateDir: streamState, batchWindowMs: 50 });
    try {
      const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
      const client = new DynamoDBClient({ endpoint: reading.dynamodbEndpoint, region: 'us-east-1', credentials });
      for (const id of ['one', 'two', 'fail'])
        await client.send(new PutItemCommand({ TableName: 'test-data-Things', Item: { id: { S: id }, owner: { S: 'me' } } }));
      client.destroy();
      const seen = async () => (await reading.invoke('buffered', { action: 'records' })) as { dynamodb: object }[];
      await eventually(async () => (await seen()).length === 2, 'the function has seen both');
      expect((await seen())[0]).toEqual({
        eventID: expect.any(String),
        eventName: 'INSERT',
        eventVersion: '1.1',
        eventSource: 'aws:dynamodb',
        awsRegion: 'us-east-1',
        eventSourceARN: mapping.EventSourceArn,
        dynamodb: {
          ApproximateCreationDateTime: expect.any(Number),
          Keys: { id: { S: 'one' } },
          NewImage: { id: { S: 'one' }, owner: { S: 'me' } },
          SequenceNumber: expect.any(String),
          SizeBytes: expect.any(Number),
          StreamViewType: 'NEW_IMAGE',
        },
      });
      const failed = path.join(streamState, 'queues/test-serverless-Failed.jsonl');
      await eventually(() => existsSync(failed) && readFileSync(failed, 'utf8').endsWith('\n'), 'the failure is in the queue');
      expect(JSON.parse(readFileSync(failed, 'utf8'))).toMatchObject({ body: { DDBStreamBatchInfo: { batchSize: 1 } } });
    } finally {
      await reading.close();
    }
  });

  test('delivers events and delayed messages to functions, and runs schedules, no later than asked', async () => {
    const { 'test-serverless': serverless } = fixtureStacks as { 'test-serverless': FixtureStack };
    const Targets = [{ Id: 'T', Arn: { 'Fn::GetAtt': ['Buffered', 'Arn'] } }];
    const delivery = {
      EventSourceArn: { 'Fn::GetAtt': ['Work', 'Arn'] },
      FunctionName: { Ref: 'Buffered' },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    };
    const resources = {
      ...serverless.resources,
      Changed: { Type: 'AWS::Events::Rule', Properties: { EventPattern: { source: ['aws.sagemaker'] }, Targets } },
      Hourly: { Type: 'AWS::Events::Rule', Properties: { ScheduleExpression: 'rate(1 hour)', Targets } },
      Work: { Type: 'AWS::SQS::Queue', Properties: { FifoQueue: true, DelaySeconds: 900 } },
      Delivers: { Type: 'AWS::Lambda::EventSourceMapping', Properties: delivery },
    };
    const withEvents = path.join(folder.path, 'with-events');
    await writeAssembly(withEvents, { ...fixtureStacks, 'test-serverless': { ...serverless, resources } });
    const eventState = path.join(folder.path, 'event-state');
    const capped = await startLocal({ ...options, assemblyDir: withEvents, stateDir: eventState, queueDelayMs: 50, scheduleMs: 50 });
    try {
      capped.publish({ source: 'aws.sagemaker', detailType: 'SageMaker Endpoint State Change', detail: { EndpointName: 'e' } });
      const QueueUrl = 'https://sqs.us-east-1.amazonaws.com/000000000000/test-serverless-Work';
      const body = JSON.stringify({ QueueUrl, MessageBody: 'later', MessageGroupId: 'g', MessageDeduplicationId: '1' });
      const headers = { 'x-amz-target': 'AmazonSQS.SendMessage' };
      expect((await fetch(capped.sqsEndpoint, { method: 'POST', headers, body })).status).toBe(200);
      const noted = async () => (await capped.invoke('buffered', { action: 'events' })) as { source: string; detail: object }[];
      await eventually(async () => new Set((await noted()).map(({ source }) => source)).size === 2, 'the event and the schedule arrive');
      expect((await noted()).find(({ source }) => source === 'aws.sagemaker')).toMatchObject({ detail: { EndpointName: 'e' } });
      const read = async () => (await capped.invoke('buffered', { action: 'records' })) as { body: string }[];
      await eventually(async () => (await read()).length === 1, 'the message arrives');
      expect(await read()).toEqual([expect.objectContaining({ body: 'later', eventSource: 'aws:sqs' })]);
    } finally {
      await capped.close();
    }
  });
});

describe('a runner', () => {
  const pidsOf = ({ dynamodb, functions }: LocalFacts['pids']): number[] => [
    ...Object.values(functions).flat(),
    ...(dynamodb === null ? [] : [dynamodb]),
  ];

  test('stops its processes when it closes, and fails if its port is in use', async () => {
    const other = await startLocal(options);
    const pids = pidsOf(other.pids());
    const port = Number(new URL(other.hosts.serverless).port);
    await expect(startLocal({ ...options, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await other.close();
    expect(pids.map(processState)).toEqual(pids.map(() => undefined));
  });

  test('leaves no processes when it is killed, not even frozen ones', async () => {
    const child = fork(
      path.join(import.meta.dirname, 'runner.ts'),
      [assemblyDir, path.join(folder.path, 'killed'), options.containerUrl ?? ''],
      { execArgv: [] },
    );
    const [message] = await once(child, 'message');
    const pids = pidsOf(LocalFacts.shape.pids.parse(message));
    expect(pids).toHaveLength(3);
    await eventually(() => pids.filter((pid) => processState(pid) === 'T').length === 2, 'the functions are frozen');
    child.kill('SIGKILL');
    await eventually(() => pids.every((pid) => processState(pid) === undefined), 'all processes have ended');
  });
});

describe('npm start', () => {
  const start = async (...parameters: string[]): Promise<{ code: number; errors: string }> => {
    const child = spawn(process.execPath, ['infra/local/start.ts', ...parameters], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    const [code] = await once(child, 'close');
    return { code, errors };
  };

  test('says in one line which port is in use, and how to choose another', async () => {
    const port = new URL(run.hosts.serverless).port;
    const { code, errors } = await start(
      '--assembly',
      assemblyDir,
      '--state',
      path.join(folder.path, 'taken'),
      '--ephemeral',
      '--port',
      port,
      '--container',
      options.containerUrl ?? '',
    );
    expect(errors).toBe(`Port ${port} is in use. Choose another one with --port, or use --port 0 for any free port.\n`);
    expect(code).toBe(1);
  });

  test.each([
    ['--verbose', "Unknown option '--verbose'"],
    ['--port=many', '--port: '],
    ['--environments=0', '--environments: '],
  ])('rejects %s', async (flag, words) => {
    const { code, errors } = await start(flag);
    expect(errors).toContain(words);
    expect(code).toBe(1);
  });
});
