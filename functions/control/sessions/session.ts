import * as z from 'zod';
import { Code, Password } from '../../../shared/identity/credentials.ts';

export const RefreshRequest = z.strictObject({ refresh_token: z.string().min(1).max(8_192) });

export const Refreshed = z.object({
  object: z.literal('session'),
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
});
export type Refreshed = z.infer<typeof Refreshed>;

export const PasswordChange = z.strictObject({ current_password: Password, new_password: Password });

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
