import { createHash } from 'node:crypto';
import { divideRounded } from '../../../shared/billing/amounts/divide-rounded.ts';
import { minorUnitOf } from '../../../shared/billing/amounts/minor-unit.ts';
import { roundToUnit } from '../../../shared/billing/amounts/round-total.ts';
import type { Invoice } from '../../../shared/billing/invoice.ts';
import { base62Of } from '../../../shared/ids/base62.ts';
import { prefixes, RANDOM_CHARACTERS, TIME_CHARACTERS, timeOfId } from '../../../shared/ids/id.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import type { CreditLine, ServiceLevel, ServiceMiss } from '../../../shared/service-levels/service-level.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';

/** The id of the credit note for the service levels of an invoice, of which there is at most one. */
export const serviceCreditNoteId = ({ id, created_at }: Pick<Invoice, 'id' | 'created_at'>): string => {
  const hash = createHash('sha256').update(`service-levels#${id}`).digest();
  return prefixes.creditNote + timeOfId(created_at) + base62Of(hash, RANDOM_CHARACTERS - TIME_CHARACTERS);
};

const secondsText = (ms: number): string => dollarsOf((BigInt(ms) * 1_000_000_000n) / BigInt(SECOND_MS));

const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

const measuredOf = (
  level: ServiceLevel,
  { measure, threshold }: ServiceMiss,
): Pick<CreditLine, 'requests' | 'answered' | 'p95_ms'> & { words: string } => {
  const none = { requests: null, answered: null, p95_ms: null };
  if (measure === 'availability') {
    const requests = level.answered + level.failed;
    return {
      ...none,
      requests,
      answered: level.answered,
      words: `${grouped(level.answered)} of ${grouped(requests)} requests answered, below ${threshold}`,
    };
  }
  const isToken = measure === 'first_token_p95_ms';
  const [requests, p95] = isToken ? [level.first_tokens, level.first_token_p95_ms] : [level.waits, level.wait_p95_ms];
  const p95_ms = p95 ?? 0;
  const words = isToken
    ? `first token p95 of ${grouped(requests)} streams ${grouped(p95_ms)} ms, above ${grouped(Number(threshold))} ms`
    : `wait for capacity p95 of ${grouped(requests)} requests ${secondsText(p95_ms)} s, above ${grouped(Number(threshold))} s`;
  return { ...none, requests, p95_ms, words };
};

const lineOf = (level: ServiceLevel, miss: ServiceMiss, baseNanos: bigint): CreditLine => {
  const { words, ...measured } = measuredOf(level, miss);
  return {
    kind: 'service_credit',
    description: `${level.model}: ${words}`,
    model: level.model,
    measure: miss.measure,
    threshold: miss.threshold,
    ...measured,
    base_nanos: baseNanos,
    percent: miss.percent,
    amount_nanos: divideRounded(baseNanos * BigInt(miss.percent), 100n),
  };
};

const amountOnly = (kind: CreditLine['kind'], description: string, amount_nanos: bigint): CreditLine[] =>
  amount_nanos === 0n
    ? []
    : [
        {
          kind,
          description,
          model: null,
          measure: null,
          threshold: null,
          requests: null,
          answered: null,
          p95_ms: null,
          base_nanos: null,
          percent: null,
          amount_nanos,
        },
      ];

const linesFor = (levels: readonly ServiceLevel[], baseOf: (level: ServiceLevel) => bigint): CreditLine[] =>
  levels.flatMap((level) => {
    const base = baseOf(level);
    return base > 0n ? level.misses.map((miss) => lineOf(level, miss, base)) : [];
  });

/** The sum of lines of a credit. */
export const sumOfCredit = (lines: readonly CreditLine[]): bigint => lines.reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n);

type Credited = Pick<Invoice, 'currency' | 'service_levels' | 'subtotal_nanos' | 'tax_nanos'>;

/**
 * The lines of the credit note for the promises that an invoice's month missed, without a limit: of what was not paid
 * from prepaid credit, with the same share of the taxes, rounded half up like an invoice. None if nothing is credited.
 */
export const serviceCreditLines = ({ currency, service_levels = [], subtotal_nanos, tax_nanos }: Credited): CreditLine[] => {
  const lines = linesFor(service_levels, ({ charges_nanos, prepaid_nanos }) => charges_nanos - prepaid_nanos);
  const sum = sumOfCredit(lines);
  const tax = subtotal_nanos > 0n ? divideRounded(sum * tax_nanos, subtotal_nanos) : 0n;
  const whole = roundToUnit(sum + tax, currency);
  if (whole <= 0n) return [];
  return [
    ...lines,
    ...amountOnly('tax', 'Taxes in proportion', tax),
    ...amountOnly('rounding', `Rounding to ${minorUnitOf(currency).name}`, whole - sum - tax),
  ];
};

/** Lowers a credit to what is left of its invoice. None if nothing is left. */
export const limitedTo = (lines: readonly CreditLine[], leftNanos: bigint): CreditLine[] => {
  const sum = sumOfCredit(lines);
  if (leftNanos <= 0n) return [];
  return [...lines, ...amountOnly('limit', 'More than is left of the invoice', sum > leftNanos ? leftNanos - sum : 0n)];
};

/** The prepaid credit that is granted for missed promises, in nano-dollars: of what was paid from prepaid credit. */
export const prepaidCreditNanos = (levels: readonly ServiceLevel[]): bigint =>
  sumOfCredit(linesFor(levels, ({ prepaid_nanos }) => prepaid_nanos));

/** The idempotency key of that grant. Keys of callers have no spaces. */
export const prepaidCreditKey = (invoice: string): string => `service levels ${invoice}`;
