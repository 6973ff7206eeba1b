import { createHash } from 'node:crypto';
import * as z from 'zod';
import { ROLES } from '../hosts/permissions.ts';
import { toBase62 } from '../ids/base62.ts';
import { prefixes, RANDOM_CHARACTERS } from '../ids/id.ts';

/** Email addresses are case-insensitive. */
export const Email = z
  .email()
  // The identity provider's maximum.
  .max(128)
  .transform((email) => email.toLowerCase())
  .meta({ examples: ['ada@example.com'] });

export const UserName = z.string().trim().min(1).max(100);

export const MaxApiKeys = z.int().min(0).max(1_000);
export const DEFAULT_MAX_API_KEYS = 5;

/** Someone who can log in. */
export const User = z.object({
  id: z.string(),
  object: z.literal('user'),
  email: z.string(),
  name: z.string().nullable(),
  role: z.enum(ROLES).meta({
    description:
      '`member`, `viewer`, `billing` and `owner` belong to an organization. An `admin` manages the platform, `support` answers tickets, and `platform_billing` issues invoices.',
  }),
  organization: z.string().nullable().meta({ description: 'null for users who work for the platform.' }),
  status: z.enum(['active', 'disabled']).meta({ description: 'All requests of a disabled user are rejected.' }),
  max_api_keys: MaxApiKeys.default(DEFAULT_MAX_API_KEYS).meta({
    description: 'The most API keys that the user can have as a `member`, not counting revoked ones. Owners and admins have no such limit.',
  }),
  last_login_at: z.int().nullable().meta({ description: 'Unix time in seconds; null if the user has never logged in.' }),
  created_at: z.int(),
  updated_at: z.int(),
  version: z.int().meta({ description: 'Incremented by every change. Also sent as the ETag.' }),
});
export type User = z.infer<typeof User>;

// Nine base62 digits can hold this many bytes of a hash.
const HALF_BYTES = 6;
const HALF_DIGITS = RANDOM_CHARACTERS / 2;

/** Derives a user's id from the issuer and subject of their tokens, so that a token leads to its user with one read. */
export const userIdOf = (issuer: string, subject: string): string => {
  const hash = createHash('sha256').update(`${issuer}\n${subject}`).digest();
  const half = (start: number): string => toBase62(hash.readUIntBE(start, HALF_BYTES), HALF_DIGITS);
  return prefixes.user + half(0) + half(HALF_BYTES);
};

/** The body with which users rename themselves. */
export const UserNameUpdate = z.strictObject({ name: UserName.nullable() });
