import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { afterAllowances, byService, costNanos, type Line, totalNanos } from '../../../../infra/tools/cost/line.ts';
import { PRICES, type PriceId } from '../../../../infra/tools/cost/prices.ts';
import { gigabyteMonths, gigabyteSeconds, gigabytes, quantity } from '../../../../infra/tools/cost/quantity.ts';

const line = (price: PriceId, amount: Line['quantity']): Line => ({ item: 'test', price, quantity: amount });

describe('the cost of a line', () => {
  // Each computed by hand from the published price.
  test.each<[string, PriceId, Line['quantity'], bigint]>([
    ['three million write units at $0.625 a million', 'dynamoWrite', quantity(3_000_000), 1_875_000_000n],
    ['one request of API Gateway at $3.50 a million', 'apiGatewayRequest', quantity(1), 3_500n],
    ['1,024 MB for 1,000 s at $13.3334 per million GB-seconds', 'lambdaGbSecond', gigabyteSeconds(1_024, 1_000_000n), 13_333_400n],
    ['256 MB for 2 s: half a GB-second', 'lambdaGbSecond', gigabyteSeconds(256, 2_000n), 6_667n],
    ['3 GB of replies at $0.09', 'dataTransferOut', gigabytes(3n * 2n ** 30n), 270_000_000n],
    ['730 GB stored for a day: 24 GB-months at $0.25', 'dynamoStorage', gigabyteMonths(730n * 2n ** 30n, 1), 6_000_000_000n],
    ['8.5 read units at $0.125 a million', 'dynamoRead', quantity(8_500, 1_000), 1_063n],
    ['86 metrics of alarms at $0.10', 'alarmMetric', quantity(86), 8_600_000_000n],
    ['a trace of twenty invocations at $5 a million', 'trace', quantity(50, 1_000), 250n],
  ])('%s', (_, price, amount, nanos) => {
    expect(costNanos(line(price, amount))).toBe(nanos);
  });

  test('is rounded half up, once', () => {
    expect(costNanos(line('dynamoWrite', quantity(1, 1_250)))).toBe(1n);
    expect(costNanos(line('dynamoWrite', quantity(1, 1_251)))).toBe(0n);
  });

  test('costs within half a nano-dollar of the exact amount, for any quantity', () => {
    const prices = fc.constantFrom(...(Object.keys(PRICES) as PriceId[]));
    fc.assert(
      fc.property(prices, fc.bigInt(0n, 10n ** 15n), fc.bigInt(1n, 10n ** 12n), (price, amount, scale) => {
        const { usd, per } = PRICES[price];
        const divisor = scale * BigInt(per);
        const exact = BigInt(Math.round(Number(usd) * 1e9)) * amount;
        const error = costNanos(line(price, quantity(amount, scale))) * divisor - exact;
        expect(2n * (error < 0n ? -error : error)).toBeLessThanOrEqual(divisor);
      }),
    );
  });
});

test('the total is the sum of its lines and of its services, to the nano-dollar', () => {
  const lines = fc.array(
    fc.record({
      item: fc.constant('test'),
      price: fc.constantFrom(...(Object.keys(PRICES) as PriceId[])),
      quantity: fc.record({ amount: fc.bigInt(0n, 10n ** 12n), scale: fc.bigInt(1n, 10n ** 6n) }),
    }),
  );
  fc.assert(
    fc.property(lines, (bill) => {
      const sum = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((total, amount) => total + amount, 0n);
      expect(totalNanos(bill)).toBe(sum(bill.map(costNanos)));
      expect(totalNanos(bill)).toBe(sum(byService(bill).values()));
    }),
  );
});

describe('an allowance', () => {
  const quantities = (bill: Line[]): number[] =>
    afterAllowances(bill).map(({ quantity: { amount, scale } }) => Number(amount) / Number(scale));

  test('is subtracted from the lines in their order, until it is used up', () => {
    expect(quantities([line('alarmMetric', quantity(8)), line('alarmMetric', quantity(8))])).toEqual([0, 6]);
  });

  test('is shared by the prices that have it', () => {
    expect(quantities([line('sqsStandard', quantity(600_000)), line('sqsFifo', quantity(600_000))])).toEqual([0, 200_000]);
  });

  test('is exact for parts of units', () => {
    expect(quantities([line('logIngestion', quantity(1, 3)), line('logStorage', quantity(5))])).toEqual([0, 1 / 3]);
  });

  test('does not change a price without one', () => {
    expect(quantities([line('dynamoWrite', quantity(7))])).toEqual([7]);
  });
});
