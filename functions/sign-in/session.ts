import * as z from 'zod';
import { AUTH_PATHS } from '../../shared/identity/auth-paths.ts';
import { Code, Password } from '../../shared/identity/credentials.ts';
import { Email, User } from '../../shared/identity/user.ts';

export const LoginCredentials = z.strictObject({ email: Email, password: Password });

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

export const PageSession = z.object({
  object: z.literal('session'),
  access_token: z.string().meta({ description: 'Send it in the header `Authorization: Bearer <access token>`.' }),
  token_type: z.literal('Bearer'),
  expires_in: z.int().meta({ description: 'Seconds until the access token expires.' }),
  user: User,
});
export type PageSession = z.infer<typeof PageSession>;

const Session = PageSession.extend({
  refresh_token: z.string().meta({ description: `Send it to POST ${AUTH_PATHS.refresh} for a new access token. Valid for 30 days.` }),
});

export const LoginChallenge = z.object({
  object: z.literal('challenge'),
  challenge: z.enum(['new_password', 'totp']).meta({
    description: '`new_password`: choose a new password to replace the temporary one. `totp`: send a code from your authenticator app.',
  }),
  session: z.string().meta({ description: `Send it with your answer to POST ${AUTH_PATHS.challenge} within three minutes.` }),
});

export const SessionOrChallenge = z.union([Session, LoginChallenge]);
export type SessionOrChallenge = z.infer<typeof SessionOrChallenge>;

export const ForgotPassword = z.strictObject({ email: Email });
export const PasswordReset = z.strictObject({ email: Email, code: z.string().trim().min(1).max(64), new_password: Password });
