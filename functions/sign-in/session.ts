import * as z from 'zod';
import { Code, Password } from '../../shared/identity/credentials.ts';
import { Email } from '../../shared/identity/user.ts';

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

export const ForgotPassword = z.strictObject({ email: Email });
export const PasswordReset = z.strictObject({ email: Email, code: z.string().trim().min(1).max(64), new_password: Password });
