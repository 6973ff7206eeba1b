import * as z from 'zod';
import { Email, User } from '../users/user.ts';

/** The identity provider judges passwords and codes; these bounds only keep nonsense out. */
const Password = z.string().min(1).max(256);
const Code = z
  .string()
  .trim()
  .regex(/^\d{6}$/, 'expected a code of six digits');
const Token = z.string().min(1).max(8_192);

export const Credentials = z.strictObject({ email: Email, password: Password });

export const ChallengeAnswer = z
  .strictObject({
    email: Email,
    session: z.string().min(1).max(4_096).meta({ description: 'The `session` of the challenge.' }),
    new_password: Password.optional().meta({ description: 'For the challenge `new_password`: at least 12 characters of all four kinds.' }),
    code: Code.optional().meta({ description: 'For the challenge `totp`: what the authenticator app shows.' }),
  })
  .refine(({ new_password, code }) => (new_password === undefined) !== (code === undefined), {
    path: ['new_password'],
    message: 'expected new_password or code, and not both',
  });
export type ChallengeAnswer = z.output<typeof ChallengeAnswer>;

/** A login session. */
const Session = z.object({
  object: z.literal('session'),
  access_token: z.string().meta({ description: 'Goes into `Authorization: Bearer`.' }),
  refresh_token: z.string().meta({ description: 'For POST /v1/auth/refresh; it is valid for 30 days.' }),
  token_type: z.literal('Bearer'),
  expires_in: z.int().meta({ description: 'Seconds that the access token is valid for.' }),
  user: User,
});

/** A further step before there is a session. */
const Challenge = z.object({
  object: z.literal('challenge'),
  challenge: z.enum(['new_password', 'totp']).meta({
    description: '`new_password`: the password was a temporary one. `totp`: a code of the authenticator app is wanted.',
  }),
  session: z.string().meta({ description: 'To be sent with the answer, to POST /v1/auth/challenge, within three minutes.' }),
});

export const SessionOrChallenge = z.union([Session, Challenge]);
export type SessionOrChallenge = z.infer<typeof SessionOrChallenge>;

export const RefreshRequest = z.strictObject({ refresh_token: Token });

export const Refreshed = z.object({
  object: z.literal('session'),
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
});
export type Refreshed = z.infer<typeof Refreshed>;

export const PasswordChange = z.strictObject({ current_password: Password, new_password: Password });
export const ForgotPassword = z.strictObject({ email: Email });
export const PasswordReset = z.strictObject({ email: Email, code: z.string().trim().min(1).max(64), new_password: Password });

export const TotpSecret = z.object({
  object: z.literal('totp_secret'),
  secret: z.string().meta({ description: 'For the authenticator app, in base32.' }),
  url: z.string().meta({ description: 'The same as an otpauth:// URL, for a QR code.' }),
});
export type TotpSecret = z.infer<typeof TotpSecret>;
export const TotpCode = z.strictObject({ code: Code });
/** A change that outlives the access token needs the password too. */
export const PasswordProof = z.strictObject({ current_password: Password });
