import * as z from 'zod';
import { AUTH_PATHS } from './auth-paths.ts';
import { User } from './user.ts';

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
