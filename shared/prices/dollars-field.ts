import * as z from 'zod';

/** An amount of dollars on the wire: text, because a JSON number is not exact. */
export const Dollars = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,9})?$/, 'expected dollars as text with at most nine decimals, such as "12.50"')
  .meta({ examples: ['12.50'] });
