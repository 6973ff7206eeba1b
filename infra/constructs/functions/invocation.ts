import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { NodeFunction } from './node-function.ts';

/** Lets a function invoke another one, and sets the environment variable with the other one's name. */
export const grantInvoke = (grantee: NodeFunction, invoked: NodeFunction, variable: string): void => {
  grantee.addToRolePolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [invoked.functionArn] }));
  grantee.addEnvironment(variable, invoked.functionName);
};
