import * as z from 'zod';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { UserPool } from '../../assembly/local-app.ts';
import { AwsError } from '../http/json-api.ts';
import { postJson } from '../http/post-json.ts';
import { internalError, isAwsError } from './errors.ts';

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
  /** Sends a call unchanged. Throws an AwsError with the error of cognito-local. */
  call(action: string, request: object): Promise<Readonly<Record<string, unknown>>>;
  /** @param name email address or subject */
  user(pool: UserPool, name: string): Promise<User | undefined>;
  /** True if the password is correct, whatever the user's state. */
  isPassword(pool: UserPool, name: string, password: string): Promise<boolean>;
  /** @param isPermanent false: the user must choose another password at the next sign-in */
  setPassword(pool: UserPool, name: string, password: string, isPermanent: boolean): Promise<void>;
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
const ErrorBody = z.object({ __type: z.string(), message: z.string().default('') });

/** Creates the client of the cognito-local at `url`. */
export const createBackend = (url: string): Backend => {
  const call: Backend['call'] = (action, request) => send(url, action, request);

  return {
    call,
    async user(pool, name) {
      const response = await orUndefined(() => call('AdminGetUser', { UserPoolId: pool.id, Username: name }), 'UserNotFoundException');
      return response && toUser(FoundUser.parse(response));
    },
    async isPassword(pool, USERNAME, PASSWORD) {
      const [{ id: ClientId }] = pool.clients;
      const AuthParameters = { USERNAME, PASSWORD };
      const request = { UserPoolId: pool.id, ClientId, AuthFlow: 'ADMIN_USER_PASSWORD_AUTH', AuthParameters };
      const response = await orUndefined(() => call('AdminInitiateAuth', request), 'NotAuthorizedException', 'InvalidPasswordException');
      return response !== undefined;
    },
    async setPassword(pool, Username, Password, Permanent) {
      await call('AdminSetUserPassword', { UserPoolId: pool.id, Username, Password, Permanent });
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
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `AWSCognitoIdentityProviderService.${action}` };
  const reply = await postJson(url, headers, request, TIMEOUT_MS).catch(() => {
    throw internalError();
  });
  const body: unknown = JSON.parse(reply.text || '{}');
  if (reply.status === 200) return body as Record<string, unknown>;
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
