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
  GetTokensFromRefreshTokenCommand,
  RevokeTokenCommand,
  SetUserMFAPreferenceCommand,
  VerifySoftwareTokenCommand,
} from '@aws-sdk/client-cognito-identity-provider';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { IdentityUnavailable } from './errors.ts';
import type { PoolClient, PoolClientIds } from './pool-clients.ts';
import { INVALID_CREDENTIALS, isDone, orElse, WRONG_CODES } from './refusals.ts';
import type { Caller } from './request-origin.ts';
import { type Access, CHALLENGES, type Challenge, present, type SignIn, toAccess, toRefreshable, toSignIn } from './sign-in.ts';

const CONNECTION_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 5_000;

type ClientOptions = Pick<CognitoIdentityProviderClientConfig, 'endpoint' | 'region' | 'credentials'>;

type Sender = Pick<Caller, 'ipAddress' | 'serverName' | 'serverPath' | 'userAgent'>;

/**
 * The users at the identity provider. Methods identify a user by email address, or by `subject`, the `sub` of their
 * tokens. Every method can throw TooManyAttempts (429) and IdentityUnavailable (503). No error contains a password,
 * token, code or ticket. A `client` must be the one of the sign-in; default: `api`.
 */
export interface UserPool {
  /**
   * Creates a user whose address counts as verified. Without a temporary password, the pool creates one and emails it.
   * @returns isNew: false if the user already existed; then their password stays the same
   * @throws WeakPassword
   */
  createUser(user: { email: string; temporaryPassword?: string }): Promise<{ subject: string; isNew: boolean }>;
  /**
   * Creates a user who gets no email, and whose password nobody knows. An existing user with a temporary password
   * gets such a password too; any other existing user stays the same.
   */
  createSilentUser(email: string): Promise<{ subject: string; isNew: boolean }>;
  /**
   * Resets an existing user: enabled, signed out, without a second factor, with a temporary password. If none is
   * given, the pool emails one.
   * @throws WeakPassword
   */
  renewUser(user: { email: string; subject: string; temporaryPassword?: string }): Promise<void>;
  /** Returns true if the user has not replaced their temporary password yet. */
  isInvited(email: string): Promise<boolean>;
  /**
   * Sends an invitation again, with a new temporary password. false: the user doesn't exist or has already chosen a
   * password.
   */
  resendInvitation(email: string): Promise<boolean>;
  /** undefined: the password is wrong, or the user cannot log in. */
  signIn(given: { email: string; password: string; client?: PoolClient; caller: Sender }): Promise<SignIn | undefined>;
  /**
   * Signs a user in without a password. Their second factor may be asked for. undefined: the ticket was not accepted,
   * or the user cannot log in.
   * @param given.ticket from createSignInTickets
   */
  signInWithTicket(given: { subject: string; ticket: string; client: PoolClient; caller: Sender }): Promise<SignIn | undefined>;
  /**
   * Answers the challenge of a sign-in. undefined: the answer is wrong, or the session is expired, used or another
   * user's.
   * @param given.email or the user's subject
   * @throws WeakPassword; the session stays valid
   */
  answerChallenge(given: {
    email: string;
    session: string;
    challenge: Challenge;
    answer: string;
    client?: PoolClient;
    caller: Sender;
  }): Promise<SignIn | undefined>;
  /** For the client `api`. undefined: the refresh token is no longer valid. */
  refresh(given: { refreshToken: string; caller: Sender }): Promise<Access | undefined>;
  /**
   * For the client `browser`: also returns the next refresh token, which ends when the first one would have ended. The
   * previous one can be used again for a minute. undefined: the refresh token is no longer valid.
   */
  refreshRotating(given: { refreshToken: string }): Promise<(Access & { refreshToken: string }) | undefined>;
  /** Revokes a refresh token. Does nothing if it is invalid. */
  revoke(refreshToken: string, client?: PoolClient): Promise<void>;
  /**
   * false: the current password is wrong. Throws WeakPassword, and InvalidToken for an access token that was revoked.
   */
  changePassword(given: { accessToken: string; current: string; next: string }): Promise<boolean>;
  /** Emails a code if the user exists. The caller cannot tell whether one does. */
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

/** Returns the issuer of a pool's tokens. The id of a pool begins with its region. */
export const issuerOfPool = (poolId: string): string => `https://cognito-idp.${poolId.split('_')[0]}.amazonaws.com/${poolId}`;

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
  sdk: CognitoIdentityProviderClient,
  { poolId, clientIds }: { poolId: string; clientIds: PoolClientIds },
): UserPool => {
  const pool = { UserPoolId: poolId };
  const clientIdOf = (client: PoolClient): string => {
    const id = clientIds[client];
    if (id === undefined) throw new Error(`This function doesn't have the client '${client}' of the user pool.`);
    return id;
  };
  const poolAndClient = (client: PoolClient = 'api') => ({ ...pool, ClientId: clientIdOf(client) });

  const find = async (name: string): Promise<{ subject: string; hasTemporaryPassword: boolean } | undefined> => {
    const user = await orElse(() => sdk.send(new AdminGetUserCommand({ ...pool, Username: name })), ['UserNotFoundException']);
    return user && { subject: subjectOf(user.UserAttributes), hasTemporaryPassword: user.UserStatus === TEMPORARY };
  };

  const setPassword = async (subject: string, Password: string, Permanent: boolean): Promise<void> => {
    const command = new AdminSetUserPasswordCommand({ ...pool, Username: subject, Password, Permanent });
    await orElse(() => sdk.send(command), [], 'temporary_password');
  };

  const createUser: UserPool['createUser'] = async ({ email, temporaryPassword }) => {
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
    const created = await orElse(() => sdk.send(command), ['UsernameExistsException'], 'temporary_password');
    const subject = created ? subjectOf(created.User?.Attributes) : (await find(email))?.subject;
    if (subject === undefined) throw new IdentityUnavailable(new Error('A user was deleted during its creation.'));
    return { subject, isNew: created !== undefined };
  };

  const setEnabled = async (subject: string, isEnabled: boolean): Promise<void> => {
    const user = { ...pool, Username: subject };
    const command = isEnabled ? new AdminEnableUserCommand(user) : new AdminDisableUserCommand(user);
    await isDone(() => sdk.send(command as AdminEnableUserCommand), ['UserNotFoundException']);
  };

  const signOutEverywhere = async (subject: string): Promise<void> => {
    await isDone(() => sdk.send(new AdminUserGlobalSignOutCommand({ ...pool, Username: subject })), ['UserNotFoundException']);
  };

  const stopTotp = async (subject: string): Promise<void> => {
    const command = new AdminSetUserMFAPreferenceCommand({ ...pool, Username: subject, SoftwareTokenMfaSettings: { Enabled: false } });
    await isDone(() => sdk.send(command), ['UserNotFoundException']);
  };

  const resendInvitation = async (email: string): Promise<boolean> => {
    const command = new AdminCreateUserCommand({
      ...pool,
      Username: email,
      MessageAction: 'RESEND',
      DesiredDeliveryMediums: ['EMAIL'],
    });
    return isDone(() => sdk.send(command), ['UserNotFoundException', 'UnsupportedUserStateException']);
  };

  return {
    setEnabled,
    signOutEverywhere,
    stopTotp,
    resendInvitation,
    createUser,

    async isInvited(email) {
      return (await find(email))?.hasTemporaryPassword ?? false;
    },

    async createSilentUser(email) {
      const user = await createUser({ email, temporaryPassword: randomPassword() });
      // A user with a temporary password can't sign in with a ticket. An earlier request may have created this one.
      if (user.isNew || (await find(user.subject))?.hasTemporaryPassword) await setPassword(user.subject, randomPassword(), true);
      return user;
    },

    async renewUser({ email, subject, temporaryPassword }) {
      await setPassword(subject, temporaryPassword ?? randomPassword(), false);
      await stopTotp(subject);
      await signOutEverywhere(subject);
      await setEnabled(subject, true);
      if (temporaryPassword === undefined) await resendInvitation(email);
    },

    async signIn({ email, password, client, caller }) {
      const command = new AdminInitiateAuthCommand({
        ...poolAndClient(client),
        AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
        AuthParameters: { USERNAME: email, PASSWORD: password },
        ContextData: toContext(caller),
      });
      const answer = await orElse(() => sdk.send(command), INVALID_CREDENTIALS);
      return answer && toSignIn(answer);
    },

    async signInWithTicket({ subject, ticket, client, caller }) {
      const request = { ...poolAndClient(client), ContextData: toContext(caller) };
      const start = new AdminInitiateAuthCommand({ ...request, AuthFlow: 'CUSTOM_AUTH', AuthParameters: { USERNAME: subject } });
      const started = await orElse(() => sdk.send(start), INVALID_CREDENTIALS);
      if (!started) return undefined;
      const command = new AdminRespondToAuthChallengeCommand({
        ...request,
        ChallengeName: 'CUSTOM_CHALLENGE',
        Session: present(started.Session),
        ChallengeResponses: { USERNAME: subject, ANSWER: ticket },
      });
      const reply = await orElse(() => sdk.send(command), [...INVALID_CREDENTIALS, ...WRONG_CODES]);
      return reply && toSignIn(reply);
    },

    async answerChallenge({ email, session, challenge, answer, client, caller }) {
      // Cognito requires the user's own name here, not the email address.
      const user = await find(email);
      if (!user) return undefined;
      const { name, field } = CHALLENGES[challenge];
      const command = new AdminRespondToAuthChallengeCommand({
        ...poolAndClient(client),
        ChallengeName: name,
        Session: session,
        ChallengeResponses: { USERNAME: user.subject, [field]: answer },
        ContextData: toContext(caller),
      });
      const reply = await orElse(() => sdk.send(command), [...INVALID_CREDENTIALS, ...WRONG_CODES]);
      return reply && toSignIn(reply);
    },

    async refresh({ refreshToken, caller }) {
      const command = new AdminInitiateAuthCommand({
        ...poolAndClient(),
        AuthFlow: 'REFRESH_TOKEN_AUTH',
        AuthParameters: { REFRESH_TOKEN: refreshToken },
        ContextData: toContext(caller),
      });
      const answer = await orElse(() => sdk.send(command), INVALID_CREDENTIALS);
      return answer && toAccess(answer.AuthenticationResult);
    },

    async refreshRotating({ refreshToken }) {
      const command = new GetTokensFromRefreshTokenCommand({ ClientId: clientIdOf('browser'), RefreshToken: refreshToken });
      const answer = await orElse(() => sdk.send(command), [...INVALID_CREDENTIALS, 'RefreshTokenReuseException']);
      return answer && toRefreshable(answer.AuthenticationResult);
    },

    async revoke(refreshToken, client = 'api') {
      const command = new RevokeTokenCommand({ ClientId: clientIdOf(client), Token: refreshToken });
      const noToken = ['NotAuthorizedException', 'UnauthorizedException', 'UnsupportedTokenTypeException', 'InvalidParameterException'];
      await isDone(() => sdk.send(command), noToken);
    },

    changePassword({ accessToken, current, next }) {
      const command = new ChangePasswordCommand({ AccessToken: accessToken, PreviousPassword: current, ProposedPassword: next });
      return isDone(() => sdk.send(command), ['NotAuthorizedException', 'InvalidParameterException']);
    },

    async startReset(email) {
      const command = new ForgotPasswordCommand({ ClientId: clientIds.api, Username: email });
      // The pool rejects users with a pending invitation or too many requests. The caller must not learn from this
      // who exists.
      const ignored = ['UserNotFoundException', 'NotAuthorizedException', 'InvalidParameterException', 'LimitExceededException'];
      await isDone(() => sdk.send(command), ignored);
    },

    finishReset({ email, code, password }) {
      const command = new ConfirmForgotPasswordCommand({
        ClientId: clientIds.api,
        Username: email,
        ConfirmationCode: code,
        Password: password,
      });
      return isDone(() => sdk.send(command), [...INVALID_CREDENTIALS, ...WRONG_CODES]);
    },

    async deleteUser(subject) {
      await isDone(() => sdk.send(new AdminDeleteUserCommand({ ...pool, Username: subject })), ['UserNotFoundException']);
    },

    async startTotp(accessToken) {
      const answer = await orElse(() => sdk.send(new AssociateSoftwareTokenCommand({ AccessToken: accessToken })), []);
      return { secret: present(answer?.SecretCode) };
    },

    async finishTotp({ accessToken, code }) {
      const command = new VerifySoftwareTokenCommand({ AccessToken: accessToken, UserCode: code });
      const answer = await orElse(() => sdk.send(command), [...WRONG_CODES, 'EnableSoftwareTokenMFAException']);
      if (answer?.Status !== 'SUCCESS') return false;
      await orElse(() => sdk.send(new SetUserMFAPreferenceCommand({ AccessToken: accessToken, SoftwareTokenMfaSettings: ON })), []);
      return true;
    },
  };
};

const PASSWORD_BYTES = 24;

/** A password that nobody can guess. It ends with every kind of character that a pool can require. */
export const randomPassword = (): string => `${randomBytes(PASSWORD_BYTES).toString('base64url')}-aA7`;

// Cognito's status of a user who must choose another password.
const TEMPORARY = 'FORCE_CHANGE_PASSWORD';

const ON = { Enabled: true, PreferredMfa: true };

const toContext = ({ ipAddress, serverName, serverPath, userAgent }: Sender): ContextDataType => ({
  IpAddress: ipAddress,
  ServerName: serverName,
  ServerPath: serverPath,
  HttpHeaders: userAgent === undefined ? [] : [{ headerName: 'User-Agent', headerValue: userAgent }],
});

const subjectOf = (attributes: readonly AttributeType[] | undefined): string =>
  present(attributes?.find(({ Name }) => Name === 'sub')?.Value);
