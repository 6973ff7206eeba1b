import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  counted,
  faultOfMoney,
  formatAmount,
  formatAxisMoney,
  formatCount,
  formatMoney,
  formatShare,
  fromUnits,
  isMoney,
  MOST_PER_UNIT,
  nearestCent,
  percentOf,
  perMillion,
  sumOf,
  toUnits,
} from '../../../console/design/format/amounts.ts';
import { setCurrency } from '../../../console/design/format/currency.ts';
import { faultOfCredit, faultOfExpiry } from '../../../console/pages/organization/credit-amount.ts';
import { NewInstancePrice } from '../../../functions/control/instance-types/instance-type.ts';
import { NewCreditGrant } from '../../../functions/control/organizations/credit.ts';
import { Dollars, dollarsOf, dollarsPerToken } from '../../../shared/prices/dollars.ts';
import { MAX_PRICE_NANOS } from '../../../shared/prices/price.ts';
import { NewFigures } from '../../../shared/prices/price-version.ts';

afterEach(() => setCurrency({ code: 'USD', symbol: '$', decimals: 2 }));

describe('perMillion', () => {
  test.each([
    ['0.0000001', '0.1'],
    ['0.000000000000001', '0.000000001'],
    ['0.00000005', '0.05'],
    ['0.00001234567', '12.34567'],
    ['0', '0'],
    ['0.000000', '0'],
    ['1.5', '1500000'],
  ])('makes %s a token %s a million', (perToken, price) => {
    expect(perMillion(perToken)).toBe(price);
  });
});

test.each([
  [0, '0 tokens'],
  [1, '1 token'],
  [199_820, '199,820 tokens'],
])('a count of %s has its noun in the right number', (count, text) => {
  expect(counted(count, 'token', 'tokens')).toBe(text);
});

test.each([
  [1_200, '1,200'],
  ['1200.56789', '1,200.56789'],
  [-4_321, '-4,321'],
])('a number of %s has separators in front of its decimals only', (count, text) => {
  expect(formatCount(count)).toBe(text);
});

describe('an amount', () => {
  test.each([
    ['0', '0.00'],
    ['1234567.5', '1,234,567.50'],
    ['-0.000000001', '−0.000000001'],
    ['12.340000', '12.34'],
    ['90071992547409931.000000001', '90,071,992,547,409,931.000000001'],
  ])('shows %s with all its digits', (amount, shown) => {
    expect(formatAmount(amount)).toBe(shown);
  });

  test.each([
    [{ code: 'USD', symbol: '$', decimals: 2 }, '$1,234.50', '−$0.0001', '$0.10'],
    [{ code: 'JPY', symbol: '¥', decimals: 0 }, '¥1,234.5', '−¥0.0001', '¥0.1'],
    [{ code: 'KWD', symbol: 'KD', decimals: 3 }, 'KD\u00a01,234.500', '−KD\u00a00.0001', 'KD\u00a00.100'],
  ])('is shown in the currency of the seller: %j', (currency, positive, negative, onAxis) => {
    setCurrency(currency);
    expect(formatAxisMoney(0.1)).toBe(onAxis);
    expect([formatMoney('1234.5'), formatMoney('-0.0001')]).toEqual([positive, negative]);
    expect(nearestCent('1.23456')).toBe(['1', '', '1.23', '1.235'][currency.decimals]);
  });

  test('is written on an axis without exponents and errors of floats', () => {
    expect([1e-7, 0.1 + 0.2].map(formatAxisMoney)).toEqual(['$0.0000001', '$0.30']);
  });

  test('is added without floats', () => {
    expect(sumOf(['0.1', '0.2', '-0.05'])).toBe('0.25');
    expect(sumOf([])).toBe('0');
    expect(fromUnits(toUnits('-12.000000000001'))).toBe('-12.000000000001');
  });

  const anyNanos = fc.bigInt({ min: -(10n ** 21n), max: 10n ** 21n });

  test('is shown, compared and added as exactly as the API sends it', () => {
    const check = (nanos: readonly bigint[]): void => {
      expect(sumOf(nanos.map(dollarsOf))).toBe(dollarsOf(nanos.reduce((sum, each) => sum + each, 0n)));
      for (const amount of nanos.map(dollarsOf)) {
        expect(formatAmount(amount)).toMatch(/^−?\d{1,3}(,\d{3})*\.\d{2,9}$/);
        const shown = formatAmount(amount).replaceAll(',', '').replace('−', '-');
        expect([fromUnits(toUnits(shown)), fromUnits(toUnits(amount))]).toEqual([amount, amount]);
      }
    };
    fc.assert(fc.property(fc.array(anyNanos, { maxLength: 5 }), check));
  });

  test('keeps all digits of a price of one token in that of a million', () => {
    const check = (nanos: number): void => expect(perMillion(dollarsPerToken(nanos))).toBe(dollarsOf(BigInt(nanos)));
    fc.assert(fc.property(fc.integer({ min: 0, max: MAX_PRICE_NANOS }), check));
  });

  test.each([
    ['1', '3', 33],
    ['9007199254740993', '9007199254740992', 100],
    ['1', '0', 100],
    ['0', '5', 0],
  ])('has its share of a whole: %s of %s', (part, whole, percent) => {
    expect(percentOf(part, whole)).toBe(percent);
  });
});

test('a count keeps the digits that a number cannot hold', () => {
  expect(formatCount('9007199254740993')).toBe('9,007,199,254,740,993');
  expect(formatCount(1000)).toBe('1,000');
});

describe('an estimate in cents', () => {
  test.each([
    ['4.037611343', '4.04'],
    ['0.005', '0.01'],
    ['0.004999999', '0'],
    ['9007199254740993.125', '9007199254740993.13'],
  ])('rounds %s to %s', (amount, rounded) => {
    expect(nearestCent(amount)).toBe(rounded);
  });
});

describe('shares of a whole', () => {
  test.each([
    ['0.35751', '0.40821', '88%'],
    ['0.0507', '0.40821', '12%'],
    ['0.0007', '0.40821', '<1%'],
    ['0', '0.40821', '0%'],
    ['1', '0', '0%'],
  ])('shows %s of %s as %s', (part, whole, shown) => {
    expect(formatShare(part, whole)).toBe(shown);
  });
});

const TYPED: readonly [string, string | undefined][] = [
  ['0.05', undefined],
  ['0', undefined],
  ['0.123456789', undefined],
  ['0.1234567890', 'Enter at most nine decimals.'],
  ['1000000', undefined],
  ['1000000.000000001', undefined],
  ['999999999.999999999', undefined],
  ['1000000000', undefined],
  ['999999999999.999999999', undefined],
  ['1000000000000', 'Enter at most 999,999,999,999.00.'],
  ['0000000000001', 'Enter at most 999,999,999,999.00.'],
  ...['-1', '+1', '1e3', '1,5', '1.', '.5', '$5', '1 000', '0x1', '١'].map(
    (text) => [text, 'Enter an amount, such as 12.50.'] satisfies [string, string],
  ),
];

describe('an amount that is typed', () => {
  const expectTakenAsByApi = (text: string): void => {
    const isTakenBy = (schema: { safeParse: (value: unknown) => { success: boolean } }, value: unknown): boolean =>
      schema.safeParse(value).success;
    expect({
      budget: isMoney(text),
      price: isMoney(text, MOST_PER_UNIT),
      hour: isMoney(text, MOST_PER_UNIT),
      grant: faultOfCredit(text) === undefined,
      deduction: faultOfCredit(`-${text}`) === undefined,
    }).toEqual({
      budget: isTakenBy(Dollars, text),
      price: isTakenBy(NewFigures, { per_million: { prompt: text, completion: text } }),
      hour: isTakenBy(NewInstancePrice, { per_hour: text }),
      grant: isTakenBy(NewCreditGrant, { amount: text, reason: 'A gift.' }),
      deduction: isTakenBy(NewCreditGrant, { amount: `-${text}`, reason: 'A mistake.' }),
    });
  };

  test.each(TYPED)('%j is taken where the API takes it', expectTakenAsByApi);

  test('is taken where the API takes it, whatever it is', () => {
    const typed = fc.oneof(fc.stringMatching(/^(0|[1-9]\d{0,13})(\.\d{0,11})?$/), fc.stringMatching(/^[\d.,+ e-]{1,5}$/));
    fc.assert(fc.property(typed, expectTakenAsByApi));
  });

  test.each(TYPED)('%j says what is wrong with it', (text, fault) => {
    expect(faultOfMoney(text, '12.50')).toBe(fault);
  });

  test('has another bound as a price and as credit, and none is expected of an empty field', () => {
    expect(faultOfMoney('1000000.01', '12.50', MOST_PER_UNIT)).toBe('Enter at most 1,000,000.00.');
    expect(faultOfCredit('1000000000')).toBe('Enter at most 999,999,999.00.');
    expect(faultOfCredit('-0.00')).toBe('Enter an amount other than 0.');
    expect([faultOfMoney('', '12.50'), faultOfCredit(''), isMoney('')]).toEqual([undefined, undefined, false]);
  });

  test('says why credit cannot expire on a day, as the API would', () => {
    expect([faultOfExpiry('-5', 200, 100), faultOfExpiry('5', 100, 100)]).toEqual([
      'Leave this empty to take credit back.',
      'Choose a day in the future.',
    ]);
    expect([faultOfExpiry('5', 101, 100), faultOfExpiry('-5', undefined, 100)]).toEqual([undefined, undefined]);
  });
});
