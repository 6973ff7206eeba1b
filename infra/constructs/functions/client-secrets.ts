import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { acknowledgeWildcards } from './acknowledge-wildcards.ts';
import type { NodeFunction } from './node-function.ts';

const ACTIONS = {
  read: ['secretsmanager:GetSecretValue'],
  write: ['secretsmanager:CreateSecret', 'secretsmanager:PutSecretValue', 'secretsmanager:DeleteSecret'],
};

/**
 * Lets a function of the control plane's stack either read or write the client secrets of identity providers, under the
 * prefix in SECRETS_PREFIX.
 */
export const grantClientSecrets = (grantee: NodeFunction, use: keyof typeof ACTIONS): void => {
  const { partition, account, region, stackName } = Stack.of(grantee);
  const prefix = `${stackName}/providers/`;
  const resources = [`arn:${partition}:secretsmanager:${region}:${account}:secret:${prefix}*`];
  grantee.addToRolePolicy(new PolicyStatement({ actions: ACTIONS[use], resources }));
  acknowledgeWildcards(
    grantee.role,
    resources,
    'Identity providers are connected while the service runs. The client secret of each has a name of its own.',
  );
  grantee.addEnvironment('SECRETS_PREFIX', prefix);
};
