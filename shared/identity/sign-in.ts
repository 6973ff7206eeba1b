import * as z from 'zod';

export type Challenge = 'new_password' | 'totp';

/** The tokens of a completed sign-in, or its next challenge. The session of a challenge lasts three minutes. */
export type SignIn =
  | { tokens: { subject: string; accessToken: string; refreshToken: string; expiresInSeconds: number } }
  | { challenge: Challenge; session: string };

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
  if (ChallengeName === undefined)
    return {
      tokens: {
        ...toAccess(AuthenticationResult),
        subject: subjectOf(present(AuthenticationResult?.AccessToken)),
        refreshToken: present(AuthenticationResult?.RefreshToken),
      },
    };
  const challenge = Object.entries(CHALLENGES).find(([, { name }]) => name === ChallengeName);
  if (!challenge) throw new Error(`The user pool sent an unknown challenge: ${ChallengeName}.`);
  return { challenge: challenge[0] as Challenge, session: present(Session) };
};

export const toAccess = (result: AuthenticationResult | undefined): { accessToken: string; expiresInSeconds: number } => ({
  accessToken: present(result?.AccessToken),
  expiresInSeconds: present(result?.ExpiresIn),
});

const Claims = z.object({ sub: z.string().min(1) });

// The user pool has just issued the token, so it needs no verification.
const subjectOf = (token: string): string => Claims.parse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())).sub;

/** Returns a value that the user pool always sends, although the SDK's types make it optional. */
export const present = <Value>(value: Value | undefined): Value => {
  if (value === undefined) throw new Error('A response of the user pool is incomplete.');
  return value;
};
