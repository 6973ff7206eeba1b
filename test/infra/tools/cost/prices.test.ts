import { describe, expect, test } from '@jest/globals';
import { linesOfBedrock, linesOfGateway } from '../../../../infra/tools/cost/alternatives.ts';
import { linesOnce } from '../../../../infra/tools/cost/at-rest.ts';
import { linesOfMonth } from '../../../../infra/tools/cost/month.ts';
import { ALLOWANCES, PRICES, type PriceId, priceOf } from '../../../../infra/tools/cost/prices.ts';
import { SCENARIOS } from '../../../../infra/tools/cost/usage.ts';
import { nanosOf } from '../../../../shared/prices/dollars.ts';
import { EVERY_RESOURCE, NO_RESOURCES } from './resources-fixture.ts';

const ids = Object.keys(PRICES) as PriceId[];
const DATE = /^20\d\d-\d\d-\d\d$/;
const OF_AWS = /^https:\/\/aws\.amazon\.com\/[\w/-]+\/$/;

describe.each(ids)('the price %s', (id) => {
  const price = priceOf(id);

  test('is a positive number of dollars for a positive number of named units', () => {
    expect(nanosOf(price.usd)).toBeGreaterThan(0n);
    expect(price.per).toBeGreaterThan(0);
    expect(price.unit).toMatch(/\w{2}/);
    expect(price.service).toMatch(/\w{2}/);
  });

  test("has a date, AWS's page and, if it is verified, where it was read", () => {
    expect(price.date).toMatch(DATE);
    expect(Date.parse(price.date)).not.toBeNaN();
    expect(price.source).toMatch(OF_AWS);
    if (price.status === 'verified') expect(price.readAt).toMatch(/^https:\/\//);
    else expect(price.readAt).toBeUndefined();
  });
});

test('each allowance has units, a date and a source, and is of some price', () => {
  for (const [name, { units, date, source }] of Object.entries(ALLOWANCES)) {
    expect(units).toBeGreaterThan(0);
    expect(date).toMatch(DATE);
    expect(source).toMatch(OF_AWS);
    expect(ids.map((id) => priceOf(id).allowance)).toContain(name);
  }
});

test('each price is used', () => {
  const usage = {
    ...SCENARIOS['long streams'],
    // Longer than what Lambda and API Gateway stream without another charge.
    completionTokens: 100_000n,
    storedGb: 1n,
    users: 1n,
    hasPayloadLog: true,
    instanceHours: 1n,
  };
  const lines = [
    ...linesOfMonth(EVERY_RESOURCE, usage),
    ...linesOfMonth(NO_RESOURCES, usage),
    ...linesOnce(EVERY_RESOURCE),
    ...linesOfGateway(usage),
    ...linesOfBedrock(usage),
  ];
  const used = new Set<string>(lines.map(({ price }) => price));
  expect(ids.filter((id) => !used.has(id))).toEqual([]);
});
