import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Config } from '../config/config.ts';
import { UserPool } from '../constructs/hosts/user-pool.ts';

/**
 * The user pool, which must outlive every other stack. Never change construct ids here: a new id creates a new, empty
 * pool.
 */
export class IdentityStack extends Stack {
  readonly users: UserPool;

  constructor(scope: Construct, id: string, { config }: { config: Config }) {
    super(scope, id, { terminationProtection: true });
    this.users = new UserPool(this, 'Users', { selfSignUp: config.selfSignUp });
    new CfnOutput(this, 'UserPoolId', { value: this.users.pool.userPoolId });
    new CfnOutput(this, 'TokenIssuer', { value: this.users.pool.userPoolProviderUrl });
    new CfnOutput(this, 'UserPoolClientId', { value: this.users.client.userPoolClientId });
  }
}
