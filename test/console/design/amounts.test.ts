import { afterEach, describe, expect, test } from '@jest/globals';
import {
  counted,
  formatAmount,
  formatCount,
  formatMoney,
  formatShare,
  fromUnits,
  nearestCent,
  percentOf,
  perMillion,
  sumOf,
  toUnits,
} from '../../../console/design/format/amounts.ts';
import { setCurrency } from '../../../console/design/format/currency.ts';

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
    [{ code: 'USD', symbol: '$', decimals: 2 }, '$1,234.50', '−$0.0001'],
    [{ code: 'JPY', symbol: '¥', decimals: 0 }, '¥1,234.5', '−¥0.0001'],
    [{ code: 'KWD', symbol: 'KD', decimals: 3 }, 'KD\u00a01,234.500', '−KD\u00a00.0001'],
  ])('is shown in the currency of the seller: %j', (currency, positive, negative) => {
    setCurrency(currency);
    expect([formatMoney('1234.5'), formatMoney('-0.0001')]).toEqual([positive, negative]);
    expect(nearestCent('1.23456')).toBe(['1', '', '1.23', '1.235'][currency.decimals]);
  });

  test('is added without floats', () => {
    expect(sumOf(['0.1', '0.2', '-0.05'])).toBe('0.25');
    expect(sumOf([])).toBe('0');
    expect(fromUnits(toUnits('-12.000000000001'))).toBe('-12.000000000001');
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
