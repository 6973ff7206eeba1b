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
import type { Caller } from '../access/origin.ts';
import { IdentityUnavailable } from './errors.ts';
import { isDone, orElse, REFUSALS, WRONG_CODES } from './refusals.ts';
import { CHALLENGES, type Challenge, present, type SignIn, toAccess, toSignIn } from './sign-in.ts';

const CONNECTION_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 5_000;

type Place = Pick<CognitoIdentityProviderClientConfig, 'endpoint' | 'region' | 'credentials'>;

/** What the user pool judges a client by. */
type Client = Pick<Caller, 'ipAddress' | 'serverName' | 'serverPath' | 'userAgent'>;

/**
 * The users at the identity provider. A user is named by e-mail address, or by `subject`, the `sub` of their tokens. Every method throws
 * TooManyAttempts (429) and IdentityUnavailable (503). No error contains a password, token or code.
 */
export interface UserPool {
  /**
   * Creates a user whose address counts as verified. Without a temporary password the pool makes one, and invites the user by e-mail.
   * @returns isNew false: the user existed already, and keeps the password
   * @throws WeakPassword
   */
  createUser(user: { email: string; temporaryPassword?: string }): Promise<{ subject: string; isNew: boolean }>;
  /**
   * Resets a user who exists: enabled, signed out, without a second factor, and with a temporary password, which is e-mailed unless it is
   * given.
   * @throws WeakPassword
   */
  renewUser(user: { email: string; subject: string; temporaryPassword?: string }): Promise<void>;
  /** Sends an invitation again, with a new temporary password; false where there is no such user, or one with a password of their own. */
  resendInvitation(email: string): Promise<boolean>;
  /** undefined: refused, because the password is wrong or the user must not log in. */
  signIn(given: { email: string; password: string; caller: Client }): Promise<SignIn | undefined>;
  /**
   * Answers the challenge of a sign-in. undefined: refused, because the answer is wrong, or the session is another's, expired or used.
   * @throws WeakPassword; the session stays
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
  /** Ends a refresh token, if it is one. */
  revoke(refreshToken: string): Promise<void>;
  /** false: the current password is wrong. Throws WeakPassword, and InvalidToken for an access token that was revoked. */
  changePassword(given: { accessToken: string; current: string; next: string }): Promise<boolean>;
  /** Sends a code to a user who exists; for any other address it does nothing, without a difference to the caller. */
  startReset(email: string): Promise<void>;
  /** false: the code is wrong, used or expired. Throws WeakPassword. */
  finishReset(given: { email: string; code: string; password: string }): Promise<boolean>;
  /** A disabled user gets no new tokens; one that does not exist counts as disabled. */
  setEnabled(subject: string, isEnabled: boolean): Promise<void>;
  /** Ends all refresh tokens. */
  signOutEverywhere(subject: string): Promise<void>;
  /** Deletes a user, if there is one. */
  deleteUser(subject: string): Promise<void>;
  /** A new secret for an authenticator app; sign-ins need no code before finishTotp. Throws InvalidToken. */
  startTotp(accessToken: string): Promise<{ secret: string }>;
  /** With a correct code from the app, sign-ins need a code from now on; false: the code is wrong. Throws InvalidToken. */
  finishTotp(given: { accessToken: string; code: string }): Promise<boolean>;
  stopTotp(subject: string): Promise<void>;
}

/** The SDK's client. Region, credentials and endpoint come from the environment unless they are given. */
export const createUserPoolClient = (place: Place = {}): CognitoIdentityProviderClient =>
  new CognitoIdentityProviderClient({
    ...place,
    // A session and a code work once: sent again after a lost reply, they would count as wrong.
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      // There is no second attempt for a connection that died while the function was frozen.
      httpAgent: { keepAlive: false },
      httpsAgent: { keepAlive: false },
    }),
  });

/** @param client of createUserPoolClient */
export const createUserPool = (
  client: CognitoIdentityProviderClient,
  { poolId, clientId }: { poolId: string; clientId: string },
): UserPool => {
  const pool = { UserPoolId: poolId };
  const both = { UserPoolId: poolId, ClientId: clientId };

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
      const made = await orElse(() => client.send(command), ['UsernameExistsException'], 'temporary_password');
      const subject = made ? subjectOf(made.User?.Attributes) : await find(email);
      // The user was deleted meanwhile: treated as an outage.
      if (subject === undefined) throw new IdentityUnavailable(new Error('A user was deleted while it was made.'));
      return { subject, isNew: made !== undefined };
    },

    async renewUser({ email, subject, temporaryPassword }) {
      const command = new AdminSetUserPasswordCommand({
        ...pool,
        Username: subject,
        Password: temporaryPassword ?? unknownPassword(),
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
        ...both,
        AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
        AuthParameters: { USERNAME: email, PASSWORD: password },
        ContextData: toContext(caller),
      });
      const answer = await orElse(() => client.send(command), REFUSALS);
      return answer && toSignIn(answer);
    },

    async answerChallenge({ email, session, challenge, answer, caller }) {
      // An answer needs the user's own name, not an e-mail address.
      const subject = await find(email);
      if (subject === undefined) return undefined;
      const { name, field } = CHALLENGES[challenge];
      const command = new AdminRespondToAuthChallengeCommand({
        ...both,
        ChallengeName: name,
        Session: session,
        ChallengeResponses: { USERNAME: subject, [field]: answer },
        ContextData: toContext(caller),
      });
      const reply = await orElse(() => client.send(command), [...REFUSALS, ...WRONG_CODES]);
      return reply && toSignIn(reply);
    },

    async refresh({ refreshToken, caller }) {
      const command = new AdminInitiateAuthCommand({
        ...both,
        AuthFlow: 'REFRESH_TOKEN_AUTH',
        AuthParameters: { REFRESH_TOKEN: refreshToken },
        ContextData: toContext(caller),
      });
      const answer = await orElse(() => client.send(command), REFUSALS);
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
      // The pool refuses users who never accepted an invitation or have no verified address, and those who asked too often: the caller must not
      // learn from it who exists.
      const ignored = ['UserNotFoundException', 'NotAuthorizedException', 'InvalidParameterException', 'LimitExceededException'];
      await isDone(() => client.send(command), ignored);
    },

    finishReset({ email, code, password }) {
      const command = new ConfirmForgotPasswordCommand({ ClientId: clientId, Username: email, ConfirmationCode: code, Password: password });
      return isDone(() => client.send(command), [...REFUSALS, ...WRONG_CODES]);
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

/** A password that nobody knows, with all kinds of characters that a pool can require. */
const unknownPassword = (): string => `${randomBytes(24).toString('base64url')}-aA7`;

const ON = { Enabled: true, PreferredMfa: true };

const toContext = ({ ipAddress, serverName, serverPath, userAgent }: Client): ContextDataType => ({
  IpAddress: ipAddress,
  ServerName: serverName,
  ServerPath: serverPath,
  HttpHeaders: userAgent === undefined ? [] : [{ headerName: 'User-Agent', headerValue: userAgent }],
});

const subjectOf = (attributes: readonly AttributeType[] | undefined): string =>
  present(attributes?.find(({ Name }) => Name === 'sub')?.Value);
