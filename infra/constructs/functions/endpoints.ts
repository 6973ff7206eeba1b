import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { awsTags } from '../../../shared/deployments/names.ts';
import type { Config } from '../../config/config.ts';
import { acknowledgeUnexercised } from './acknowledge-unexercised.ts';
import { acknowledgeWildcards } from './acknowledge-wildcards.ts';
import { generationArns } from './generation-names.ts';
import type { NodeFunction } from './node-function.ts';

// Every endpoint and inference component of this account in the configured regions.
const targetsOf = (grantee: NodeFunction, config: Config): string[] => {
  const { partition, account, region } = Stack.of(grantee);
  const regions = config.endpointRegions.length > 0 ? config.endpointRegions : [region];
  return regions.flatMap((name) =>
    ['endpoint', 'inference-component'].map((kind) => `arn:${partition}:sagemaker:${name}:${account}:${kind}/*`),
  );
};

/** Lets a function invoke the endpoints and inference components of this account that carry the configured tag. */
export const grantInvokeEndpoints = (grantee: NodeFunction, config: Config): void => {
  const resources = targetsOf(grantee, config);
  grantee.addToRolePolicy(
    new PolicyStatement({
      // According to AWS's reference, the streaming call needs the first action, too; its sample policies grant both.
      actions: ['sagemaker:InvokeEndpoint', 'sagemaker:InvokeEndpointWithResponseStream'],
      resources,
      conditions: { StringEquals: { [`aws:ResourceTag/${config.endpointTag}`]: 'true' } },
    }),
  );
  acknowledgeWildcards(
    grantee.role,
    resources,
    'Models are registered while the service runs. Only endpoints with the tag can be invoked.',
  );
};

/** Lets a function invoke what the generations of this installation's deployments have, by their names and tag. */
export const grantInvokeGenerations = (grantee: NodeFunction, config: Config): void => {
  const resources = generationArns(grantee, config, 'endpoint', 'inference-component');
  grantee.addToRolePolicy(
    new PolicyStatement({
      actions: ['sagemaker:InvokeEndpoint', 'sagemaker:InvokeEndpointWithResponseStream'],
      resources,
      conditions: { StringEquals: { [`aws:ResourceTag/${awsTags.installation}`]: config.name } },
    }),
  );
  acknowledgeWildcards(grantee.role, resources, 'Deployments are created while the service runs.');
};

/**
 * Lets a function find out whether endpoints and inference components of this account are in service and have the
 * configured tag. It can also describe those without the tag, so that it can report that the tag is missing. The
 * environment variable ENDPOINT_TAG has the tag's name.
 */
export const grantDescribeEndpoints = (grantee: NodeFunction, config: Config): void => {
  const resources = targetsOf(grantee, config);
  grantee.addToRolePolicy(
    new PolicyStatement({
      actions: ['sagemaker:DescribeEndpoint', 'sagemaker:DescribeInferenceComponent', 'sagemaker:ListTags'],
      resources,
    }),
  );
  grantee.addEnvironment('ENDPOINT_TAG', config.endpointTag);
  acknowledgeUnexercised(
    grantee.role,
    { actions: ['sagemaker:DescribeEndpoint', 'sagemaker:DescribeInferenceComponent', 'sagemaker:ListTags'] },
    'Each of the actions is for one of the two kinds of resources.',
  );
  acknowledgeWildcards(
    grantee.role,
    resources,
    'Models are registered while the service runs, and endpoints are described before they have the tag.',
  );
};
