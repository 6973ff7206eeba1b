import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { awsTags } from '../../../shared/deployments/names.ts';
import type { Config } from '../../config/config.ts';
import { acknowledgeUnexercised } from './acknowledge-unexercised.ts';
import { acknowledgeWildcards } from './acknowledge-wildcards.ts';
import { generationArns, generationLogArns } from './generation-names.ts';
import type { NodeFunction } from './node-function.ts';

// The resources of a generation: their names in actions, and in ARNs.
const KINDS = {
  Endpoint: 'endpoint',
  EndpointConfig: 'endpoint-config',
  InferenceComponent: 'inference-component',
  Model: 'model',
} as const;
const RESOURCES = Object.keys(KINDS);
const CREATE = RESOURCES.map((resource) => `sagemaker:Create${resource}`);

const BY_NAME = 'Deployments are created while the service runs. Their names have this form.';

/**
 * Lets a function create, watch, scale and delete the generations of deployments, and gives it the installation's
 * name and the tag that endpoints need to be invoked. What it creates must have the installation's tag, and it
 * changes and deletes only what has it. It reads by name: a condition on a tag would make AWS answer "access denied"
 * for what does not exist.
 */
export const grantManageGenerations = (grantee: NodeFunction, config: Config): void => {
  grantSageMaker(grantee, config);
  grantScaling(grantee);
  grantLogs(grantee, config);
  grantee.addToRolePolicy(
    new PolicyStatement({
      actions: [...RESOURCES.map((kind) => `sagemaker:List${kind}s`), 'servicequotas:ListServiceQuotas', 'tag:GetResources'],
      resources: ['*'],
    }),
  );
  acknowledgeWildcards(
    grantee.role,
    ['*'],
    'AWS supports no resource-level permissions for lists, nor for the two write actions of X-Ray. Application Auto Scaling checks its caller with names that do not exist.',
  );
  grantee.addEnvironment('INSTALLATION', config.name);
  grantee.addEnvironment('ENDPOINT_TAG', config.endpointTag);
};

const grantSageMaker = (grantee: NodeFunction, config: Config): void => {
  const { name } = config;
  const all = generationArns(grantee, config, ...Object.values(KINDS));
  const allow = (actions: string[], resources: string[], conditions?: object): void =>
    grantee.addToRolePolicy(new PolicyStatement({ actions, resources, ...(conditions && { conditions: { StringEquals: conditions } }) }));
  allow(CREATE, all, { [`aws:RequestTag/${awsTags.installation}`]: name });
  // SageMaker requires this to create anything with tags. It can't add the tag to something that exists.
  allow(['sagemaker:AddTags'], all, {
    [`aws:RequestTag/${awsTags.installation}`]: name,
    'sagemaker:TaggingAction': CREATE.map(withoutService),
  });
  const ofInstallation = { [`aws:ResourceTag/${awsTags.installation}`]: name };
  for (const [resource, kind] of Object.entries(KINDS)) {
    const own = generationArns(grantee, config, kind);
    allow([`sagemaker:Describe${resource}`], own);
    allow([`sagemaker:Delete${resource}`], own, ofInstallation);
  }
  allow(['sagemaker:UpdateInferenceComponentRuntimeConfig'], generationArns(grantee, config, KINDS.InferenceComponent), ofInstallation);
  acknowledgeWildcards(grantee.role, all, BY_NAME);
  acknowledgeUnexercised(
    grantee.role,
    { actions: CREATE },
    'SageMaker also authorizes a creation for what the new resource uses, such as the endpoint of a component.',
  );
};

const withoutService = (action: string): string => action.slice(action.indexOf(':') + 1);

const SCALING = 'application-autoscaling';
const SCALING_OF_SAGEMAKER = 'sagemaker.application-autoscaling.amazonaws.com';

// The ARNs of Application Auto Scaling contain random ids, so the permissions depend on what is scaled.
const grantScaling = (grantee: NodeFunction): void => {
  const { partition, account, region } = Stack.of(grantee);
  const targets = `arn:${partition}:${SCALING}:${region}:${account}:scalable-target/*`;
  const alarms = `arn:${partition}:cloudwatch:${region}:${account}:alarm:`;
  const ofComponents = {
    [`${SCALING}:service-namespace`]: 'sagemaker',
    [`${SCALING}:scalable-dimension`]: 'sagemaker:inference-component:DesiredCopyCount',
  };
  const allow = (actions: string[], resources: string[], conditions?: object): void =>
    grantee.addToRolePolicy(new PolicyStatement({ actions, resources, ...(conditions && { conditions: { StringEquals: conditions } }) }));
  allow(
    ['RegisterScalableTarget', 'DeregisterScalableTarget', 'PutScalingPolicy'].map((action) => `${SCALING}:${action}`),
    [targets],
    ofComponents,
  );
  allow(
    ['DescribeScalableTargets', 'DescribeScalingPolicies'].map((action) => `${SCALING}:${action}`),
    ['*'],
  );
  const byScaling = { 'aws:CalledViaLast': `${SCALING}.amazonaws.com` };
  // Before it registers a target, Application Auto Scaling makes these calls with its caller's permissions and names
  // that don't exist.
  allow(
    ['DescribeEndpoint', 'DescribeEndpointConfig', 'DescribeInferenceComponent', 'UpdateInferenceComponentRuntimeConfig'].map(
      (action) => `sagemaker:${action}`,
    ),
    ['*'],
    byScaling,
  );
  // It manages the alarms of its policies with the permissions of its caller, too.
  allow(['cloudwatch:PutMetricAlarm', 'cloudwatch:DeleteAlarms'], [`${alarms}TargetTracking*`], byScaling);
  allow(['cloudwatch:DescribeAlarms'], [`${alarms}*`], byScaling);
  const role = `arn:${partition}:iam::${account}:role/aws-service-role/${SCALING_OF_SAGEMAKER}/AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint`;
  allow(['iam:CreateServiceLinkedRole'], [role], { 'iam:AWSServiceName': SCALING_OF_SAGEMAKER });
  acknowledgeUnexercised(
    grantee.role,
    { actions: ['cloudwatch:PutMetricAlarm', 'cloudwatch:DeleteAlarms', 'cloudwatch:DescribeAlarms', 'iam:CreateServiceLinkedRole'] },
    'Application Auto Scaling makes these calls with the permissions of its caller; the local run has no alarms.',
  );
  acknowledgeWildcards(
    grantee.role,
    [targets],
    'Ids of scalable targets are random. The conditions limit the actions to copies of inference components.',
  );
  acknowledgeWildcards(
    grantee.role,
    [`${alarms}TargetTracking*`, `${alarms}*`],
    'Only Application Auto Scaling uses this, for the alarms of its policies.',
  );
};

const grantLogs = (grantee: NodeFunction, config: Config): void => {
  const groups = generationLogArns(grantee, config, 'InferenceComponents');
  const resources = [...groups, ...groups.map((arn) => `${arn}:*`)];
  grantee.addToRolePolicy(new PolicyStatement({ actions: ['logs:FilterLogEvents'], resources }));
  acknowledgeWildcards(grantee.role, resources, BY_NAME);
  acknowledgeUnexercised(
    grantee.role,
    { actions: ['logs:FilterLogEvents'] },
    'CloudWatch Logs authorizes the call for the log group, with or without the suffix of its streams.',
  );
};
