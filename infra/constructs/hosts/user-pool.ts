import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  AccountRecovery,
  UserPool as CdkUserPool,
  type CfnUserPool,
  type CfnUserPoolClient,
  FeaturePlan,
  Mfa,
  UserPoolClient,
} from 'aws-cdk-lib/aws-cognito';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { MIN_PASSWORD_LENGTH } from '../../../shared/identity/errors.ts';

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

const ACCESS_TOKEN_VALIDITY = Duration.minutes(60);
const REFRESH_TOKEN_VALIDITY = Duration.days(30);
const INVITATION_VALIDITY = Duration.days(7);

/**
 * The users, who log in with an e-mail address, a password and, optionally, a second factor. Two settings can never
 * be changed on an existing pool: that the address is the user name, and that its case does not matter.
 */
export class UserPool extends Construct {
  readonly pool: CdkUserPool;
  readonly client: UserPoolClient;

  /** @param props.selfSignUp whether anyone can create an account */
  constructor(scope: Construct, id: string, { selfSignUp }: { selfSignUp: boolean }) {
    super(scope, id);
    this.pool = new CdkUserPool(this, 'Pool', {
      // The cheapest plan has all that is used: passwords, one-time codes and calls of administrators.
      featurePlan: FeaturePlan.LITE,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      standardAttributes: { email: { required: true, mutable: true } },
      autoVerify: { email: true },
      keepOriginal: { email: true },
      selfSignUpEnabled: selfSignUp,
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
    this.client = new UserPoolClient(this, 'Client', {
      userPool: this.pool,
      generateSecret: false,
      // Passwords are only accepted through our own host, which limits the number of attempts.
      authFlows: { adminUserPassword: true },
      preventUserExistenceErrors: true,
      enableTokenRevocation: true,
      accessTokenValidity: ACCESS_TOKEN_VALIDITY,
      idTokenValidity: ACCESS_TOKEN_VALIDITY,
      refreshTokenValidity: REFRESH_TOKEN_VALIDITY,
      disableOAuth: true,
    });
    this.client.applyRemovalPolicy(RemovalPolicy.RETAIN);
    // Fixed logical ids, because CloudFormation replaces a resource whose logical id changes.
    (this.pool.node.defaultChild as CfnUserPool).overrideLogicalId(id);
    (this.client.node.defaultChild as CfnUserPoolClient).overrideLogicalId(`${id}Client`);
    this.#acknowledge();
  }

  /**
   * Lets a function use these actions on the pool, and gives it the pool's ids. Actions that an access token
   * authorizes need no permission.
   */
  grant(grantee: LambdaFunction, ...actions: Action[]): void {
    grantee.addToRolePolicy(
      new PolicyStatement({ actions: actions.map((action) => `cognito-idp:${action}`), resources: [this.pool.userPoolArn] }),
    );
    grantee.addEnvironment('USER_POOL_ID', this.pool.userPoolId);
    grantee.addEnvironment('USER_POOL_CLIENT_ID', this.client.userPoolClientId);
    grantee.addEnvironment('TOKEN_ISSUER', this.pool.userPoolProviderUrl);
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
