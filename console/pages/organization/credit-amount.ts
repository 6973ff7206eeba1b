import { faultOfMoney } from '../../design/format/amounts.ts';

const MOST = '999999999.999999999';

/** Why an amount of credit can't be granted; undefined: it can, or the field is empty. */
export const faultOfCredit = (text: string): string | undefined =>
  text !== '' && /^-?[0.]*$/.test(text) ? 'Enter an amount other than 0.' : faultOfMoney(text.replace(/^-/, ''), '100', MOST);
