import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { options } from '../../support/assembly/every-option.ts';
import { templateOf, templatesWith } from '../../support/assembly/templates.ts';
import { all, byText, grantsOf, inTransactions } from './grants.ts';

const deployments = templateOf('deployments');

// An id has 18 characters without dashes, so this matches no name of another installation.
const NAMES = 'sluice-??????????????????-g*';
const kinds = ['Endpoint', 'EndpointConfig', 'InferenceComponent', 'Model'];
const ofGeneration = (kind: string): string => `arn::sagemaker:::${kind.replaceAll(/(?!^)[A-Z]/g, '-$&').toLowerCase()}/${NAMES}`;
const ofGenerations = kinds.map(ofGeneration);
// Application Auto Scaling checks these with names that do not exist.
const ofScaling = ['DescribeEndpoint', 'DescribeEndpointConfig', 'DescribeInferenceComponent', 'UpdateInferenceComponentRuntimeConfig'];
const byScaling = { StringEquals: { 'aws:CalledViaLast': 'application-autoscaling.amazonaws.com' } };
const named = (verb: string): string[] => kinds.map((kind) => verb + kind);

const listsFolders = { StringLike: { 's3:prefix': ['org_*/*', 'adapters/org_*/*'] } };

describe('the function that manages deployments', () => {
  test('can do exactly this, each on these resources and under this condition', () => {
    const inRequest = { 'aws:RequestTag/sluice:installation': 'sluice' };
    const onResource = { StringEquals: { 'aws:ResourceTag/sluice:installation': 'sluice' } };
    const ofComponents = {
      StringEquals: {
        'application-autoscaling:service-namespace': 'sagemaker',
        'application-autoscaling:scalable-dimension': 'sagemaker:inference-component:DesiredCopyCount',
      },
    };
    const log = `arn::logs:::log-group:/aws/sagemaker/InferenceComponents/${NAMES}`;
    const queue = 'ReconciliationsQueue';
    const linkedRole =
      'arn::iam:::role/aws-service-role/sagemaker.application-autoscaling.amazonaws.com/AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint';
    const expected = [
      ...all('sagemaker', named('Create'), ofGenerations, { StringEquals: inRequest }),
      ...all('sagemaker', ['AddTags'], ofGenerations, { StringEquals: { ...inRequest, 'sagemaker:TaggingAction': named('Create') } }),
      ...kinds.flatMap((kind) => all('sagemaker', [`Delete${kind}`], [ofGeneration(kind)], onResource)),
      ...kinds.flatMap((kind) => all('sagemaker', [`Describe${kind}`], [ofGeneration(kind)])),
      ...all('sagemaker', ['UpdateInferenceComponentRuntimeConfig'], [ofGeneration('InferenceComponent')], onResource),
      ...all(
        'sagemaker',
        named('List').map((name) => `${name}s`),
        ['*'],
      ),
      ...all('tag', ['GetResources'], ['*']),
      ...all('servicequotas', ['ListServiceQuotas'], ['*']),
      ...all('iam', ['PassRole'], ['ExecutionRole'], { StringEquals: { 'iam:PassedToService': 'sagemaker.amazonaws.com' } }),
      ...all('iam', ['CreateServiceLinkedRole'], [linkedRole], {
        StringEquals: { 'iam:AWSServiceName': 'sagemaker.application-autoscaling.amazonaws.com' },
      }),
      ...all(
        'application-autoscaling',
        ['RegisterScalableTarget', 'DeregisterScalableTarget', 'PutScalingPolicy'],
        ['arn::application-autoscaling:::scalable-target/*'],
        ofComponents,
      ),
      ...all('application-autoscaling', ['DescribeScalableTargets', 'DescribeScalingPolicies'], ['*']),
      ...all('sagemaker', ofScaling, ['*'], byScaling),
      ...all('cloudwatch', ['PutMetricAlarm', 'DeleteAlarms'], ['arn::cloudwatch:::alarm:TargetTracking*'], byScaling),
      ...all('cloudwatch', ['DescribeAlarms'], ['arn::cloudwatch:::alarm:*'], byScaling),
      ...all('logs', ['FilterLogEvents'], [log, `${log}:*`]),
      ...all('logs', ['CreateLogStream', 'PutLogEvents'], ['DeploymentsLogs']),
      ...all('xray', ['PutTraceSegments', 'PutTelemetryRecords'], ['*']),
      ...all('sqs', ['SendMessage', 'ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'], [queue]),
      ...all('sqs', ['SendMessage'], ['BillingTasksQueue']),
      ...all('s3', ['ListBucket'], ['Weights'], listsFolders),
      ...all('s3', ['GetObject'], ['Weights/org_*']),
      ...all('s3', ['PutObject', 'DeleteObject'], ['Weights/adapters/*']),
      ...all('dynamodb', ['GetItem', 'PutItem', 'DeleteItem'], ['Deployments']),
      ...all('dynamodb', ['Query'], ['Deployments/index/live']),
      ...all('dynamodb', ['GetItem', 'PutItem', 'DeleteItem'], ['Models']),
      ...all('dynamodb', ['PutItem', 'UpdateItem', 'Query'], ['Usage']),
      ...all('dynamodb', ['GetItem', 'BatchGetItem', 'UpdateItem'], ['Keys']),
      ...all('dynamodb', ['Query'], ['Keys/index/epoch', 'Keys/index/organization']),
      ...all('dynamodb', ['PutItem'], ['Notifications', 'Audit'], inTransactions),
      ...all('dynamodb', ['BatchGetItem', 'Query'], ['Observability']),
      ...all('lambda', ['InvokeFunction'], ['Benchmark']),
    ];
    expect(grantsOf(deployments, 'DeploymentsRole').sort(byText)).toEqual(expected.sort(byText));
  });

  test('uses a resource of its own wherever AWS supports one', () => {
    const others = grantsOf(deployments, 'DeploymentsRole').filter(([, , condition]) => !isDeepStrictEqual(condition, byScaling));
    const wild = others.filter(([, resource]) => resource === '*');
    // According to AWS's service authorization reference, these actions have no resource types.
    expect(wild.map(([action]) => action.replace(/:List\w+s$/, ':List…s'))).toEqual(
      expect.arrayContaining(['sagemaker:List…s', 'servicequotas:List…s', 'tag:GetResources']),
    );
    for (const [action] of wild)
      expect(action).toMatch(/^(?:sagemaker:List|servicequotas:List|tag:Get|application-autoscaling:Describe|xray:Put)/);
  });

  test('knows its tables, its queue, the roles that it passes and the names of its installation', () => {
    deployments.hasResourceProperties('AWS::Lambda::Function', {
      MemorySize: 512,
      Timeout: 60,
      Environment: {
        Variables: Match.objectLike({
          SLUICE_FUNCTION: 'deployments',
          INSTALLATION: 'sluice',
          ENDPOINT_TAG: 'sluice',
          DEPLOYMENTS_TABLE: Match.anyValue(),
          MODELS_TABLE: Match.anyValue(),
          USAGE_TABLE: Match.anyValue(),
          KEYS_TABLE: Match.anyValue(),
          OBSERVABILITY_TABLE: Match.anyValue(),
          WEIGHTS_BUCKET: Match.anyValue(),
          RECONCILIATIONS_QUEUE: { Ref: Match.stringLikeRegexp('^ReconciliationsQueue') },
          EXECUTION_ROLE_ARN: { 'Fn::GetAtt': [Match.stringLikeRegexp('^ExecutionRole'), 'Arn'] },
          HUB_EXECUTION_ROLE_ARN: Match.absent(),
        }),
      },
    });
  });

  test('runs every minute, and when an endpoint of this installation changes', () => {
    const Targets = [Match.objectLike({ RetryPolicy: { MaximumRetryAttempts: 0 } })];
    deployments.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(1 minute)', Targets });
    deployments.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: {
        source: ['aws.sagemaker'],
        'detail-type': ['SageMaker Endpoint State Change'],
        detail: { EndpointName: [{ prefix: 'sluice-' }] },
      },
      Targets,
    });
  });

  test('gets each deployment in transition again after 15 seconds, and no deployment twice at the same time', () => {
    deployments.hasResourceProperties('AWS::SQS::Queue', {
      FifoQueue: true,
      DelaySeconds: 15,
      VisibilityTimeout: 90,
      MessageRetentionPeriod: 3_600,
      RedrivePolicy: {
        deadLetterTargetArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^ReconciliationsFailures'), 'Arn'] },
        maxReceiveCount: 5,
      },
    });
    deployments.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 1,
      ScalingConfig: { MaximumConcurrency: 6 },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });
});

// Every execution role can do this.
const runsContainers = [
  ...all(
    'ecr',
    ['BatchCheckLayerAvailability', 'BatchGetImage', 'GetDownloadUrlForLayer'],
    ['vllm', 'djl-inference', 'sglang-server'].map((name) => `arn::ecr::*:repository/${name}`),
  ),
  ...all('ecr', ['GetAuthorizationToken'], ['*']),
  ...all(
    'logs',
    ['CreateLogGroup', 'CreateLogStream', 'DescribeLogStreams', 'PutLogEvents'],
    ['Endpoints', 'InferenceComponents'].flatMap((kind) => {
      const group = `arn::logs:::log-group:/aws/sagemaker/${kind}/${NAMES}`;
      return [group, `${group}:log-stream:*`];
    }),
  ),
  ...all('cloudwatch', ['PutMetricData'], ['*'], { StringLike: { 'cloudwatch:namespace': '/aws/sagemaker/*' } }),
];

describe('the role with which deployments run', () => {
  test("can read only organizations' weights, pull images of runtimes, and write logs and metrics", () => {
    const readsWeights = [
      ...all('s3', ['GetObject'], ['Weights/org_*/*', 'Weights/adapters/org_*/*']),
      ...all('s3', ['ListBucket'], ['Weights'], listsFolders),
    ];
    expect(grantsOf(deployments, 'ExecutionRole').sort(byText)).toEqual([...runsContainers, ...readsWeights].sort(byText));
  });

  test('can be assumed only by SageMaker, for this account and region', () => {
    const account = {
      'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ':sagemaker:', { Ref: 'AWS::Region' }, ':', { Ref: 'AWS::AccountId' }, ':*']],
    };
    deployments.hasResourceProperties('AWS::IAM::Role', {
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Effect: 'Allow',
            Action: 'sts:AssumeRole',
            Principal: { Service: 'sagemaker.amazonaws.com' },
            Condition: { ArnLike: { 'aws:SourceArn': account } },
          },
        ],
      },
    });
  });

  test('is another one for models of the Hub, if the deployer allows them, which reads no weights', async () => {
    expect(grantsOf(deployments, 'HubExecutionRole')).toEqual([]);
    const templates = await templatesWith(options.deployments);
    expect(grantsOf(templates('deployments'), 'HubExecutionRole').sort(byText)).toEqual([...runsContainers].sort(byText));
    templates('deployments').hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          HUB_EXECUTION_ROLE_ARN: { 'Fn::GetAtt': [Match.stringLikeRegexp('^HubExecutionRole'), 'Arn'] },
          DETAILED_METRICS: 'true',
        }),
      },
    });
    templates('control').hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ SLUICE_FUNCTION: 'control', HUB_MODELS: 'true' }) },
    });
  });
});

test.each([
  ['serverless', 'Inference', 'inference', ['GetItem', 'UpdateItem']],
  ['ondemand', 'Inference', 'ondemand-inference', ['GetItem', 'UpdateItem']],
  ['control', 'Control', 'control', ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'ConditionCheckItem']],
] as const)(
  'in the stack %s, %s can invoke the function that manages deployments, and use their table',
  (stack, role, SLUICE_FUNCTION, actions) => {
    const grants = grantsOf(templateOf(stack), `${role}Role`);
    expect(grants.filter(([, resource]) => resource === 'Deployments').sort(byText)).toEqual(
      [...all('dynamodb', actions, ['Deployments']), ...all('lambda', ['InvokeFunction'], ['Deployments'])].sort(byText),
    );
    templateOf(stack).hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          SLUICE_FUNCTION,
          DEPLOYMENTS_TABLE: Match.anyValue(),
          DEPLOYMENTS_FUNCTION: { 'Fn::ImportValue': Match.stringLikeRegexp('^sluice-deployments:') },
          ...(stack === 'control' && { HUB_MODELS: 'false', WEIGHTS_BUCKET: Match.anyValue() }),
          ...(stack === 'ondemand' && { MAX_HELD_REQUESTS: '50', MAX_HELD_REQUESTS_OF_ORGANIZATION: '50' }),
          // A quarter of the list of a deployment that is published for all organizations.
          ...(stack === 'serverless' && { MAX_HELD_REQUESTS: '50', MAX_HELD_REQUESTS_OF_ORGANIZATION: '12' }),
        }),
      },
    });
  },
);

describe('the function that runs benchmarks', () => {
  test('can invoke the generations of this installation, and write what it measures', () => {
    const ofInstallation = { StringEquals: { 'aws:ResourceTag/sluice:installation': 'sluice' } };
    const targets = [ofGeneration('Endpoint'), ofGeneration('InferenceComponent')];
    const expected = [
      ...all('sagemaker', ['InvokeEndpoint', 'InvokeEndpointWithResponseStream'], targets, ofInstallation),
      ...all('dynamodb', ['GetItem', 'PutItem'], ['Deployments']),
      ...all('dynamodb', ['PutItem'], ['Usage']),
      ...all('dynamodb', ['PutItem'], ['Notifications', 'Audit'], inTransactions),
      ...all('logs', ['CreateLogStream', 'PutLogEvents'], ['BenchmarkLogs']),
      ...all('xray', ['PutTraceSegments', 'PutTelemetryRecords'], ['*']),
    ];
    expect(grantsOf(deployments, 'BenchmarkRole').sort(byText)).toEqual(expected.sort(byText));
  });

  test('has a CPU of its own and Lambda’s longest time, and is not repeated by Lambda', () => {
    deployments.hasResourceProperties('AWS::Lambda::Function', {
      MemorySize: 1_769,
      Timeout: 900,
      Environment: { Variables: Match.objectLike({ SLUICE_FUNCTION: 'benchmark', INSTALLATION: 'sluice' }) },
    });
    deployments.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: Match.stringLikeRegexp('^Benchmark') },
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
    });
  });
});
