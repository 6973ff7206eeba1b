import { randomUUID } from 'node:crypto';
import type { Role } from '../../../shared/hosts/permissions.ts';
import type { TestRun } from './local-run.ts';
import { totpOf } from './totp.ts';

/** A response of the control plane. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its response.
  body: any;
}

export interface RequestParts {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A user with a session. */
export interface SignedIn {
  id: string;
  email: string;
  password: string;
  token: string;
  refreshToken: string;
  /** The secret of their authenticator app. */
  secondFactor?: string;
}

const NEED_SECOND_FACTOR: readonly Role[] = ['admin', 'platform_billing'];
const TEMPORARY = 'Temporary-Password-1';
const PASSWORD = 'A-Password-of-my-own-2';

/** Sends requests to a run's control plane. */
export const controlOf = ({ control_url, admin_email, admin_password }: TestRun) => {
  const call = async (method: string, path: string, { token, body, headers }: RequestParts = {}): Promise<Answer> => {
    const response = await fetch(`${control_url}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : isJson ? JSON.parse(text) : text };
  };

  /** Returns the response body. Throws unless the request succeeds. */
  const done = async (method: string, path: string, request: RequestParts = {}): Promise<Answer['body']> => {
    const answer = await call(method, path, request);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  const logIn = async (email: string, password: string): Promise<SignedIn> => {
    const session = await done('POST', '/v1/auth/login', { body: { email, password } });
    return { id: session.user.id, email, password, token: session.access_token, refreshToken: session.refresh_token };
  };

  /** Sets up an authenticator app. @returns its secret */
  const setUpSecondFactor = async ({ token, password }: Pick<SignedIn, 'token' | 'password'>): Promise<string> => {
    const { secret } = await done('POST', '/v1/auth/totp', { token, body: { current_password: password } });
    await done('POST', '/v1/auth/totp/verify', { token, body: { code: totpOf(secret) } });
    return secret;
  };

  let admin: Promise<SignedIn> | undefined;
  const asAdmin = (): Promise<SignedIn> => {
    admin ??= logIn(admin_email, admin_password);
    return admin;
  };

  return {
    call,
    done,
    logIn,
    setUpSecondFactor,
    asAdmin,
    createOrganization: async (name = 'Acme'): Promise<{ id: string; version: number }> =>
      done('POST', '/v1/organizations', { token: (await asAdmin()).token, body: { name } }),
    /** Creates a user, chooses a password for them and logs them in, with a second factor if their role needs one. */
    createUser: async (fields: { role: Role; organization?: string; email?: string }): Promise<SignedIn> => {
      // Suites share runs, so a number would not be new.
      const { email = `person-${randomUUID()}@example.com` } = fields;
      const { token } = await asAdmin();
      await done('POST', '/v1/users', { token, body: { ...fields, email, temporary_password: TEMPORARY } });
      const { session } = await done('POST', '/v1/auth/login', { body: { email, password: TEMPORARY } });
      const answer = await done('POST', '/v1/auth/challenge', { body: { email, session, new_password: PASSWORD } });
      const user = { id: answer.user.id, email, password: PASSWORD, token: answer.access_token, refreshToken: answer.refresh_token };
      return NEED_SECOND_FACTOR.includes(fields.role) ? { ...user, secondFactor: await setUpSecondFactor(user) } : user;
    },
  };
};

export type Control = ReturnType<typeof controlOf>;
