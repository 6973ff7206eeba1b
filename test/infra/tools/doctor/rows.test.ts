import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { CreateEndpointCommand, CreateEndpointConfigCommand, CreateModelCommand, DeleteEndpointCommand } from '@aws-sdk/client-sagemaker';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { SESv2Client } from '@aws-sdk/client-sesv2';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { bootstrapRow, concurrencyRow, quotaRow, requestQuotaRow } from '../../../../infra/tools/doctor/account.ts';
import { alarmsRow } from '../../../../infra/tools/doctor/alarms.ts';
import { emailRow } from '../../../../infra/tools/doctor/email.ts';
import { modelRows } from '../../../../infra/tools/doctor/models.ts';
import { attempt, ok } from '../../../../infra/tools/doctor/row.ts';
import { scalingRoleRow } from '../../../../infra/tools/doctor/scaling-role.ts';
import { nodeRow } from '../../../../infra/tools/doctor/software.ts';
import { readStacks, releaseRow, stacksRow } from '../../../../infra/tools/doctor/stacks.ts';
import { tablesRow, wantedTables } from '../../../../infra/tools/doctor/tables.ts';
import { weightsRow } from '../../../../infra/tools/doctor/weights.ts';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import type { Model } from '../../../../shared/models/model.ts';
import { type FakeAws, startFakeAws } from '../../../support/emulators/fake-aws.ts';
import { createControlPlane } from '../../../support/emulators/sagemaker-control-plane.ts';

let aws: FakeAws;
beforeAll(async () => {
  aws = await startFakeAws();
});
afterAll(() => aws.close());

const client = () => ({ endpoint: aws.url, region: 'eu-west-1', credentials: { accessKeyId: 'x', secretAccessKey: 'x' }, maxAttempts: 1 });
const xml = (status: number, body: string) =>
  aws.answers((response) => response.writeHead(status, { 'content-type': 'text/xml' }).end(body));
const json = (replies: Record<string, object>) =>
  aws.answers((response, _, { headers }) => {
    const operation = String(headers['x-amz-target']).split('.')[1] ?? '';
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(replies[operation] ?? {}));
  });
const stackXml = (status: string, outputs: Record<string, string> = {}): string =>
  `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>x</StackName><CreationTime>2026-11-21T00:00:00Z</CreationTime><StackStatus>${status}</StackStatus><Outputs>${Object.entries(
    outputs,
  )
    .map(([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`)
    .join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
const missingXml =
  '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id x does not exist</Message></Error></ErrorResponse>';

describe('the account', () => {
  test.each([
    [{ limit: 10, available: 0 }, 'warning', 'Enough for a try'],
    [{ limit: 1_000, available: 400 }, 'warning', 'take capacity from each other'],
    [{ limit: 1_000, available: 900 }, 'ok', ''],
  ] as const)('with the concurrency %j is %s', (account, status, advice) => {
    const row = concurrencyRow(account, 896);
    expect(row.status).toBe(status);
    expect(row.advice).toContain(advice);
  });

  test('is bootstrapped, was bootstrapped long ago, or is not', async () => {
    xml(200, stackXml('CREATE_COMPLETE', { BootstrapVersion: '21' }));
    expect(await bootstrapRow(new CloudFormationClient(client()))).toEqual(ok('CDK bootstrap', 'version 21'));
    xml(200, stackXml('CREATE_COMPLETE', { BootstrapVersion: '4' }));
    expect(await bootstrapRow(new CloudFormationClient(client()))).toMatchObject({ status: 'failure', advice: 'npx cdk bootstrap' });
    xml(400, missingXml);
    expect(await bootstrapRow(new CloudFormationClient(client()))).toMatchObject({
      status: 'failure',
      found: expect.stringContaining('no stack'),
    });
  });

  test('has quotas of GPUs, or none', async () => {
    const { quotas } = createControlPlane({ settings: { quotas: { 'ml.g5.xlarge': 2 } } });
    expect(await quotaRow(quotas, ['ml.g5.xlarge'])).toEqual(ok('GPU quotas', 'ml.g5.xlarge: 2'));
    const none = createControlPlane({ settings: { quotas: { 'ml.g5.xlarge': 0 } } });
    expect(await quotaRow(none.quotas, ['ml.g5.xlarge'])).toMatchObject({ status: 'warning', found: '0 of 1 types of the catalogue' });
  });
});

describe('API Gateway', () => {
  const row = (wanted: number) => requestQuotaRow(new ServiceQuotasClient(client()), wanted);

  test('takes what the hosts let through, or less', async () => {
    json({ GetServiceQuota: { Quota: { QuotaCode: 'L-8A5B8E43', Value: 2_500 } } });
    expect(await row(2_500)).toEqual(ok('API Gateway quota', '2500 requests a second, of which the hosts let through 2500'));
    expect(JSON.parse(aws.received[0]?.body ?? '')).toEqual({ ServiceCode: 'apigateway', QuotaCode: 'L-8A5B8E43' });
    expect(await row(7_500)).toMatchObject({ status: 'warning', advice: expect.stringContaining('Lower requestsPerSecond') });
  });

  test('has the region’s default if the account has no quota of its own', async () => {
    aws.answers((response, _, { headers }) => {
      const isDefault = String(headers['x-amz-target']).endsWith('GetAWSDefaultServiceQuota');
      response.writeHead(isDefault ? 200 : 400, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(isDefault ? '{"Quota":{"Value":10000}}' : '{"__type":"NoSuchResourceException","message":"none"}');
    });
    expect(await row(7_500)).toMatchObject({ status: 'ok' });
  });
});

describe('SES', () => {
  const answer = (body: object) =>
    aws.answers((response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)));
  const row = (from?: string) => emailRow(new SESv2Client(client()), from);

  test.each([
    [{ SendingEnabled: true, ProductionAccessEnabled: true, SendQuota: { Max24HourSend: 50_000 } }, 'ok', 'up to 50000 a day'],
    [{ SendingEnabled: true, ProductionAccessEnabled: false }, 'warning', 'sandbox'],
    [{ SendingEnabled: false, ProductionAccessEnabled: true }, 'warning', 'does not send'],
  ] as const)('with the account %j is %s', async (account, status, found) => {
    answer(account);
    expect(await row('billing@example.com')).toMatchObject({ status, found: expect.stringContaining(found) });
  });

  test('is not asked if no email is configured', async () => {
    answer({});
    expect(await row()).toMatchObject({ status: 'skipped' });
    expect(aws.received).toEqual([]);
  });
});

describe('the role of Application Auto Scaling', () => {
  const row = () => scalingRoleRow({ accessKeyId: 'x', secretAccessKey: 'x' }, 'eu-west-1');
  beforeEach(() => {
    process.env.AWS_ENDPOINT_URL_IAM = aws.url;
  });

  test('exists, which IAM says in us-east-1', async () => {
    xml(200, '<GetRoleResponse/>');
    expect(await row()).toEqual(ok('scaling role', 'exists'));
    expect(aws.received[0]).toMatchObject({
      body: 'Action=GetRole&RoleName=AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint&Version=2010-05-08',
      headers: { authorization: expect.stringContaining('/us-east-1/iam/aws4_request') },
    });
  });

  test('is missing until the first deployment, or cannot be looked at', async () => {
    const error = (code: string) => `<ErrorResponse><Error><Code>${code}</Code><Message>No.</Message></Error></ErrorResponse>`;
    xml(404, error('NoSuchEntity'));
    expect(await row()).toMatchObject({ status: 'warning', advice: expect.stringContaining('create-service-linked-role') });
    xml(403, error('AccessDenied'));
    await expect(row()).rejects.toThrow('AccessDenied: No.');
  });
});

describe('the stacks', () => {
  test.each([
    [{}, 'skipped', 'nothing is deployed'],
    [{ a: 'CREATE_COMPLETE' }, 'failure', 'not deployed: b'],
    [{ a: 'CREATE_COMPLETE', b: 'UPDATE_ROLLBACK_COMPLETE' }, 'failure', 'b is UPDATE_ROLLBACK_COMPLETE'],
    [{ a: 'CREATE_COMPLETE', b: 'UPDATE_IN_PROGRESS' }, 'warning', 'b is UPDATE_IN_PROGRESS'],
    [{ a: 'CREATE_COMPLETE', b: 'UPDATE_COMPLETE' }, 'ok', '2 deployed'],
  ] as const)('%j are %s', (statuses, status, found) => {
    const deployed = new Map(Object.entries(statuses).map(([name, of]) => [name, { status: of, outputs: new Map<string, string>() }]));
    expect(stacksRow(['a', 'b'], deployed)).toMatchObject({ status, found });
  });

  test('are read with their outputs', async () => {
    xml(200, stackXml('CREATE_COMPLETE', { ControlUrl: 'https://example.com' }));
    const deployed = await readStacks(new CloudFormationClient(client()), ['a']);
    expect(deployed.get('a')).toEqual({ status: 'CREATE_COMPLETE', outputs: new Map([['ControlUrl', 'https://example.com']]) });
    xml(400, missingXml);
    expect(await readStacks(new CloudFormationClient(client()), ['a'])).toEqual(new Map());
  });

  test('have this release, another one, or a control plane that fails', async () => {
    aws.answers((response, _, { path }) => response.writeHead(path === '/stage/version' ? 200 : 404).end('{"version":"0.1.0"}'));
    expect(await releaseRow(`${aws.url}/stage/v1`, '0.1.0')).toMatchObject({ status: 'ok', found: '0.1.0' });
    expect(await releaseRow(`${aws.url}/stage/v1`, '0.2.0')).toMatchObject({
      status: 'warning',
      found: '0.1.0 is deployed, and this is 0.2.0',
    });
    aws.answers((response) => response.writeHead(503).end());
    expect(await releaseRow(`${aws.url}/stage/v1`, '0.1.0')).toMatchObject({ status: 'failure' });
  });
});

describe('the tables', () => {
  const wanted = [{ name: 'usage-1', timeToLiveAttribute: 'expires_at', hasStream: true }];
  const right = {
    DescribeTable: { Table: { TableStatus: 'ACTIVE', DeletionProtectionEnabled: true, StreamSpecification: { StreamEnabled: true } } },
    DescribeContinuousBackups: {
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'ENABLED' },
      },
    },
    DescribeTimeToLive: { TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: 'expires_at' } },
  };

  test('have all settings of the templates', async () => {
    json(right);
    expect(await tablesRow(new DynamoDBClient(client()), wanted)).toMatchObject({ status: 'ok' });
  });

  test('lack every protection and setting after a restore', async () => {
    json({ DescribeTable: { Table: { TableStatus: 'ACTIVE' } } });
    expect(await tablesRow(new DynamoDBClient(client()), wanted)).toMatchObject({
      status: 'failure',
      found: 'usage-1 can be deleted; usage-1 has no point-in-time recovery; usage-1 never deletes what has expired; usage-1 has no stream',
    });
  });

  test('are those that are used: adopted ones, or the own ones by their physical names', () => {
    const table = (properties: object, metadata?: object) => ({ type: 'AWS::DynamoDB::GlobalTable', properties, metadata });
    const resources = new Map(
      Object.entries({
        Usage: table(
          { StreamSpecification: {}, TimeToLiveSpecification: { AttributeName: 'expires_at' } },
          { 'sluice:adopted': 'usage-2' },
        ),
        Keys: table({}),
        Weights: { type: 'AWS::S3::Bucket', properties: {} },
      }),
    );
    const stack = {
      name: 'sluice-data',
      isProtected: true,
      resources,
      parameters: new Map(),
      exports: new Map(),
      outputs: new Map(),
      assets: new Map(),
    };
    const deployed = [{ logicalId: 'Keys', type: 'AWS::DynamoDB::GlobalTable', name: 'keys-1' }];
    expect(wantedTables([stack] as never, deployed)).toEqual([
      { name: 'usage-2', timeToLiveAttribute: 'expires_at', hasStream: true },
      { name: 'keys-1', timeToLiveAttribute: undefined, hasStream: false },
    ]);
  });
});

describe('the models', () => {
  const ROLE = 'arn:aws:iam::000000000000:role/sluice';
  const modelOf = (targets: object[], tokenizer?: object) =>
    ({ name: 'qwen', targets, ...(tokenizer && { tokenizer }) }) as unknown as Model;

  const setUp = async () => {
    const control = createControlPlane();
    const create = async (name: string, tag: string) => {
      const container = { Image: '000000000000.dkr.ecr.us-east-1.amazonaws.com/vllm:1' };
      await control.sagemaker.send(new CreateModelCommand({ ModelName: name, ExecutionRoleArn: ROLE, PrimaryContainer: container }));
      const variant = { VariantName: 'all', ModelName: name, InstanceType: 'ml.g5.xlarge' as const, InitialInstanceCount: 1 };
      await control.sagemaker.send(new CreateEndpointConfigCommand({ EndpointConfigName: name, ProductionVariants: [variant] }));
      const Tags = [{ Key: 'sluice', Value: tag }];
      await control.sagemaker.send(new CreateEndpointCommand({ EndpointName: name, EndpointConfigName: name, Tags }));
    };
    await create('tagged', 'true');
    await create('untagged', 'false');
    control.advance(3_600_000);
    const s3 = new S3Client({ ...client(), forcePathStyle: true });
    const deps = { sagemakerIn: () => control.sagemaker, s3, tokenizersBucket: 'tokenizers', endpointTag: 'sluice' };
    const rowOf = async (model: Model) => (await modelRows(deps, [model]))[0];
    return { control, rowOf, deps };
  };

  test('can be called if an endpoint is in service and tagged', async () => {
    const { rowOf, control } = await setUp();
    expect(await rowOf(modelOf([{ endpoint: 'tagged' }]))).toMatchObject({ check: 'model qwen', status: 'ok' });
    expect(await rowOf(modelOf([{ endpoint: 'untagged' }]))).toMatchObject({
      status: 'failure',
      found: 'endpoint untagged lacks the tag sluice=true',
    });
    expect(await rowOf(modelOf([{ endpoint: 'none' }]))).toMatchObject({ status: 'failure', found: 'endpoint none does not exist' });
    expect(await rowOf(modelOf([{ endpoint: 'tagged' }, { endpoint: 'none' }]))).toMatchObject({ status: 'warning' });
    await control.sagemaker.send(new DeleteEndpointCommand({ EndpointName: 'tagged' }));
    expect(await rowOf(modelOf([{ endpoint: 'tagged' }]))).toMatchObject({ status: 'failure', found: 'endpoint tagged is Deleting' });
  });

  test('count prompts only with all files of their tokenizer', async () => {
    const { rowOf } = await setUp();
    aws.answers((response, _, { path }) => response.writeHead(path.includes('present') ? 200 : 404).end());
    expect(await rowOf(modelOf([{ endpoint: 'tagged' }], { tokenizer: 'present.json', vocabulary_size: 7 }))).toMatchObject({
      status: 'ok',
    });
    expect(await rowOf(modelOf([{ endpoint: 'tagged' }], { tokenizer: 'present.json', config: 'gone.json' }))).toMatchObject({
      status: 'failure',
      found: "the tokenizer's file gone.json is missing",
    });
  });

  test('are missing altogether', async () => {
    const { deps } = await setUp();
    expect(await modelRows(deps, [])).toMatchObject([{ status: 'warning', found: 'none is published' }]);
  });
});

describe('the weights', () => {
  const deploymentOf = (model: string) => ({ id: 'dep_1', generations: [{ model, allows_code: false }] }) as unknown as Deployment;
  const listing = (keys: readonly string[]): string =>
    `<ListBucketResult><IsTruncated>false</IsTruncated>${keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('')}</ListBucketResult>`;

  test.each([
    [['org_1/qwen/config.json', 'org_1/qwen/model.safetensors'], 'ok'],
    [[], 'failure'],
  ])('%j are %s', async (keys, status) => {
    xml(200, listing(keys));
    const row = await weightsRow(new S3Client({ ...client(), forcePathStyle: true }), [deploymentOf('s3://weights/org_1/qwen/')]);
    expect(row).toMatchObject({ check: 'weights', status });
  });
});

test.each([
  ['24.1.0', 'ok'],
  ['20.20.2', 'failure'],
])('the commands run with Node %s: %s', (running, status) => expect(nodeRow(running, '24.21.0')).toMatchObject({ status }));

describe('the alarms', () => {
  test.each([
    [[], 'warning'],
    [[{ AlarmName: 'sluice-operations-A', StateValue: 'OK' }], 'ok'],
    [
      [
        { AlarmName: 'sluice-operations-A', StateValue: 'ALARM' },
        { AlarmName: 'sluice-operations-B', StateValue: 'OK' },
      ],
      'failure',
    ],
  ])('%j are a %s', async (MetricAlarms, status) => {
    aws.answers((response, _, { headers }) => {
      const isCbor = String(headers['content-type'] ?? '').includes('cbor');
      expect(isCbor).toBe(false);
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify({ MetricAlarms }));
    });
    const row = await alarmsRow(new CloudWatchClient(client()), 'sluice-operations');
    expect(row.status).toBe(status);
    if (status === 'failure') expect(row.advice).toBe('npm run admin -- why sluice-operations-A --stack sluice-data');
  });
});

test('a check that fails to run is a row with its error, on one line', async () => {
  const rows = await attempt('x', () => Promise.reject(new TypeError('a\n  b')), 'do this');
  expect(rows).toEqual([{ check: 'x', status: 'failure', found: 'TypeError: a b', advice: 'do this' }]);
});
