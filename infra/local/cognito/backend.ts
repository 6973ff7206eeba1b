import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { UserPool } from '../../assembly/local-app.ts';
import { AwsError } from '../http/json-api.ts';
import { poolFile } from './data-folder.ts';
import { internalError, isAwsError } from './errors.ts';

/** The tokens of one sign-in. */
export interface Tokens {
  AccessToken: string;
  IdToken: string;
  RefreshToken: string;
}

export interface User {
  /** `sub`, which is also the username in the pool. */
  subject: string;
  email: string;
  isEnabled: boolean;
  hasTemporaryPassword: boolean;
  hasTotp: boolean;
  changedAtMs: number;
  description: object;
}

/** The client of cognito-local. Calls must not overlap, because cognito-local loses concurrent writes. */
export interface Backend {
  /** Sends a call unchanged. Throws a AwsError with the error of cognito-local. */
  call(action: string, request: object): Promise<Readonly<Record<string, unknown>>>;
  /** @param name e-mail address or subject */
  user(pool: UserPool, name: string): Promise<User | undefined>;
  /** Returns tokens if the password is correct, whatever the user's state. */
  signIn(pool: UserPool, name: string, password: string): Promise<Tokens | undefined>;
  /** Returns new tokens for a stored refresh token. */
  refresh(pool: UserPool, refreshToken: string): Promise<Tokens | undefined>;
  /** @param isPermanent false: the user must choose another password at the next sign-in */
  setPassword(pool: UserPool, name: string, password: string, isPermanent: boolean): Promise<void>;
  refreshTokensOf(pool: UserPool, subject: string): Promise<readonly string[]>;
  revoke(pool: UserPool, refreshToken: string): Promise<void>;
}

const TIMEOUT_MS = 5_000;

const Attributes = z.array(z.object({ Name: z.string(), Value: z.string().default('') }));
const FoundUser = z.object({
  Username: z.string(),
  Enabled: z.boolean(),
  UserStatus: z.string(),
  UserAttributes: Attributes,
  UserMFASettingList: z.array(z.string()).default([]),
  UserCreateDate: z.number(),
  UserLastModifiedDate: z.number(),
});
const SignedIn = z.object({
  AuthenticationResult: z.object({ AccessToken: z.string(), IdToken: z.string(), RefreshToken: z.string().optional() }),
});
const StoredUsers = z.object({ Users: z.record(z.string(), z.object({ RefreshTokens: z.array(z.string()).default([]) })) });
const ErrorBody = z.object({ __type: z.string(), message: z.string().default('') });

/** Creates the client of the cognito-local at `url` that runs in `folder`. */
export const createBackend = (url: string, folder: string): Backend => {
  const call: Backend['call'] = (action, request) => send(url, action, request);

  const authenticate = async (pool: UserPool, AuthFlow: string, AuthParameters: object): Promise<Tokens | undefined> => {
    const request = { UserPoolId: pool.id, ClientId: pool.client.id, AuthFlow, AuthParameters };
    const response = await orUndefined(() => call('AdminInitiateAuth', request), 'NotAuthorizedException', 'InvalidPasswordException');
    if (!response) return undefined;
    const { AccessToken, IdToken, RefreshToken = '' } = SignedIn.parse(response).AuthenticationResult;
    return { AccessToken, IdToken, RefreshToken };
  };

  return {
    call,
    async user(pool, name) {
      const response = await orUndefined(() => call('AdminGetUser', { UserPoolId: pool.id, Username: name }), 'UserNotFoundException');
      return response && toUser(FoundUser.parse(response));
    },
    signIn: (pool, USERNAME, PASSWORD) => authenticate(pool, 'ADMIN_USER_PASSWORD_AUTH', { USERNAME, PASSWORD }),
    async refresh(pool, REFRESH_TOKEN) {
      const tokens = await authenticate(pool, 'REFRESH_TOKEN_AUTH', { REFRESH_TOKEN });
      return tokens && { ...tokens, RefreshToken: REFRESH_TOKEN };
    },
    async setPassword(pool, Username, Password, Permanent) {
      await call('AdminSetUserPassword', { UserPoolId: pool.id, Username, Password, Permanent });
    },
    async refreshTokensOf(pool, subject) {
      // No call returns them. cognito-local responds to a call only after it has written the change to the file.
      const { Users } = StoredUsers.parse(JSON.parse(await readFile(poolFile(folder, pool.id), 'utf8')));
      return Users[subject]?.RefreshTokens ?? [];
    },
    async revoke(pool, Token) {
      await orUndefined(() => call('RevokeToken', { ClientId: pool.client.id, Token }), 'NotAuthorizedException');
    },
  };
};

const toUser = (found: z.infer<typeof FoundUser>): User => {
  const { UserAttributes: Attributes, ...description } = found;
  return {
    subject: found.Username,
    email: Attributes.find(({ Name }) => Name === 'email')?.Value ?? '',
    isEnabled: found.Enabled,
    hasTemporaryPassword: found.UserStatus === 'FORCE_CHANGE_PASSWORD',
    hasTotp: found.UserMFASettingList.includes('SOFTWARE_TOKEN_MFA'),
    changedAtMs: found.UserLastModifiedDate * SECOND_MS,
    description: { ...description, Attributes },
  };
};

const send = async (url: string, action: string, request: object): Promise<Readonly<Record<string, unknown>>> => {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `AWSCognitoIdentityProviderService.${action}` },
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => {
    throw internalError();
  });
  const body: unknown = JSON.parse((await reply.text()) || '{}');
  if (reply.ok) return body as Record<string, unknown>;
  const errorBody = ErrorBody.safeParse(body);
  throw errorBody.success && reply.status < 500 ? new AwsError(errorBody.data.__type, errorBody.data.message) : internalError();
};

// Undefined if the call fails with an error of one of these types.
const orUndefined = async <Result>(call: () => Promise<Result>, ...types: string[]): Promise<Result | undefined> => {
  try {
    return await call();
  } catch (error) {
    if (types.some((type) => isAwsError(error, type))) return undefined;
    throw error;
  }
};
