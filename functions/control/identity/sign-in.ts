import * as z from 'zod';

export type Challenge = 'new_password' | 'totp';

/** A sign-in that is complete, or its next challenge. A session lasts three minutes. */
export type SignIn =
  | { tokens: { subject: string; accessToken: string; refreshToken: string; expiresInSeconds: number } }
  | { challenge: Challenge; session: string };

/** The pool's names of challenges, and of the fields for their answers. */
export const CHALLENGES = {
  new_password: { name: 'NEW_PASSWORD_REQUIRED', field: 'NEW_PASSWORD' },
  totp: { name: 'SOFTWARE_TOKEN_MFA', field: 'SOFTWARE_TOKEN_MFA_CODE' },
} as const;

interface AuthenticationResult {
  AccessToken?: string | undefined;
  RefreshToken?: string | undefined;
  ExpiresIn?: number | undefined;
}

interface Answer {
  ChallengeName?: string | undefined;
  Session?: string | undefined;
  AuthenticationResult?: AuthenticationResult | undefined;
}

/** The pool's answer to a password or to a challenge. */
export const toSignIn = ({ ChallengeName, Session, AuthenticationResult }: Answer): SignIn => {
  if (ChallengeName === undefined)
    return {
      tokens: {
        ...toAccess(AuthenticationResult),
        subject: subjectOf(present(AuthenticationResult?.AccessToken)),
        refreshToken: present(AuthenticationResult?.RefreshToken),
      },
    };
  const asked = Object.entries(CHALLENGES).find(([, { name }]) => name === ChallengeName);
  if (!asked) throw new Error(`The user pool asks for ${ChallengeName}, which it is not set up for.`);
  return { challenge: asked[0] as Challenge, session: present(Session) };
};

export const toAccess = (result: AuthenticationResult | undefined): { accessToken: string; expiresInSeconds: number } => ({
  accessToken: present(result?.AccessToken),
  expiresInSeconds: present(result?.ExpiresIn),
});

const Claims = z.object({ sub: z.string().min(1) });

/** The subject of a token that the pool has just issued, which needs no verification. */
const subjectOf = (token: string): string => Claims.parse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())).sub;

/** A value that the pool always returns, though its types do not say so. */
export const present = <Value>(value: Value | undefined): Value => {
  if (value === undefined) throw new Error('An answer of the user pool is not whole.');
  return value;
};
