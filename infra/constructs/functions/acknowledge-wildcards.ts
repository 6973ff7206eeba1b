import { Stack, Validations } from 'aws-cdk-lib';
import type { IRole } from 'aws-cdk-lib/aws-iam';

/**
 * Tells cdk-nag why a role may use resources with a wildcard.
 * @param resources as in the policy; they can contain the tokens of the role's stack
 */
export const acknowledgeWildcards = (role: IRole | undefined, resources: readonly string[], reason: string): void => {
  if (!role) throw new Error('The grantee has no role of its own.');
  const { partition, account, region } = Stack.of(role);
  for (const resource of resources) {
    const id = resource
      .replaceAll(partition, '<AWS::Partition>')
      .replaceAll(account, '<AWS::AccountId>')
      .replaceAll(region, '<AWS::Region>');
    Validations.of(role).acknowledge({ id: `AwsSolutions::AwsSolutions-IAM5[Resource::${id}]`, reason });
  }
};
