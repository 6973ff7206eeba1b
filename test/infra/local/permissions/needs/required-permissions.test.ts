import { describe, expect, test } from '@jest/globals';
import type { ServiceCall } from '../../../../../infra/local/permissions/needs/arn.ts';
import { REQUIRED_PERMISSIONS } from '../../../../../infra/local/permissions/needs/required-permissions.ts';

const SAGEMAKER = 'arn:aws:sagemaker:us-east-1:000000000000';
const TAGS = { 'aws:ResourceTag/sluice': ['true'] };

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: object | string;
}

// With the keys of conditions.
const needsOf = async (service: string, { method = 'POST', path = '/', headers = {}, body = {} }: Sent): Promise<string[]> => {
  const call: ServiceCall = {
    method,
    url: new URL(`http://localhost${path}`),
    header: (name) => headers[name],
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    region: 'us-east-1',
    tagsOf: () => Promise.resolve(TAGS),
  };
  const needs = (await REQUIRED_PERMISSIONS[service]?.(call)) ?? [];
  return needs.map(({ action, resource, context }) =>
    [action, resource, ...Object.entries(context).map(([key, values]) => `${key}=${values}`)].join(' '),
  );
};

const table = (name: string): string => `arn:aws:dynamodb:us-east-1:000000000000:table/${name}`;
const dynamodb = (operation: string, body: object) =>
  needsOf('dynamodb', { headers: { 'x-amz-target': `DynamoDB_20120810.${operation}` }, body });
const sagemaker = (operation: string, body: object) =>
  needsOf('sagemaker', { headers: { 'x-amz-target': `SageMaker.${operation}` }, body });

describe('DynamoDB', () => {
  test('needs the action of the operation on its table or index', async () => {
    expect(await dynamodb('GetItem', { TableName: 'keys' })).toEqual([`dynamodb:GetItem ${table('keys')}`]);
    expect(await dynamodb('Query', { TableName: 'keys', IndexName: 'epoch' })).toEqual([`dynamodb:Query ${table('keys')}/index/epoch`]);
  });

  test('needs the action of a batch on each of its tables', async () => {
    const needs = await dynamodb('BatchGetItem', { RequestItems: { keys: {}, usage: {} } });
    expect(needs).toEqual([`dynamodb:BatchGetItem ${table('keys')}`, `dynamodb:BatchGetItem ${table('usage')}`]);
  });

  test('needs the action of each part of a transaction, which knows that it is in one', async () => {
    const TransactItems = [
      { Put: { TableName: 'a' } },
      { Update: { TableName: 'b' } },
      { Delete: { TableName: 'c' } },
      { ConditionCheck: { TableName: 'd' } },
    ];
    expect(await dynamodb('TransactWriteItems', { TransactItems })).toEqual(
      [
        ['PutItem', 'a'],
        ['UpdateItem', 'b'],
        ['DeleteItem', 'c'],
        ['ConditionCheckItem', 'd'],
      ].map(([action, name]) => `dynamodb:${action} ${table(String(name))} dynamodb:EnclosingOperation=TransactWriteItems`),
    );
  });

  test('rejects an operation that it does not know', async () => {
    await expect(dynamodb('ExecuteStatement', { Statement: 'SELECT 1' })).rejects.toThrow('does not know ExecuteStatement of DynamoDB');
  });
});

describe('S3', () => {
  const object = 'arn:aws:s3:::files/a/b';
  test.each([
    ['a read', { method: 'GET', path: '/files/a/b' }, [`s3:GetObject ${object}`]],
    ['a write', { method: 'PUT', path: '/files/a/b' }, [`s3:PutObject ${object}`]],
    ['a part', { method: 'PUT', path: '/files/a/b?partNumber=1&uploadId=x' }, [`s3:PutObject ${object}`]],
    ['the end of parts', { method: 'DELETE', path: '/files/a/b?uploadId=x' }, [`s3:AbortMultipartUpload ${object}`]],
    ['a deletion', { method: 'DELETE', path: '/files/a/b' }, [`s3:DeleteObject ${object}`]],
    ['a list', { method: 'GET', path: '/files?list-type=2&prefix=a%2F' }, ['s3:ListBucket arn:aws:s3:::files s3:prefix=a/']],
    [
      'tags',
      { method: 'PUT', path: '/files/a/b', headers: { 'x-amz-tagging': 'a=b' } },
      [`s3:PutObject ${object}`, `s3:PutObjectTagging ${object}`],
    ],
    [
      'a copy',
      { method: 'PUT', path: '/files/a/b', headers: { 'x-amz-copy-source': '/from/c%20d' } },
      [`s3:PutObject ${object}`, 's3:GetObject arn:aws:s3:::from/c d'],
    ],
    [
      'a form',
      { path: '/files', body: '--x\r\nContent-Disposition: form-data; name="key"\r\n\r\na/b\r\n--x--' },
      [`s3:PutObject ${object}`],
    ],
  ])('%s', async (_, sent, expected) => {
    expect(await needsOf('s3', sent)).toEqual(expected);
  });
});

describe('SageMaker', () => {
  test('a streaming invocation needs both actions on the endpoint and the component, with their tags', async () => {
    const path = '/endpoints/tiny/invocations-response-stream';
    const needs = await needsOf('sagemaker', { path, headers: { 'x-amzn-sagemaker-inference-component': 'one' } });
    expect(needs).toEqual(
      ['endpoint/tiny', 'inference-component/one'].flatMap((name) =>
        ['InvokeEndpoint', 'InvokeEndpointWithResponseStream'].map(
          (action) => `sagemaker:${action} ${SAGEMAKER}:${name} aws:ResourceTag/sluice=true`,
        ),
      ),
    );
  });

  test('a new model needs to be created, tagged and run with a role', async () => {
    const Tags = [{ Key: 'team', Value: 'a' }];
    const role = 'arn:aws:iam::000000000000:role/run';
    const needs = await sagemaker('CreateModel', { ModelName: 'm', ExecutionRoleArn: role, Tags });
    expect(needs).toEqual([
      `sagemaker:CreateModel ${SAGEMAKER}:model/m aws:RequestTag/team=a aws:TagKeys=team`,
      `sagemaker:AddTags ${SAGEMAKER}:model/m aws:RequestTag/team=a aws:TagKeys=team sagemaker:TaggingAction=CreateModel`,
      `iam:PassRole ${role} iam:PassedToService=sagemaker.amazonaws.com`,
    ]);
  });

  test.each([
    ['DeleteEndpoint', { EndpointName: 'e' }, 'endpoint/e'],
    ['DescribeEndpointConfig', { EndpointConfigName: 'c' }, 'endpoint-config/c'],
    ['DescribeInferenceComponent', { InferenceComponentName: 'i' }, 'inference-component/i'],
    ['UpdateInferenceComponentRuntimeConfig', { InferenceComponentName: 'i' }, 'inference-component/i'],
  ])('%s needs its action on what it names, with the tags of that', async (operation, body, name) => {
    expect(await sagemaker(operation, body)).toEqual([`sagemaker:${operation} ${SAGEMAKER}:${name} aws:ResourceTag/sluice=true`]);
  });

  test('lists need no resource', async () => {
    expect(await sagemaker('ListEndpoints', {})).toEqual(['sagemaker:ListEndpoints *']);
  });
});

test.each([
  ['lambda', { path: '/2015-03-31/functions/f/invocations' }, 'lambda:InvokeFunction arn:aws:lambda:us-east-1:000000000000:function:f'],
  [
    'sqs',
    { headers: { 'x-amz-target': 'AmazonSQS.SendMessageBatch' }, body: { QueueUrl: 'https://sqs.us-east-1.amazonaws.com/0/q.fifo' } },
    'sqs:SendMessage arn:aws:sqs:us-east-1:000000000000:q.fifo',
  ],
  [
    'ses',
    { path: '/v2/email/outbound-emails', body: { FromEmailAddress: 'Sluice <a@example.com>' } },
    'ses:SendEmail arn:aws:ses:us-east-1:000000000000:identity/a@example.com ses:FromAddress=a@example.com',
  ],
  [
    'cognito-idp',
    { headers: { 'x-amz-target': 'AWSCognitoIdentityProviderService.AdminGetUser' }, body: { UserPoolId: 'p' } },
    'cognito-idp:AdminGetUser arn:aws:cognito-idp:us-east-1:000000000000:userpool/p',
  ],
  [
    'application-autoscaling',
    { headers: { 'x-amz-target': 'AnyScaleFrontendService.PutScalingPolicy' }, body: { ServiceNamespace: 'sagemaker' } },
    'application-autoscaling:PutScalingPolicy arn:aws:application-autoscaling:us-east-1:000000000000:scalable-target/0 application-autoscaling:service-namespace=sagemaker',
  ],
  [
    'logs',
    { headers: { 'x-amz-target': 'Logs_20140328.FilterLogEvents' }, body: { logGroupName: '/aws/x' } },
    'logs:FilterLogEvents arn:aws:logs:us-east-1:000000000000:log-group:/aws/x',
  ],
  ['tagging', { headers: { 'x-amz-target': 'ResourceGroupsTaggingAPI_20170126.GetResources' } }, 'tag:GetResources *'],
])('a call of %s needs one permission', async (service, sent, expected) => {
  expect(await needsOf(service, sent)).toEqual([expected]);
});
