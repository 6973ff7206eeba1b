import * as z from 'zod';

/** The identity provider applies the real rules for passwords; this only limits the size. */
export const Password = z.string().min(1).max(256);

/** A code from an authenticator app. */
export const Code = z
  .string()
  .trim()
  .regex(/^\d{6}$/, 'expected a six-digit code');
