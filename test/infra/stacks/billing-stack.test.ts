import { describe, expect, test } from '@jest/globals';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { closingsAtOnce } from '../../../infra/constructs/queues/billing-tasks.ts';
import { options } from '../../support/assembly/every-option.ts';
import { templateOf, templatesWith } from '../../support/assembly/templates.ts';
import { all, byText, grantsOf, inTransactions, ofFunction } from './grants.ts';

const billing = templateOf('billing');

const whatItCanDo = [
  ...all('dynamodb', ['Query', 'PutItem', 'UpdateItem'], ['Usage']),
  ...all('dynamodb', ['GetItem', 'BatchGetItem', 'UpdateItem'], ['Keys']),
  ...all('dynamodb', ['Query'], ['Keys/index/organization']),
  ...all('dynamodb', ['GetItem'], ['Models']),
  ...all('dynamodb', ['GetItem', 'BatchGetItem', 'Query'], ['Deployments']),
  ...all('dynamodb', ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem'], ['Accounts']),
  ...all('dynamodb', ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'], ['Billing']),
  ...all('dynamodb', ['PutItem'], ['Notifications', 'Audit'], inTransactions),
  ...all('s3', ['GetObject', 'PutObject', 'AbortMultipartUpload'], ['BillingFiles/*']),
  ...all('sqs', ['SendMessage', 'ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'], ['BillingTasksQueue', 'MonthClosingsQueue']),
  ...ofFunction('BillingLogs'),
];

const variablesOf = (template: Template, name: string): Record<string, unknown> =>
  Object.values(template.findResources('AWS::Lambda::Function'))
    .map(({ Properties }) => Properties.Environment.Variables)
    .find(({ SLUICE_FUNCTION }) => SLUICE_FUNCTION === name);

describe('the function billing', () => {
  test('can do exactly this, each on these resources and under this condition', () => {
    expect(grantsOf(billing, 'BillingRole').sort(byText)).toEqual([...whatItCanDo].sort(byText));
  });

  test('has a whole CPU and the longest time, and knows its tables, bucket and queue, but no hooks', () => {
    billing.hasResourceProperties('AWS::Lambda::Function', { MemorySize: 1_769, Timeout: 900 });
    expect(Object.keys(variablesOf(billing, 'billing')).sort()).toEqual(
      [
        ...['ACCOUNTS', 'AUDIT', 'BILLING', 'DEPLOYMENTS', 'KEYS', 'MODELS', 'NOTIFICATIONS', 'USAGE'].map((table) => `${table}_TABLE`),
        ...['BILLING_BUCKET', 'BILLING_QUEUE', 'CLOSINGS_QUEUE', 'NODE_OPTIONS', 'SLUICE_FUNCTION', 'SLUICE_VERSION'],
      ].sort(),
    );
  });

  test('looks for what is due every hour', () => {
    billing.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 hour)',
      Targets: [Match.objectLike({ RetryPolicy: { MaximumRetryAttempts: 0 } })],
    });
  });

  test('gets one task at a time of a kind and organization, and gets it again only after its own timeout', () => {
    billing.hasResourceProperties('AWS::SQS::Queue', {
      FifoQueue: true,
      SqsManagedSseEnabled: true,
      VisibilityTimeout: 960,
      MessageRetentionPeriod: 14 * 86_400,
      RedrivePolicy: {
        deadLetterTargetArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^BillingTasksFailures'), 'Arn'] },
        maxReceiveCount: 20,
      },
    });
    billing.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^BillingTasksQueue'), 'Arn'] },
      BatchSize: 1,
      ScalingConfig: { MaximumConcurrency: 8 },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });

  test('closes months beside other tasks, in all environments that these leave, with one dead-letter queue', () => {
    const closings = (template: Template) => (MaximumConcurrency: number) =>
      template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
        EventSourceArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^MonthClosingsQueue'), 'Arn'] },
        BatchSize: 1,
        ScalingConfig: { MaximumConcurrency },
      });
    closings(billing)(16);
    expect([10, 26, 100].map(closingsAtOnce)).toEqual([2, 16, 90]);
    const deadLetters = Object.values(billing.findResources('AWS::SQS::Queue')).map(({ Properties }) =>
      JSON.stringify(Properties.RedrivePolicy?.deadLetterTargetArn),
    );
    expect(new Set(deadLetters.filter(Boolean)).size).toBe(1);
  });
});

test('rollups, deployments and the control plane can send tasks, and know the queue', () => {
  for (const [stack, role, name] of [
    ['serverless', 'RollupsFunctionRole', 'rollup'],
    ['deployments', 'DeploymentsRole', 'deployments'],
    ['control', 'ControlRole', 'control'],
  ] as const) {
    expect(grantsOf(templateOf(stack), role)).toContainEqual(['sqs:SendMessage', 'BillingTasksQueue']);
    expect(variablesOf(templateOf(stack), name)).toMatchObject({
      BILLING_QUEUE: { 'Fn::ImportValue': expect.stringMatching(/BillingTasksQueue/) },
    });
  }
});

test('the control plane can use the tables of billing and notifications, and only read the files', () => {
  const grants = grantsOf(templateOf('control'), 'ControlRole');
  const ofBilling = grants.filter(([, resource]) => /^(Billing|Notifications)/.test(resource));
  expect(ofBilling.sort(byText)).toEqual(
    [
      ...all('dynamodb', ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'], ['Billing']),
      ...all('dynamodb', ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'], ['Notifications']),
      ...all('s3', ['GetObject'], ['BillingFiles/*']),
      ...all('sqs', ['SendMessage'], ['BillingTasksQueue']),
    ].sort(byText),
  );
});

describe('with a tax function and a Stripe account', () => {
  test('can invoke that function and read that secret, and nothing else', async () => {
    const { taxFunctionArn, stripeSecretArn } = options.billing.billing;
    const templates = await templatesWith(options.billing);
    const template = templates('billing');
    expect(grantsOf(template, 'BillingRole').sort(byText)).toEqual(
      [
        ...whatItCanDo,
        ...all('lambda', ['InvokeFunction'], [taxFunctionArn]),
        ...all('secretsmanager', ['GetSecretValue'], [stripeSecretArn]),
      ].sort(byText),
    );
    expect(variablesOf(template, 'billing')).toMatchObject({ TAX_FUNCTION: taxFunctionArn, STRIPE_SECRET: stripeSecretArn });
  });
});
