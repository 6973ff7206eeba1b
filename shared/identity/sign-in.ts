import { createHash } from 'node:crypto';
import * as z from 'zod';
import { base62Of } from '../ids/base62.ts';
import { prefixes, RANDOM_CHARACTERS } from '../ids/id.ts';

export type Challenge = 'new_password' | 'totp';

/** An access token, and the facts in it. */
export interface Access {
  accessToken: string;
  expiresInSeconds: number;
  subject: string;
  /** The same for all tokens of one sign-in; see sessionIdOf. */
  sessionId: string | undefined;
  /** When the user signed in; refreshing doesn't change it. Unix time in seconds. */
  authenticatedAt: number;
}

/** The tokens of a completed sign-in, or its next challenge. The session of a challenge lasts three minutes. */
export type SignIn = { tokens: Access & { refreshToken: string } } | { challenge: Challenge; session: string };

/** The user pool's names for the challenges and for the fields of their answers. */
export const CHALLENGES = {
  new_password: { name: 'NEW_PASSWORD_REQUIRED', field: 'NEW_PASSWORD' },
  totp: { name: 'SOFTWARE_TOKEN_MFA', field: 'SOFTWARE_TOKEN_MFA_CODE' },
} as const;

interface AuthenticationResult {
  AccessToken?: string | undefined;
  RefreshToken?: string | undefined;
  ExpiresIn?: number | undefined;
}

interface AuthResponse {
  ChallengeName?: string | undefined;
  Session?: string | undefined;
  AuthenticationResult?: AuthenticationResult | undefined;
}

/** Converts the user pool's response to a password or to the answer of a challenge. */
export const toSignIn = ({ ChallengeName, Session, AuthenticationResult }: AuthResponse): SignIn => {
  if (ChallengeName === undefined) return { tokens: toRefreshable(AuthenticationResult) };
  const challenge = Object.entries(CHALLENGES).find(([, { name }]) => name === ChallengeName);
  if (!challenge) throw new Error(`The user pool sent an unknown challenge: ${ChallengeName}.`);
  return { challenge: challenge[0] as Challenge, session: present(Session) };
};

export const toAccess = (result: AuthenticationResult | undefined): Access => {
  const accessToken = present(result?.AccessToken);
  const { sub, origin_jti, auth_time } = claimsOf(accessToken);
  return {
    accessToken,
    expiresInSeconds: present(result?.ExpiresIn),
    subject: sub,
    sessionId: sessionIdOf(origin_jti),
    authenticatedAt: auth_time,
  };
};

export const toRefreshable = (result: AuthenticationResult | undefined): Access & { refreshToken: string } => ({
  ...toAccess(result),
  refreshToken: present(result?.RefreshToken),
});

/**
 * Derives the id of a session from the claim `origin_jti`, which Cognito gives to all tokens of one sign-in. undefined
 * without the claim.
 */
export const sessionIdOf = (originJti: string | undefined): string | undefined =>
  originJti === undefined ? undefined : prefixes.session + base62Of(createHash('sha256').update(originJti).digest(), RANDOM_CHARACTERS);

const Claims = z.object({ sub: z.string().min(1), origin_jti: z.string().min(1).optional(), auth_time: z.number() });

// The user pool has just issued the token, so it needs no verification.
const claimsOf = (token: string): z.infer<typeof Claims> =>
  Claims.parse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));

/** Returns a value that the user pool always sends, although the SDK's types make it optional. */
export const present = <Value>(value: Value | undefined): Value => {
  if (value === undefined) throw new Error('A response of the user pool is incomplete.');
  return value;
};
