import { minorUnitOf } from '../../../shared/billing/amounts/minor-unit.ts';
import type { Invoice, InvoiceLine } from '../../../shared/billing/invoice.ts';
import { endOfMonth } from '../../../shared/billing/month.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { DAY_MS } from '../../../shared/time/units.ts';

const HOUR_SECONDS = 3_600n;
const MINUTE_SECONDS = 60n;

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',');

const fractionOf = (nanos: bigint): string => dollarsOf(nanos).split('.')[1] ?? '';

/** The currency of a document. */
export type DocumentCurrency = Pick<Invoice, 'currency' | 'currency_symbol'>;

/** The number of decimals that prints all these amounts exactly: at least those of the currency. */
export const decimalsOf = (amounts: readonly bigint[], { currency }: DocumentCurrency): number =>
  Math.max(minorUnitOf(currency).decimals, ...amounts.map((nanos) => fractionOf(nanos).length));

/** An exact amount such as `$1,234.50`. @param decimals how many it has at least; default: those of the currency */
export const amountText = (
  nanos: bigint,
  { currency, currency_symbol }: DocumentCurrency,
  decimals = minorUnitOf(currency).decimals,
): string => {
  const [whole = ''] = dollarsOf(nanos < 0n ? -nanos : nanos).split('.');
  const fraction = fractionOf(nanos).padEnd(decimals, '0');
  return `${nanos < 0n ? '−' : ''}${currency_symbol}${grouped(whole)}${fraction && `.${fraction}`}`;
};

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];

/** The UTC day of an instant, such as `1 November 2026`, which readers of all countries understand in the same way. */
export const dateText = (ms: number): string => {
  const date = new Date(ms);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
};

/** A month such as `October 2026`. */
export const monthText = (month: string): string => `${MONTHS[Number(month.slice(5)) - 1]} ${month.slice(0, 4)}`;

/** The days of a month, such as `1–31 October 2026`. */
export const periodText = (month: string): string => `1–${dateText(endOfMonth(month) - DAY_MS)}`;

// Hours, minutes and seconds, exactly: `1,250:30:05 h`.
const hoursText = (seconds: bigint): string => {
  const all = seconds < 0n ? -seconds : seconds;
  const [hours, minutes, rest] = [all / HOUR_SECONDS, (all % HOUR_SECONDS) / MINUTE_SECONDS, all % MINUTE_SECONDS];
  const padded = [minutes, rest].map((part) => String(part).padStart(2, '0')).join(':');
  return `${seconds < 0n ? '−' : ''}${grouped(String(hours))}:${padded} h`;
};

/** The quantity of a line; empty if it has none. */
export const quantityText = ({ quantity, unit }: Pick<InvoiceLine, 'quantity' | 'unit'>): string => {
  if (quantity === null || unit === null) return '';
  if (unit === 'second') return hoursText(quantity);
  return `${quantity < 0n ? '−' : ''}${grouped(String(quantity < 0n ? -quantity : quantity))}`;
};

/** The price of a line and its unit. */
export const unitPriceText = (
  { unit_price_nanos, unit }: Pick<InvoiceLine, 'unit_price_nanos' | 'unit'>,
  currency: DocumentCurrency,
): string => (unit_price_nanos === null ? '' : `${amountText(unit_price_nanos, currency)} / ${unit === 'second' ? 'h' : '1M'}`);
