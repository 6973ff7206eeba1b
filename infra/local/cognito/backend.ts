import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import type { UserPool } from '../assembly/local-app.ts';
import { poolFile } from './data-folder.ts';
import { Fault, internalError, isFault } from './fault.ts';

/** The tokens of one sign-in. */
export interface Tokens {
  readonly AccessToken: string;
  readonly IdToken: string;
  readonly RefreshToken: string;
}

export interface User {
  /** `sub`, which is the name of a user in the pool as well. */
  readonly subject: string;
  readonly email: string;
  readonly isEnabled: boolean;
  readonly hasTemporaryPassword: boolean;
  readonly hasTotp: boolean;
  readonly changedAtMs: number;
  readonly description: object;
}

/** cognito-local, in as many words as the rules need. Whoever reads or writes a user does it alone: cognito-local forgets writes at the same time. */
export interface Backend {
  /** Makes a call as it is. Throws a Fault with what cognito-local says. */
  call(action: string, request: object): Promise<Readonly<Record<string, unknown>>>;
  /** @param name address or subject */
  user(pool: UserPool, name: string): Promise<User | undefined>;
  /** The tokens for a right password, whatever the user's state. */
  signIn(pool: UserPool, name: string, password: string): Promise<Tokens | undefined>;
  /** New tokens for a refresh token that is stored. */
  refresh(pool: UserPool, refreshToken: string): Promise<Tokens | undefined>;
  /** @param isPermanent false: the user has to choose another at the next sign-in */
  setPassword(pool: UserPool, name: string, password: string, isPermanent: boolean): Promise<void>;
  refreshTokensOf(pool: UserPool, subject: string): Promise<readonly string[]>;
  revoke(pool: UserPool, refreshToken: string): Promise<void>;
}

const TIMEOUT_MS = 5_000;
const SECOND_MS = 1_000;

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
const Refusal = z.object({ __type: z.string(), message: z.string().default('') });

/**
 * @param url of cognito-local
 * @param folder its working directory
 */
export const createBackend = (url: string, folder: string): Backend => {
  const call: Backend['call'] = (action, request) => send(url, action, request);

  const authenticate = async (pool: UserPool, AuthFlow: string, AuthParameters: object): Promise<Tokens | undefined> => {
    const request = { UserPoolId: pool.id, ClientId: pool.client.id, AuthFlow, AuthParameters };
    const answer = await orUndefined(() => call('AdminInitiateAuth', request), 'NotAuthorizedException', 'InvalidPasswordException');
    if (!answer) return undefined;
    const { AccessToken, IdToken, RefreshToken = '' } = SignedIn.parse(answer).AuthenticationResult;
    return { AccessToken, IdToken, RefreshToken };
  };

  return {
    call,
    async user(pool, name) {
      const answer = await orUndefined(() => call('AdminGetUser', { UserPoolId: pool.id, Username: name }), 'UserNotFoundException');
      return answer && toUser(FoundUser.parse(answer));
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
      // No call tells them. A call is answered after its change is in the file.
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
  const answer: unknown = JSON.parse((await reply.text()) || '{}');
  if (reply.ok) return answer as Record<string, unknown>;
  const refusal = Refusal.safeParse(answer);
  throw refusal.success && reply.status < 500 ? new Fault(refusal.data.__type, refusal.data.message) : internalError();
};

/** The result, or undefined when the call ends with a fault of one of these types. */
const orUndefined = async <Result>(call: () => Promise<Result>, ...types: string[]): Promise<Result | undefined> => {
  try {
    return await call();
  } catch (error) {
    if (types.some((type) => isFault(error, type))) return undefined;
    throw error;
  }
};
