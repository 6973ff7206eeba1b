import { faultOfMoney } from '../../design/format/amounts.ts';

const MOST = '999999999.999999999';

/** Why an amount of credit can't be granted; undefined: it can, or the field is empty. */
export const faultOfCredit = (text: string): string | undefined =>
  text !== '' && /^-?[0.]*$/.test(text) ? 'Enter an amount other than 0.' : faultOfMoney(text.replace(/^-/, ''), '100', MOST);

/** Why credit can't expire at a time; undefined: it can, or it never expires. @param expiresS Unix seconds */
export const faultOfExpiry = (amount: string, expiresS: number | undefined, nowS: number): string | undefined => {
  if (expiresS === undefined) return undefined;
  if (amount.startsWith('-')) return 'Leave this empty to take credit back.';
  return expiresS <= nowS ? 'Choose a day in the future.' : undefined;
};
