import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  AccountRecovery,
  UserPool as CdkUserPool,
  type CfnUserPool,
  type CfnUserPoolClient,
  FeaturePlan,
  Mfa,
  UserPoolClient,
  type UserPoolClientOptions,
  UserPoolOperation,
} from 'aws-cdk-lib/aws-cognito';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { MIN_PASSWORD_LENGTH } from '../../../shared/identity/errors.ts';
import type { PoolClient } from '../../../shared/identity/pool-clients.ts';

type Action =
  | 'AdminCreateUser'
  | 'AdminDeleteUser'
  | 'AdminDisableUser'
  | 'AdminEnableUser'
  | 'AdminGetUser'
  | 'AdminInitiateAuth'
  | 'AdminRespondToAuthChallenge'
  | 'AdminSetUserMFAPreference'
  | 'AdminSetUserPassword'
  | 'AdminUserGlobalSignOut';

// The ids of the clients never change: a new id creates a new client, whose refresh tokens start at none.
const CLIENTS = {
  api: { id: 'Client', variable: 'USER_POOL_CLIENT_ID', access: Duration.minutes(60), refresh: Duration.days(30) },
  // A refresh token of a service account is never handed out, so it is valid for the least that Cognito allows.
  machine: { id: 'MachineClient', variable: 'MACHINE_CLIENT_ID', access: Duration.minutes(15), refresh: Duration.minutes(60) },
  browser: { id: 'BrowserClient', variable: 'BROWSER_CLIENT_ID', access: Duration.minutes(15), refresh: Duration.days(30) },
} as const satisfies Record<PoolClient, { id: string; variable: string; access: Duration; refresh: Duration }>;

// Passwords are only accepted through our own host, which limits the number of attempts. Tickets need no such limit.
const SIGN_INS = {
  api: { authFlows: { adminUserPassword: true, custom: true } },
  machine: { authFlows: { custom: true } },
  // Two tabs can refresh at once, and a reply can get lost.
  browser: { authFlows: { adminUserPassword: true, custom: true }, refreshTokenRotationGracePeriod: Duration.seconds(60) },
} as const satisfies Record<PoolClient, UserPoolClientOptions>;

const TRIGGERS = [
  UserPoolOperation.DEFINE_AUTH_CHALLENGE,
  UserPoolOperation.CREATE_AUTH_CHALLENGE,
  UserPoolOperation.VERIFY_AUTH_CHALLENGE_RESPONSE,
];
const INVITATION_VALIDITY = Duration.days(7);

/**
 * The users, who log in with an email address, a password and, optionally, a second factor. Two settings can never
 * be changed on an existing pool: that the address is the user name, and that its case does not matter.
 */
export class UserPool extends Construct {
  readonly pool: CdkUserPool;
  readonly clients: Readonly<Record<PoolClient, UserPoolClient>>;

  /** @param props.authChallenge checks sign-ins without a password */
  constructor(scope: Construct, id: string, { authChallenge }: { authChallenge: LambdaFunction }) {
    super(scope, id);
    this.pool = new CdkUserPool(this, 'Pool', {
      // The cheapest plan that rotates refresh tokens.
      featurePlan: FeaturePlan.ESSENTIALS,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      standardAttributes: { email: { required: true, mutable: true } },
      autoVerify: { email: true },
      keepOriginal: { email: true },
      // Only an invited user has a row of our own, without which nobody can log in.
      selfSignUpEnabled: false,
      passwordPolicy: {
        minLength: MIN_PASSWORD_LENGTH,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
        tempPasswordValidity: INVITATION_VALIDITY,
      },
      mfa: Mfa.OPTIONAL,
      mfaSecondFactor: { otp: true, sms: false },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    for (const operation of TRIGGERS) this.pool.addTrigger(operation, authChallenge);
    // A fixed logical id, because CloudFormation replaces a resource whose logical id changes.
    (this.pool.node.defaultChild as CfnUserPool).overrideLogicalId(id);
    this.clients = { api: this.#addClient(id, 'api'), machine: this.#addClient(id, 'machine'), browser: this.#addClient(id, 'browser') };
    this.#acknowledge();
  }

  #addClient(poolId: string, name: PoolClient): UserPoolClient {
    const { id, access, refresh } = CLIENTS[name];
    const client = new UserPoolClient(this, id, {
      ...SIGN_INS[name],
      userPool: this.pool,
      generateSecret: false,
      preventUserExistenceErrors: true,
      enableTokenRevocation: true,
      accessTokenValidity: access,
      idTokenValidity: access,
      refreshTokenValidity: refresh,
      disableOAuth: true,
    });
    client.applyRemovalPolicy(RemovalPolicy.RETAIN);
    const resource = client.node.defaultChild as CfnUserPoolClient;
    resource.overrideLogicalId(`${poolId}${id}`);
    if (name === 'machine') resource.explicitAuthFlows = ['ALLOW_CUSTOM_AUTH'];
    return client;
  }

  /**
   * Lets a function use these actions on the pool, and gives it the pool's ids and those of its clients. Actions that
   * an access token authorizes need no permission.
   */
  grant(grantee: LambdaFunction, ...actions: Action[]): void {
    grantee.addToRolePolicy(
      new PolicyStatement({ actions: actions.map((action) => `cognito-idp:${action}`), resources: [this.pool.userPoolArn] }),
    );
    grantee.addEnvironment('USER_POOL_ID', this.pool.userPoolId);
    for (const [name, { userPoolClientId }] of Object.entries(this.clients))
      grantee.addEnvironment(CLIENTS[name as PoolClient].variable, userPoolClientId);
  }

  #acknowledge(): void {
    const acknowledge = (rule: string, reason: string): void =>
      Validations.of(this.pool).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
    acknowledge('COG2', 'A second factor is optional for each user. Programs use API keys instead of access tokens.');
    acknowledge(
      'COG8',
      'Threat protection needs the plan PLUS, which has a cost per active user. A deployer can switch the pool to it, which already receives the IP address of every caller.',
    );
  }
}
