import { Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Config } from '../config.ts';
import type { NodeFunction } from './node-function.ts';

/** Lets a function invoke the endpoints and inference components of this account that carry the configured tag. */
export const grantInvokeEndpoints = (grantee: NodeFunction, config: Config): void => {
  const { partition, account, region } = Stack.of(grantee);
  const regions = config.endpointRegions.length > 0 ? config.endpointRegions : [region];
  const resources = regions.flatMap((name) =>
    ['endpoint', 'inference-component'].map((kind) => `arn:${partition}:sagemaker:${name}:${account}:${kind}/*`),
  );
  grantee.addToRolePolicy(
    new PolicyStatement({
      // AWS's reference asks for the first on the streaming call too; its policy samples grant both.
      actions: ['sagemaker:InvokeEndpoint', 'sagemaker:InvokeEndpointWithResponseStream'],
      resources,
      conditions: { StringEquals: { [`aws:ResourceTag/${config.endpointTag}`]: 'true' } },
    }),
  );
  for (const resource of resources) {
    const id = resource
      .replaceAll(partition, '<AWS::Partition>')
      .replaceAll(account, '<AWS::AccountId>')
      .replaceAll(region, '<AWS::Region>');
    Validations.of(grantee.role as NonNullable<typeof grantee.role>).acknowledge({
      id: `AwsSolutions::AwsSolutions-IAM5[Resource::${id}]`,
      reason: 'Models are registered while the service runs; which endpoints may be invoked is decided by their tag.',
    });
  }
};
