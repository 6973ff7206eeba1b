import * as z from 'zod';

/** A time in a query. */
export const UnixSeconds = z
  .string()
  .regex(/^\d{1,10}$/, 'expected Unix time in seconds')
  .transform(Number)
  .pipe(z.int().min(0));
