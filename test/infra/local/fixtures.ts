import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { LambdaFunction } from '../../../infra/assembly/local-app.ts';

const FUNCTIONS = path.join(import.meta.dirname, 'functions');
const POLL_INTERVAL_MS = 5;
const MAX_POLLS = 24_000;

/** One of the bundles beside this file, as the assembly would describe it. */
export const fixtureFunction = (bundle: 'streaming' | 'buffered' | 'broken', overrides: Partial<LambdaFunction> = {}): LambdaFunction => ({
  arn: `arn:aws:lambda:us-east-1:000000000000:function:test-${bundle}`,
  name: `test-${bundle}`,
  shortName: bundle,
  folder: path.join(FUNCTIONS, bundle),
  handler: 'index.handler',
  environment: { GREETING: 'hello' },
  // A bound against hanging, which a busy machine does not reach.
  timeoutMs: 120_000,
  memoryMiB: 256,
  ...overrides,
});

/** Waits until a condition holds; throws after two minutes. */
export const eventually = async (condition: () => boolean | Promise<boolean>, what: string): Promise<void> => {
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
  throw new Error(`Timed out waiting until ${what}`);
};

/** The state letter of a process in /proc (T is stopped), or undefined if it has exited (zombies included). */
export const processState = (pid: number): string | undefined => {
  try {
    const [, state] = /\) (\w) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return state === 'Z' ? undefined : state;
  } catch {
    return undefined;
  }
};

export interface FixtureStack {
  readonly resources: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  /** hash → folder */
  readonly assets?: Readonly<Record<string, string>>;
}

/** Writes a cloud assembly with these stacks, by name. */
export const writeAssembly = async (folder: string, stacks: Readonly<Record<string, FixtureStack>>): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const write = (file: string, content: unknown) => writeFile(path.join(folder, file), JSON.stringify(content));
  const artifacts = Object.keys(stacks).map((name) => [
    name,
    { type: 'aws:cloudformation:stack', properties: { templateFile: `${name}.template.json` } },
  ]);
  await write('manifest.json', { artifacts: { Tree: { type: 'cdk:tree' }, ...Object.fromEntries(artifacts) } });
  for (const [name, { resources, outputs = {}, assets = {} }] of Object.entries(stacks)) {
    await write(`${name}.template.json`, { Resources: resources, Outputs: outputs });
    const files = Object.entries(assets).map(([hash, asset]) => [hash, { source: { path: path.relative(folder, asset) } }]);
    await write(`${name}.assets.json`, { files: Object.fromEntries(files) });
  }
};

const integration = (functionId: string, streaming: boolean, timeoutMs: number) => ({
  Type: 'AWS_PROXY',
  TimeoutInMillis: timeoutMs,
  ...(streaming && { ResponseTransferMode: 'STREAM' }),
  Uri: {
    'Fn::Join': [
      '',
      [
        'arn:',
        { Ref: 'AWS::Partition' },
        ':apigateway:us-east-1:lambda:path/2015-03-31/functions/',
        { 'Fn::GetAtt': [functionId, 'Arn'] },
        streaming ? '/response-streaming-invocations' : '/invocations',
      ],
    ],
  },
});

const lambda = (bundle: string, variables: Readonly<Record<string, string>> = {}) => ({
  Type: 'AWS::Lambda::Function',
  Properties: {
    Code: { S3Bucket: 'assets', S3Key: `${bundle}hash.zip` },
    Handler: 'index.handler',
    Timeout: 20,
    MemorySize: 256,
    Environment: { Variables: { SLUICE_FUNCTION: bundle, THINGS_TABLE: { 'Fn::ImportValue': 'data:Things' }, ...variables } },
  },
});

const method = (resourceId: unknown, httpMethod: string, functionId: string, streaming: boolean, timeoutMs = 20_000) => ({
  Type: 'AWS::ApiGateway::Method',
  Properties: {
    RestApiId: { Ref: 'Api' },
    ResourceId: resourceId,
    HttpMethod: httpMethod,
    AuthorizationType: 'NONE',
    Integration: integration(functionId, streaming, timeoutMs),
  },
});

/**
 * Two stacks: one with a table and a bucket, one with a host that has a streamed route, a buffered route and a
 * gateway response.
 */
export const fixtureStacks: Readonly<Record<string, FixtureStack>> = {
  'test-data': {
    resources: {
      Things: {
        Type: 'AWS::DynamoDB::GlobalTable',
        Properties: {
          AttributeDefinitions: [
            { AttributeName: 'id', AttributeType: 'S' },
            { AttributeName: 'owner', AttributeType: 'S' },
          ],
          KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
          GlobalSecondaryIndexes: [
            {
              IndexName: 'by-owner',
              KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
              Projection: { ProjectionType: 'KEYS_ONLY' },
            },
          ],
          StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
          TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
        },
      },
      Files: { Type: 'AWS::S3::Bucket', Properties: {} },
      FilesPolicy: { Type: 'AWS::S3::BucketPolicy', Properties: {} },
    },
    outputs: { Out: { Value: { Ref: 'Things' }, Export: { Name: 'data:Things' } } },
  },
  'test-serverless': {
    assets: { streaminghash: path.join(FUNCTIONS, 'streaming'), bufferedhash: path.join(FUNCTIONS, 'buffered') },
    resources: {
      Streaming: lambda('streaming'),
      Buffered: lambda('buffered'),
      Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { BinaryMediaTypes: ['*/*'] } },
      Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { RestApiId: { Ref: 'Api' }, StageName: 'live' } },
      Stream: {
        Type: 'AWS::ApiGateway::Resource',
        Properties: { RestApiId: { Ref: 'Api' }, ParentId: { 'Fn::GetAtt': ['Api', 'RootResourceId'] }, PathPart: 'stream' },
      },
      Proxy: {
        Type: 'AWS::ApiGateway::Resource',
        Properties: { RestApiId: { Ref: 'Api' }, ParentId: { 'Fn::GetAtt': ['Api', 'RootResourceId'] }, PathPart: '{proxy+}' },
      },
      StreamPost: method({ Ref: 'Stream' }, 'POST', 'Streaming', true),
      ProxyAny: method({ Ref: 'Proxy' }, 'ANY', 'Buffered', false),
      Failure: {
        Type: 'AWS::ApiGateway::GatewayResponse',
        Properties: {
          RestApiId: { Ref: 'Api' },
          ResponseType: 'DEFAULT_5XX',
          StatusCode: '503',
          ResponseParameters: { 'gatewayresponse.header.retry-after': "'1'" },
          ResponseTemplates: { 'application/json': '{"error":{"code":"service_unavailable"},"request_id":"$context.requestId"}' },
        },
      },
      Sweep: {
        Type: 'AWS::Events::Rule',
        Properties: {
          ScheduleExpression: 'rate(5 minutes)',
          State: 'ENABLED',
          Targets: [{ Arn: { 'Fn::GetAtt': ['Buffered', 'Arn'] }, Id: 'T' }],
        },
      },
      Role: { Type: 'AWS::IAM::Role', Properties: {} },
    },
  },
};

/** The same stacks and a second host. One function of each host has HOST_SCOPE. */
export const twoHosts = (): Readonly<Record<string, FixtureStack>> => {
  const { 'test-serverless': serverless } = fixtureStacks as { 'test-serverless': FixtureStack };
  const { Api, Stage, Proxy: Everything } = serverless.resources;
  const buffered = { bufferedhash: path.join(FUNCTIONS, 'buffered') };
  return {
    ...fixtureStacks,
    'test-serverless': {
      ...serverless,
      resources: { ...serverless.resources, Buffered: lambda('buffered', { HOST_SCOPE: 'serverless' }) },
    },
    'test-ondemand': {
      assets: buffered,
      resources: {
        Own: lambda('buffered', { SLUICE_FUNCTION: 'own', HOST_SCOPE: 'on_demand', OTHER_HOST_URL: 'https://serverless.example.com' }),
        Api,
        Stage,
        Proxy: Everything,
        ProxyAny: method({ Ref: 'Proxy' }, 'ANY', 'Own', false),
      },
    },
  };
};
