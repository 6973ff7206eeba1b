import * as z from 'zod';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';
import { Email, User } from '../../../shared/identity/user.ts';

/** The identity provider applies the real rules for passwords; this only limits the size. */
const Password = z.string().min(1).max(256);
const Code = z
  .string()
  .trim()
  .regex(/^\d{6}$/, 'expected a six-digit code');
const Token = z.string().min(1).max(8_192);

export const Credentials = z.strictObject({ email: Email, password: Password });

export const ChallengeAnswer = z
  .strictObject({
    email: Email,
    session: z.string().min(1).max(4_096).meta({ description: 'The `session` of the challenge.' }),
    new_password: Password.optional().meta({
      description: 'For the challenge `new_password`: at least 12 characters with upper and lower case letters, a digit and a symbol.',
    }),
    code: Code.optional().meta({ description: 'For the challenge `totp`: the code from the authenticator app.' }),
  })
  .refine(({ new_password, code }) => (new_password === undefined) !== (code === undefined), {
    path: ['new_password'],
    message: 'expected either new_password or code, not both',
  });
export type ChallengeAnswer = z.output<typeof ChallengeAnswer>;

const Session = z.object({
  object: z.literal('session'),
  access_token: z.string().meta({ description: 'Send it in the header `Authorization: Bearer <access token>`.' }),
  refresh_token: z.string().meta({ description: `Send it to POST ${AUTH_PATHS.refresh} for a new access token. Valid for 30 days.` }),
  token_type: z.literal('Bearer'),
  expires_in: z.int().meta({ description: 'Seconds until the access token expires.' }),
  user: User,
});

/** The next step of a login. */
const Challenge = z.object({
  object: z.literal('challenge'),
  challenge: z.enum(['new_password', 'totp']).meta({
    description: '`new_password`: choose a new password to replace the temporary one. `totp`: send a code from your authenticator app.',
  }),
  session: z.string().meta({ description: `Send it with your answer to POST ${AUTH_PATHS.challenge} within three minutes.` }),
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
  secret: z.string().meta({ description: 'The secret for the authenticator app, in base32.' }),
  url: z.string().meta({ description: 'The same secret as an `otpauth://` URL, for a QR code.' }),
});
export type TotpSecret = z.infer<typeof TotpSecret>;
export const TotpCode = z.strictObject({ code: Code });
/** Changes that outlive the access token require the password too, and the second factor if it is on. */
export const IdentityProof = z.strictObject({
  current_password: Password,
  code: Code.optional().meta({ description: 'The code from the authenticator app. Required if your second factor is on.' }),
});
export type IdentityProof = z.output<typeof IdentityProof>;
