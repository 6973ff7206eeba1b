import { describe, expect, test } from '@jest/globals';
import { linesOfBedrock, linesOfGateway } from '../../../../infra/tools/cost/alternatives.ts';
import { breakEven } from '../../../../infra/tools/cost/break-even.ts';
import { estimate } from '../../../../infra/tools/cost/estimate.ts';
import { costNanos, totalNanos } from '../../../../infra/tools/cost/line.ts';
import { linesOfMonth, linesOfUsage } from '../../../../infra/tools/cost/month.ts';
import type { PriceId } from '../../../../infra/tools/cost/prices.ts';
import type { Resources } from '../../../../infra/tools/cost/resources.ts';
import { SCENARIOS, type Usage } from '../../../../infra/tools/cost/usage.ts';
import { EVERY_RESOURCE, NO_RESOURCES } from './resources-fixture.ts';

// A million requests spread over the month are more than one in each of its 43,800 minutes.
const USAGE: Usage = { ...SCENARIOS.idle, requests: 1_000_000n, promptTokens: 1_000n, completionTokens: 1_000n, milliseconds: 950n };

const costOf = (price: PriceId, usage: Usage, resources: Resources = NO_RESOURCES): bigint =>
  linesOfUsage(resources, usage)
    .filter((line) => line.price === price)
    .reduce((sum, line) => sum + costNanos(line), 0n);

describe('a million requests', () => {
  // Each computed by hand: the units times the published price.
  test.each<[string, PriceId, Partial<Usage>, bigint]>([
    ['are a million requests of API Gateway', 'apiGatewayRequest', {}, 3_500_000_000n],
    ['of more than 10 MB each count twice', 'apiGatewayRequest', { isStreamed: true, completionTokens: 60_000n }, 7_000_000_000n],
    ['run for a second of 256 MB each, besides rollups and alerts', 'lambdaRequest', {}, 200_000_000n + 2n * 8_760_000n],
    ['write three units each, one row, and 14 rows of totals a minute', 'dynamoWrite', {}, 1_875_000_000n + 625_000_000n + 383_250_000n],
    ['with money write five units each', 'dynamoWrite', { isPrepaid: true }, 3_125_000_000n + 625_000_000n + 383_250_000n],
    ['of ten keys write totals for each of them', 'dynamoWrite', { keys: 10n }, 1_875_000_000n + 625_000_000n + 3_832_500_000n],
    ['read 18.5 units a minute and 0.62 for each further request', 'dynamoRead', {}, 101_287_500n + 74_105_500n],
    ['send a task a minute in three requests', 'sqsFifo', {}, 65_700_000n],
    ['are traced by one in twenty, like the other invocations', 'trace', {}, 250_000_000n + 21_900_000n],
    ['of 20,000 users of the control plane', 'cognitoUser', { users: 20_000n }, 300_000_000_000n],
    ['on an instance for a day', 'sagemakerHour', { instanceHours: 24n }, 33_792_000_000n],
    ['with a payload log are as many objects', 's3Put', { hasPayloadLog: true }, 5_000_000_000n],
  ])('%s', (_, price, more, nanos) => {
    expect(costOf(price, { ...USAGE, ...more })).toBe(nanos);
  });

  test('send 6.05 GB, in replies of 6,500 bytes, and 202 GB if these are streamed', () => {
    expect(Number(costOf('dataTransferOut', USAGE)) / 1e9).toBeCloseTo((6_500_000_000 / 2 ** 30) * 0.09, 8);
    expect(Number(costOf('dataTransferOut', { ...USAGE, isStreamed: true })) / 1e9).toBeCloseTo((216_500_000_000 / 2 ** 30) * 0.09, 8);
  });

  test('need memory for their time: 250,000 GB-seconds, and those of rollups and alerts', () => {
    const [inference, rollup, billing] = linesOfUsage(NO_RESOURCES, USAGE)
      .filter(({ price }) => price === 'lambdaGbSecond')
      .map(costNanos);
    expect(inference).toBe(3_333_350_000n);
    // 43,800 batches of 500 ms and a million events of 1 ms, in 1,769 MB: 39,560.64453125 GB-seconds.
    expect(rollup).toBe(527_477_898n);
    // 43,800 tasks of 200 ms: 15,133.2421875 GB-seconds.
    expect(billing).toBe(201_777_571n);
  });

  test('log their lines, which are stored for as long as the templates say', () => {
    const gigabytes = (1_000_000 * 2_100 + 2 * 43_800 * 800) / 2 ** 30;
    expect(Number(costOf('logIngestion', USAGE)) / 1e9).toBeCloseTo(gigabytes * 0.5, 8);
    expect(Number(costOf('logStorage', USAGE)) / 1e9).toBeCloseTo(((gigabytes * 720) / 730) * 0.03, 8);
  });
});

test('a deployment is looked at once a minute, in 512 MB for a second', () => {
  const usage = { ...SCENARIOS.idle, deployments: 2n };
  expect(costOf('lambdaRequest', usage)).toBe(17_520_000n);
  // 43,800 GB-seconds.
  expect(costOf('lambdaGbSecond', usage)).toBe(584_002_920n);
  expect(costOf('sqsStandard', usage)).toBe(105_120_000n);
});

test('few requests write totals for each of them', () => {
  expect(costOf('dynamoWrite', { ...USAGE, requests: 10n })).toBe(18_750n + 6_250n + 87_500n);
});

test('options are billed by request only if the templates have them', () => {
  const prices = (resources: Resources): Set<string> => new Set(linesOfUsage(resources, USAGE).map(({ price }) => price));
  for (const price of ['firewallRequest', 'cloudFrontRequest', 'cloudFrontOut', 'kmsRequest', 'customMetric'] as const) {
    expect(prices(EVERY_RESOURCE)).toContain(price);
    expect(prices(NO_RESOURCES)).not.toContain(price);
  }
  expect(prices(EVERY_RESOURCE)).not.toContain('dataTransferOut');
});

test('a month without requests costs only what is billed at rest', () => {
  expect(linesOfUsage(EVERY_RESOURCE, SCENARIOS.idle)).toEqual([]);
});

test('a function that the templates lack is an error', () => {
  expect(() => linesOfUsage({ ...NO_RESOURCES, memoryMb: {} }, USAGE)).toThrow("The templates have no function 'inference'.");
});

describe('the alternatives', () => {
  test('cost what is computed by hand', () => {
    const hours = 730n;
    const gateway =
      2n * hours * 32_380_000n + // vCPUs
      4n * hours * 3_560_000n + // GB
      hours * 22_500_000n + // load balancer
      hours * 130_000_000n + // database
      20n * 230_000_000n + // its storage
      2n * hours * 32_000_000n; // cache
    expect(totalNanos(linesOfGateway(SCENARIOS.idle))).toBe(gateway);
    expect(totalNanos(linesOfBedrock(USAGE))).toBe(440_000_000_000n);
  });

  test('are each cheaper on their side of the break-even', () => {
    const usage = SCENARIOS['short chats'];
    const { gateway = 0n, bedrock = 0n } = breakEven(EVERY_RESOURCE, usage);
    const ours = (requests: bigint, instanceHours = 0n): bigint =>
      totalNanos(linesOfMonth(EVERY_RESOURCE, { ...usage, requests, instanceHours }));
    const isGatewayCheaper = (requests: bigint): boolean => totalNanos(linesOfGateway({ ...usage, requests })) < ours(requests);
    const isBedrockDearer = (requests: bigint): boolean => totalNanos(linesOfBedrock({ ...usage, requests })) > ours(requests, 730n);
    expect([gateway - 1n, gateway].map(isGatewayCheaper)).toEqual([false, true]);
    expect([bedrock - 1n, bedrock].map(isBedrockDearer)).toEqual([false, true]);
  });

  test('have no break-even if Sluice always costs more', () => {
    const usage = { ...SCENARIOS['short chats'], promptTokens: 0n, completionTokens: 1n };
    expect(breakEven(NO_RESOURCES, usage).bedrock).toBeUndefined();
  });
});

test('each month of an estimate is the sum of its services, to the nano-dollar', () => {
  for (const { total, services } of estimate(EVERY_RESOURCE, SCENARIOS).months)
    expect(total).toBe([...services.values()].reduce((sum, amount) => sum + amount, 0n));
});
