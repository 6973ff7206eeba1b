import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { awsTags } from '../../shared/deployments/names.ts';
import type { Config } from '../config/config.ts';
import { acknowledgeWildcards } from './acknowledge-wildcards.ts';
import { generationArns, generationLogArns } from './generation-names.ts';
import type { NodeFunction } from './node-function.ts';

const KINDS = ['endpoint', 'endpoint-config', 'inference-component', 'model'];
/** What each generation of a deployment has on SageMaker. */
const RESOURCES = ['Endpoint', 'EndpointConfig', 'InferenceComponent', 'Model'];
const actionsOn = (verb: string): string[] => RESOURCES.map((resource) => `sagemaker:${verb}${resource}`);

const BY_NAME = 'Deployments are created while the service runs. Their names have this form.';

/**
 * Lets a function create, watch, scale and delete the generations of deployments, and gives it the installation's name and the tag that endpoints need
 * to be invoked. What it creates must have the installation's tag, and it changes and deletes only what has it. It reads by name: a condition on a tag
 * would make AWS answer "access denied" for what does not exist.
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
    'AWS supports no resource-level permissions for lists, nor for the two write actions of X-Ray.',
  );
  grantee.addEnvironment('INSTALLATION', config.name);
  grantee.addEnvironment('ENDPOINT_TAG', config.endpointTag);
};

const grantSageMaker = (grantee: NodeFunction, config: Config): void => {
  const { name } = config;
  const resources = generationArns(grantee, config, ...KINDS);
  const allow = (actions: string[], conditions?: object): void =>
    grantee.addToRolePolicy(new PolicyStatement({ actions, resources, ...(conditions && { conditions: { StringEquals: conditions } }) }));
  allow(actionsOn('Create'), { [`aws:RequestTag/${awsTags.installation}`]: name });
  // SageMaker requires this to create anything with tags. It can't add the tag to something that exists.
  allow(['sagemaker:AddTags'], {
    [`aws:RequestTag/${awsTags.installation}`]: name,
    'sagemaker:TaggingAction': actionsOn('Create').map(withoutService),
  });
  allow([...actionsOn('Delete'), 'sagemaker:UpdateInferenceComponentRuntimeConfig'], { [`aws:ResourceTag/${awsTags.installation}`]: name });
  allow(actionsOn('Describe'));
  acknowledgeWildcards(grantee.role, resources, BY_NAME);
};

const withoutService = (action: string): string => action.slice(action.indexOf(':') + 1);

const SCALING = 'application-autoscaling';
const SCALING_OF_SAGEMAKER = 'sagemaker.application-autoscaling.amazonaws.com';

/** Application Auto Scaling of inference components. Its own ARNs contain random ids, so that permissions depend on what is scaled. */
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
  // Application Auto Scaling manages the alarms of its policies with the permissions of its caller.
  const byScaling = { 'aws:CalledViaLast': `${SCALING}.amazonaws.com` };
  allow(['cloudwatch:PutMetricAlarm', 'cloudwatch:DeleteAlarms'], [`${alarms}TargetTracking-*`], byScaling);
  allow(['cloudwatch:DescribeAlarms'], [`${alarms}*`], byScaling);
  const role = `arn:${partition}:iam::${account}:role/aws-service-role/${SCALING_OF_SAGEMAKER}/AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint`;
  allow(['iam:CreateServiceLinkedRole'], [role], { 'iam:AWSServiceName': SCALING_OF_SAGEMAKER });
  acknowledgeWildcards(
    grantee.role,
    [targets],
    'Ids of scalable targets are random. The conditions limit the actions to copies of inference components.',
  );
  acknowledgeWildcards(
    grantee.role,
    [`${alarms}TargetTracking-*`, `${alarms}*`],
    'Only Application Auto Scaling uses this, for the alarms of its policies.',
  );
};

const grantLogs = (grantee: NodeFunction, config: Config): void => {
  const groups = generationLogArns(grantee, config, 'InferenceComponents');
  const resources = [...groups, ...groups.map((arn) => `${arn}:*`)];
  grantee.addToRolePolicy(new PolicyStatement({ actions: ['logs:FilterLogEvents'], resources }));
  acknowledgeWildcards(grantee.role, resources, BY_NAME);
};
