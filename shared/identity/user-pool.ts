import { randomBytes } from 'node:crypto';
import {
  AdminCreateUserCommand,
  AdminDeleteUserCommand,
  AdminDisableUserCommand,
  AdminEnableUserCommand,
  AdminGetUserCommand,
  AdminInitiateAuthCommand,
  AdminRespondToAuthChallengeCommand,
  AdminSetUserMFAPreferenceCommand,
  AdminSetUserPasswordCommand,
  AdminUserGlobalSignOutCommand,
  AssociateSoftwareTokenCommand,
  type AttributeType,
  ChangePasswordCommand,
  CognitoIdentityProviderClient,
  type CognitoIdentityProviderClientConfig,
  ConfirmForgotPasswordCommand,
  type ContextDataType,
  ForgotPasswordCommand,
  RevokeTokenCommand,
  SetUserMFAPreferenceCommand,
  VerifySoftwareTokenCommand,
} from '@aws-sdk/client-cognito-identity-provider';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { IdentityUnavailable } from './errors.ts';
import { INVALID_CREDENTIALS, isDone, orElse, WRONG_CODES } from './refusals.ts';
import type { Caller } from './request-origin.ts';
import { CHALLENGES, type Challenge, present, type SignIn, toAccess, toSignIn } from './sign-in.ts';

const CONNECTION_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 5_000;

type ClientOptions = Pick<CognitoIdentityProviderClientConfig, 'endpoint' | 'region' | 'credentials'>;

type Client = Pick<Caller, 'ipAddress' | 'serverName' | 'serverPath' | 'userAgent'>;

/**
 * The users at the identity provider. Methods identify a user by e-mail address, or by `subject`, the `sub` of their
 * tokens. Every method can throw TooManyAttempts (429) and IdentityUnavailable (503). No error contains a password,
 * token or code.
 */
export interface UserPool {
  /**
   * Creates a user whose address counts as verified. Without a temporary password, the pool creates one and e-mails it.
   * @returns isNew: false if the user already existed; then their password stays the same
   * @throws WeakPassword
   */
  createUser(user: { email: string; temporaryPassword?: string }): Promise<{ subject: string; isNew: boolean }>;
  /**
   * Resets an existing user: enabled, signed out, without a second factor, with a temporary password. If none is
   * given, the pool e-mails one.
   * @throws WeakPassword
   */
  renewUser(user: { email: string; subject: string; temporaryPassword?: string }): Promise<void>;
  /**
   * Sends an invitation again, with a new temporary password. false: the user doesn't exist or has already chosen a
   * password.
   */
  resendInvitation(email: string): Promise<boolean>;
  /** undefined: the password is wrong, or the user cannot log in. */
  signIn(given: { email: string; password: string; caller: Client }): Promise<SignIn | undefined>;
  /**
   * Answers the challenge of a sign-in. undefined: the answer is wrong, or the session is expired, used or another
   * user's.
   * @throws WeakPassword; the session stays valid
   */
  answerChallenge(given: {
    email: string;
    session: string;
    challenge: Challenge;
    answer: string;
    caller: Client;
  }): Promise<SignIn | undefined>;
  /** undefined: the refresh token is no longer valid. */
  refresh(given: { refreshToken: string; caller: Client }): Promise<{ accessToken: string; expiresInSeconds: number } | undefined>;
  /** Revokes a refresh token. Does nothing if it is invalid. */
  revoke(refreshToken: string): Promise<void>;
  /**
   * false: the current password is wrong. Throws WeakPassword, and InvalidToken for an access token that was revoked.
   */
  changePassword(given: { accessToken: string; current: string; next: string }): Promise<boolean>;
  /** E-mails a code if the user exists. The caller cannot tell whether one does. */
  startReset(email: string): Promise<void>;
  /** false: the code is wrong, used or expired. Throws WeakPassword. */
  finishReset(given: { email: string; code: string; password: string }): Promise<boolean>;
  /** Enables or disables a user. A disabled user gets no new tokens. Does nothing if the user doesn't exist. */
  setEnabled(subject: string, isEnabled: boolean): Promise<void>;
  /** Revokes all refresh tokens of a user. */
  signOutEverywhere(subject: string): Promise<void>;
  /** Deletes a user. Does nothing if the user doesn't exist. */
  deleteUser(subject: string): Promise<void>;
  /** Returns a new secret for an authenticator app. Sign-ins need no code before finishTotp. Throws InvalidToken. */
  startTotp(accessToken: string): Promise<{ secret: string }>;
  /**
   * Verifies the first code from the app; from then on, sign-ins need a code. false: the code is wrong. Throws
   * InvalidToken.
   */
  finishTotp(given: { accessToken: string; code: string }): Promise<boolean>;
  stopTotp(subject: string): Promise<void>;
}

/** Creates the SDK's client. By default, region, credentials and endpoint come from the environment. */
export const createUserPoolClient = (options: ClientOptions = {}): CognitoIdentityProviderClient =>
  new CognitoIdentityProviderClient({
    ...options,
    // Sessions and codes work only once: after a lost response, a retry would be rejected.
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      // A connection can close while the function is frozen, and there is no retry.
      httpAgent: { keepAlive: false },
      httpsAgent: { keepAlive: false },
    }),
  });

/** @param client from createUserPoolClient */
export const createUserPool = (
  client: CognitoIdentityProviderClient,
  { poolId, clientId }: { poolId: string; clientId: string },
): UserPool => {
  const pool = { UserPoolId: poolId };
  const poolAndClient = { UserPoolId: poolId, ClientId: clientId };

  const find = async (name: string): Promise<string | undefined> => {
    const user = await orElse(() => client.send(new AdminGetUserCommand({ ...pool, Username: name })), ['UserNotFoundException']);
    return user && subjectOf(user.UserAttributes);
  };

  const setEnabled = async (subject: string, isEnabled: boolean): Promise<void> => {
    const user = { ...pool, Username: subject };
    const command = isEnabled ? new AdminEnableUserCommand(user) : new AdminDisableUserCommand(user);
    await isDone(() => client.send(command as AdminEnableUserCommand), ['UserNotFoundException']);
  };

  const signOutEverywhere = async (subject: string): Promise<void> => {
    await isDone(() => client.send(new AdminUserGlobalSignOutCommand({ ...pool, Username: subject })), ['UserNotFoundException']);
  };

  const stopTotp = async (subject: string): Promise<void> => {
    const command = new AdminSetUserMFAPreferenceCommand({ ...pool, Username: subject, SoftwareTokenMfaSettings: { Enabled: false } });
    await isDone(() => client.send(command), ['UserNotFoundException']);
  };

  const resendInvitation = async (email: string): Promise<boolean> => {
    const command = new AdminCreateUserCommand({
      ...pool,
      Username: email,
      MessageAction: 'RESEND',
      DesiredDeliveryMediums: ['EMAIL'],
    });
    return isDone(() => client.send(command), ['UserNotFoundException', 'UnsupportedUserStateException']);
  };

  return {
    setEnabled,
    signOutEverywhere,
    stopTotp,
    resendInvitation,

    async createUser({ email, temporaryPassword }) {
      const command = new AdminCreateUserCommand({
        ...pool,
        Username: email,
        UserAttributes: [
          { Name: 'email', Value: email },
          { Name: 'email_verified', Value: 'true' },
        ],
        DesiredDeliveryMediums: ['EMAIL'],
        ...(temporaryPassword !== undefined && { TemporaryPassword: temporaryPassword, MessageAction: 'SUPPRESS' }),
      });
      const created = await orElse(() => client.send(command), ['UsernameExistsException'], 'temporary_password');
      const subject = created ? subjectOf(created.User?.Attributes) : await find(email);
      if (subject === undefined) throw new IdentityUnavailable(new Error('A user was deleted during its creation.'));
      return { subject, isNew: created !== undefined };
    },

    async renewUser({ email, subject, temporaryPassword }) {
      const command = new AdminSetUserPasswordCommand({
        ...pool,
        Username: subject,
        Password: temporaryPassword ?? randomPassword(),
        Permanent: false,
      });
      await orElse(() => client.send(command), [], 'temporary_password');
      await stopTotp(subject);
      await signOutEverywhere(subject);
      await setEnabled(subject, true);
      if (temporaryPassword === undefined) await resendInvitation(email);
    },

    async signIn({ email, password, caller }) {
      const command = new AdminInitiateAuthCommand({
        ...poolAndClient,
        AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
        AuthParameters: { USERNAME: email, PASSWORD: password },
        ContextData: toContext(caller),
      });
      const answer = await orElse(() => client.send(command), INVALID_CREDENTIALS);
      return answer && toSignIn(answer);
    },

    async answerChallenge({ email, session, challenge, answer, caller }) {
      // Cognito requires the user's own name here, not the e-mail address.
      const subject = await find(email);
      if (subject === undefined) return undefined;
      const { name, field } = CHALLENGES[challenge];
      const command = new AdminRespondToAuthChallengeCommand({
        ...poolAndClient,
        ChallengeName: name,
        Session: session,
        ChallengeResponses: { USERNAME: subject, [field]: answer },
        ContextData: toContext(caller),
      });
      const reply = await orElse(() => client.send(command), [...INVALID_CREDENTIALS, ...WRONG_CODES]);
      return reply && toSignIn(reply);
    },

    async refresh({ refreshToken, caller }) {
      const command = new AdminInitiateAuthCommand({
        ...poolAndClient,
        AuthFlow: 'REFRESH_TOKEN_AUTH',
        AuthParameters: { REFRESH_TOKEN: refreshToken },
        ContextData: toContext(caller),
      });
      const answer = await orElse(() => client.send(command), INVALID_CREDENTIALS);
      return answer && toAccess(answer.AuthenticationResult);
    },

    async revoke(refreshToken) {
      const command = new RevokeTokenCommand({ ClientId: clientId, Token: refreshToken });
      const noToken = ['NotAuthorizedException', 'UnauthorizedException', 'UnsupportedTokenTypeException', 'InvalidParameterException'];
      await isDone(() => client.send(command), noToken);
    },

    changePassword({ accessToken, current, next }) {
      const command = new ChangePasswordCommand({ AccessToken: accessToken, PreviousPassword: current, ProposedPassword: next });
      return isDone(() => client.send(command), ['NotAuthorizedException', 'InvalidParameterException']);
    },

    async startReset(email) {
      const command = new ForgotPasswordCommand({ ClientId: clientId, Username: email });
      // The pool rejects users with a pending invitation or too many requests. The caller must not learn from this
      // who exists.
      const ignored = ['UserNotFoundException', 'NotAuthorizedException', 'InvalidParameterException', 'LimitExceededException'];
      await isDone(() => client.send(command), ignored);
    },

    finishReset({ email, code, password }) {
      const command = new ConfirmForgotPasswordCommand({ ClientId: clientId, Username: email, ConfirmationCode: code, Password: password });
      return isDone(() => client.send(command), [...INVALID_CREDENTIALS, ...WRONG_CODES]);
    },

    async deleteUser(subject) {
      await isDone(() => client.send(new AdminDeleteUserCommand({ ...pool, Username: subject })), ['UserNotFoundException']);
    },

    async startTotp(accessToken) {
      const answer = await orElse(() => client.send(new AssociateSoftwareTokenCommand({ AccessToken: accessToken })), []);
      return { secret: present(answer?.SecretCode) };
    },

    async finishTotp({ accessToken, code }) {
      const command = new VerifySoftwareTokenCommand({ AccessToken: accessToken, UserCode: code });
      const answer = await orElse(() => client.send(command), [...WRONG_CODES, 'EnableSoftwareTokenMFAException']);
      if (answer?.Status !== 'SUCCESS') return false;
      await orElse(() => client.send(new SetUserMFAPreferenceCommand({ AccessToken: accessToken, SoftwareTokenMfaSettings: ON })), []);
      return true;
    },
  };
};

// Has every kind of character that a pool can require.
const randomPassword = (): string => `${randomBytes(24).toString('base64url')}-aA7`;

const ON = { Enabled: true, PreferredMfa: true };

const toContext = ({ ipAddress, serverName, serverPath, userAgent }: Client): ContextDataType => ({
  IpAddress: ipAddress,
  ServerName: serverName,
  ServerPath: serverPath,
  HttpHeaders: userAgent === undefined ? [] : [{ headerName: 'User-Agent', headerValue: userAgent }],
});

const subjectOf = (attributes: readonly AttributeType[] | undefined): string =>
  present(attributes?.find(({ Name }) => Name === 'sub')?.Value);
