import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Config } from '../config/config.ts';
import { NodeFunction } from '../constructs/functions/node-function.ts';
import { UserPool } from '../constructs/hosts/user-pool.ts';
import type { DataStack } from './data-stack.ts';

// Cognito waits no longer for a trigger.
const TRIGGER_TIMEOUT = Duration.seconds(5);

/**
 * The user pool, which must outlive every other stack. Never change construct ids here: a new id creates a new, empty
 * pool.
 */
export class IdentityStack extends Stack {
  readonly users: UserPool;

  constructor(scope: Construct, id: string, { config, data }: { config: Config; data: DataStack }) {
    super(scope, id, { terminationProtection: true });
    const authChallenge = new NodeFunction(this, 'AuthChallenge', {
      config,
      name: 'auth-challenge',
      timeout: TRIGGER_TIMEOUT,
    });
    data.attempts.grant(authChallenge, 'DeleteItem');
    this.users = new UserPool(this, 'Users', { authChallenge });
    // The control stack of earlier releases imports it, and an export in use can't be removed.
    this.exportValue(this.users.pool.userPoolProviderUrl);
    new CfnOutput(this, 'UserPoolId', { value: this.users.pool.userPoolId });
    new CfnOutput(this, 'TokenIssuer', { value: this.users.pool.userPoolProviderUrl });
    new CfnOutput(this, 'UserPoolClientId', { value: this.users.clients.api.userPoolClientId });
  }
}
