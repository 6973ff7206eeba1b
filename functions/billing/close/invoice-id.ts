import { createHash } from 'node:crypto';
import { closableAt } from '../../../shared/billing/month.ts';
import { base62Of } from '../../../shared/ids/base62.ts';
import { prefixes, RANDOM_CHARACTERS, TIME_CHARACTERS, timeOfId } from '../../../shared/ids/id.ts';

/**
 * The id of an organization's invoice for a month. It is derived from both, so that closing the month again makes the
 * same invoice. Ids sort by month.
 * @param attempt the number of void invoices of the month
 */
export const invoiceIdOf = (organization: string, month: string, attempt: number): string => {
  const hash = createHash('sha256').update(`${organization}#${month}#${attempt}`).digest();
  return prefixes.invoice + timeOfId(closableAt(month) + attempt) + base62Of(hash, RANDOM_CHARACTERS - TIME_CHARACTERS);
};
