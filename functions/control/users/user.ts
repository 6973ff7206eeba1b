import { createHash } from 'node:crypto';
import * as z from 'zod';
import { toBase62 } from '../../../shared/ids/base62.ts';
import { prefixes, RANDOM_CHARACTERS } from '../../../shared/ids/id.ts';
import { Role } from '../access/actor.ts';

/** E-mail addresses are compared without regard to case. */
export const Email = z
  .email()
  // The identity provider accepts no longer one.
  .max(128)
  .transform((email) => email.toLowerCase())
  .meta({ examples: ['ada@example.com'] });

export const UserName = z.string().trim().min(1).max(100);

/** Someone who may log in. */
export const User = z.object({
  id: z.string(),
  object: z.literal('user'),
  email: z.string(),
  name: z.string().nullable(),
  role: Role.meta({ description: '`admin`: of the platform. `owner` and `member`: of an organization.' }),
  organization: z.string().nullable().meta({ description: 'null: of an admin.' }),
  status: z.enum(['active', 'disabled']).meta({ description: 'One who is disabled is refused at the next request.' }),
  last_login_at: z.int().nullable().meta({ description: 'Unix time in seconds; null: invited, and never logged in.' }),
  created_at: z.int(),
  updated_at: z.int(),
  version: z.int().meta({ description: 'Counted up by every change; the ETag is made of it.' }),
});
export type User = z.infer<typeof User>;

/** Bytes of a hash that two base62 numbers of nine digits hold. */
const HALF_BYTES = 6;
const HALF_DIGITS = RANDOM_CHARACTERS / 2;

/** The id of a user, from the issuer and the subject of their tokens: so a token leads to its user with one read. */
export const userIdOf = (issuer: string, subject: string): string => {
  const hash = createHash('sha256').update(`${issuer}\n${subject}`).digest();
  const half = (start: number): string => toBase62(hash.readUIntBE(start, HALF_BYTES), HALF_DIGITS);
  return prefixes.user + half(0) + half(HALF_BYTES);
};

/** What users can change about themselves. */
export const OwnName = z.strictObject({ name: UserName.nullable() });
