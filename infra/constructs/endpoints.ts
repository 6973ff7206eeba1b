import { Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Config } from '../config/config.ts';
import type { NodeFunction } from './node-function.ts';

/** Every endpoint and inference component of this account in the configured regions. */
const targetsOf = (grantee: NodeFunction, config: Config): string[] => {
  const { partition, account, region } = Stack.of(grantee);
  const regions = config.endpointRegions.length > 0 ? config.endpointRegions : [region];
  return regions.flatMap((name) =>
    ['endpoint', 'inference-component'].map((kind) => `arn:${partition}:sagemaker:${name}:${account}:${kind}/*`),
  );
};

const acknowledge = (grantee: NodeFunction, resources: readonly string[], reason: string): void => {
  const { partition, account, region } = Stack.of(grantee);
  for (const resource of resources) {
    const id = resource
      .replaceAll(partition, '<AWS::Partition>')
      .replaceAll(account, '<AWS::AccountId>')
      .replaceAll(region, '<AWS::Region>');
    Validations.of(grantee.role as NonNullable<typeof grantee.role>).acknowledge({
      id: `AwsSolutions::AwsSolutions-IAM5[Resource::${id}]`,
      reason,
    });
  }
};

/** Lets a function invoke the endpoints and inference components of this account that carry the configured tag. */
export const grantInvokeEndpoints = (grantee: NodeFunction, config: Config): void => {
  const resources = targetsOf(grantee, config);
  grantee.addToRolePolicy(
    new PolicyStatement({
      // AWS's reference asks for the first on the streaming call too; its policy samples grant both.
      actions: ['sagemaker:InvokeEndpoint', 'sagemaker:InvokeEndpointWithResponseStream'],
      resources,
      conditions: { StringEquals: { [`aws:ResourceTag/${config.endpointTag}`]: 'true' } },
    }),
  );
  acknowledge(grantee, resources, 'Models are registered while the service runs; which endpoints may be invoked is decided by their tag.');
};

/**
 * Lets a function find out whether endpoints and inference components of this account serve and carry the configured tag, whose name it is told as
 * ENDPOINT_TAG. Those without the tag may be seen too: that they lack it is what is to be found out.
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
  acknowledge(grantee, resources, 'Models are registered while the service runs, and endpoints are looked at before they carry the tag.');
};
