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
 * The people who may log in, as the identity provider keeps them. A user is named by e-mail address, or by `subject`, the `sub` of their tokens.
 * Every method throws TooManyAttempts (429) and IdentityUnavailable (503). What it is given as a password, token or code is in no error.
 */
export interface UserPool {
  /**
   * Makes a user whose address counts as verified. Without a temporary password the pool makes one, and invites the user by e-mail.
   * @returns isNew false: there is such a user already, whose password stays
   * @throws WeakPassword
   */
  createUser(user: { email: string; temporaryPassword?: string }): Promise<{ subject: string; isNew: boolean }>;
  /**
   * Makes a user who is there already as good as new: enabled, signed out, without a second factor, and with a temporary password, of which they are
   * told by e-mail unless it is given.
   * @throws WeakPassword
   */
  renewUser(user: { email: string; subject: string; temporaryPassword?: string }): Promise<void>;
  /** Sends an invitation with a new temporary password; false where there is none to be sent again: no such user, or one with a password of their own. */
  resendInvitation(email: string): Promise<boolean>;
  /** undefined: refused, by a wrong password, or as nobody may log in under that name. */
  signIn(given: { email: string; password: string; caller: Client }): Promise<SignIn | undefined>;
  /**
   * Answers the question of a sign-in. undefined: refused, by a wrong answer, or as the session is another's, too old or used.
   * @throws WeakPassword; the session stays
   */
  answerChallenge(given: {
    email: string;
    session: string;
    challenge: Challenge;
    answer: string;
    caller: Client;
  }): Promise<SignIn | undefined>;
  /** undefined: the refresh token opens no longer. */
  refresh(given: { refreshToken: string; caller: Client }): Promise<{ accessToken: string; expiresInSeconds: number } | undefined>;
  /** Ends a refresh token, if it is one. */
  revoke(refreshToken: string): Promise<void>;
  /** false: the current password is wrong. Throws WeakPassword, and InvalidToken for an access token that was revoked. */
  changePassword(given: { accessToken: string; current: string; next: string }): Promise<boolean>;
  /** Sends a code to a user that there is; for another one it does nothing, and does not tell. */
  startReset(email: string): Promise<void>;
  /** false: the code is wrong, used or too old. Throws WeakPassword. */
  finishReset(given: { email: string; code: string; password: string }): Promise<boolean>;
  /** A disabled user gets no new tokens; one that is gone counts as disabled. */
  setEnabled(subject: string, isEnabled: boolean): Promise<void>;
  /** Ends all refresh tokens. */
  signOutEverywhere(subject: string): Promise<void>;
  /** Deletes a user, if there is one. */
  deleteUser(subject: string): Promise<void>;
  /** Makes a secret for an authenticator app, in place of any before: until it is finished, no code is asked for. Throws InvalidToken. */
  startTotp(accessToken: string): Promise<{ secret: string }>;
  /** With a right code of the app, codes are asked for at sign-in; false: a wrong one. Throws InvalidToken. */
  finishTotp(given: { accessToken: string; code: string }): Promise<boolean>;
  stopTotp(subject: string): Promise<void>;
}

/** The SDK's client. Region, credentials and endpoint come from the environment unless they are given. */
export const createUserPoolClient = (place: Place = {}): CognitoIdentityProviderClient =>
  new CognitoIdentityProviderClient({
    ...place,
    // A session and a code work once: sent again after a lost reply, they would be taken for wrong ones.
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      // Without a second attempt, a connection that died while the function was frozen would be a failure.
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
      // Deleted meanwhile: as good as an outage.
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
      // An answer takes the user's own name and no address.
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
      // Who was invited and never came, or has no verified address, is refused even by a pool that does not tell who is there.
      // A user who has asked too often has had an e-mail, and is there.
      const told = ['UserNotFoundException', 'NotAuthorizedException', 'InvalidParameterException', 'LimitExceededException'];
      await isDone(() => client.send(command), told);
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

/** A password that nobody knows, of all kinds of characters that a pool may ask for. */
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
