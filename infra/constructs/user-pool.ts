import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  AccountRecovery,
  UserPool as CdkUserPool,
  type CfnUserPool,
  type CfnUserPoolClient,
  Mfa,
  UserPoolClient,
} from 'aws-cdk-lib/aws-cognito';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { MIN_PASSWORD_LENGTH } from '../../functions/control/identity/errors.ts';

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
 * The people who may log in, by e-mail address and password and, if they want, a second factor. What can never be changed on a pool is decided here:
 * that the address is the name, in whatever case it is typed.
 */
export class UserPool extends Construct {
  readonly pool: CdkUserPool;
  readonly client: UserPoolClient;

  /** @param props.selfSignUp whether anybody may make an account */
  constructor(scope: Construct, id: string, { selfSignUp }: { selfSignUp: boolean }) {
    super(scope, id);
    this.pool = new CdkUserPool(this, 'Pool', {
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
      // Passwords come through our own host, which limits how often one may be tried.
      authFlows: { adminUserPassword: true },
      preventUserExistenceErrors: true,
      enableTokenRevocation: true,
      accessTokenValidity: ACCESS_TOKEN_VALIDITY,
      idTokenValidity: ACCESS_TOKEN_VALIDITY,
      refreshTokenValidity: REFRESH_TOKEN_VALIDITY,
      disableOAuth: true,
    });
    this.client.applyRemovalPolicy(RemovalPolicy.RETAIN);
    // The logical ids are the identity of the pool and of its client: with these, no change of the construct tree can replace them.
    (this.pool.node.defaultChild as CfnUserPool).overrideLogicalId(id);
    (this.client.node.defaultChild as CfnUserPoolClient).overrideLogicalId(`${id}Client`);
    this.#acknowledge();
  }

  /** Gives a function these actions on the pool, and says where it is. Actions that an access token authorizes need no permission. */
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
    acknowledge('COG2', 'Each user decides on a second factor: people have access tokens, and programs use API keys.');
    acknowledge(
      'COG8',
      'Threat protection costs by the active user; a deployer who wants it turns it on for the pool, which is told where every caller is already.',
    );
  }
}
