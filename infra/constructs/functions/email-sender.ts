import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { NodeFunction } from './node-function.ts';

/**
 * Lets a function send e-mail from one address with SES, and gives it the address. SES verifies either the address or
 * its domain, so the permission names both identities, and the condition names the address.
 * @param address such as `billing@example.com`
 */
export const grantSendEmail = (grantee: NodeFunction, address: string): void => {
  const { partition, account, region } = Stack.of(grantee);
  const domain = address.slice(address.lastIndexOf('@') + 1);
  grantee.addToRolePolicy(
    new PolicyStatement({
      actions: ['ses:SendEmail'],
      resources: [address, domain].map((identity) => `arn:${partition}:ses:${region}:${account}:identity/${identity}`),
      conditions: { StringEquals: { 'ses:FromAddress': address } },
    }),
  );
  grantee.addEnvironment('EMAIL_FROM', address);
};
