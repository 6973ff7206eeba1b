import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { acknowledgeWildcards } from './acknowledge-wildcards.ts';
import type { NodeFunction } from './node-function.ts';

const MIN_LABELS = 2;

// `mail.example.com` and `example.com` of the first.
const withParents = (domain: string): string[] => {
  const labels = domain.split('.');
  return labels.slice(0, 1 - MIN_LABELS).map((_, i) => labels.slice(i).join('.'));
};

/**
 * Lets a function send email from one address with SES, and gives it the address. SES verifies the address, its domain
 * or a domain above that, so the permission names all of these identities, and the condition names the address. SES
 * also authorizes the call for the configuration set that a deployer can give an identity as its default.
 * @param address such as `billing@mail.example.com`
 * @see https://docs.aws.amazon.com/ses/latest/dg/creating-identities.html
 */
export const grantSendEmail = (grantee: NodeFunction, address: string): void => {
  const { partition, account, region } = Stack.of(grantee);
  const arnOf = (kind: string, name: string): string => `arn:${partition}:ses:${region}:${account}:${kind}/${name}`;
  const identities = [address, ...withParents(address.slice(address.lastIndexOf('@') + 1))];
  const configurationSets = arnOf('configuration-set', '*');
  grantee.addToRolePolicy(
    new PolicyStatement({
      actions: ['ses:SendEmail'],
      resources: [...identities.map((identity) => arnOf('identity', identity)), configurationSets],
      conditions: { StringEquals: { 'ses:FromAddress': address } },
    }),
  );
  acknowledgeWildcards(grantee.role, [configurationSets], 'The deployer chooses the default configuration set of an identity in SES.');
  grantee.addEnvironment('EMAIL_FROM', address);
};
