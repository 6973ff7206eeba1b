import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sized } from '../support/sized.ts';
import { startUpgradeRun, type UpgradeRun, upgradeUnderLoad } from './upgrade-run.ts';

// Of each phase. More find rarer faults: SLUICE_UPGRADE_REQUESTS=2000.
const REQUESTS = Number(process.env.SLUICE_UPGRADE_REQUESTS ?? sized(25, 50));

describe('the last release and this version over one state', () => {
  let run: UpgradeRun;
  beforeAll(async () => {
    run = await startUpgradeRun();
  });
  afterAll(async () => {
    await run[Symbol.asyncDispose]();
  });

  test('fail no request during an upgrade under load, and keep counters and totals equal to the events', async () => {
    const { requests, faults } = await upgradeUnderLoad(run, REQUESTS);
    expect(faults).toEqual([]);
    expect(requests).toBeGreaterThanOrEqual(2 * REQUESTS);
    const served = { own: expect.any(Number), other: expect.any(Number) };
    const invocations = await run.invocations();
    for (const name of ['inference', 'catalog', 'rollup']) {
      expect(invocations).toMatchObject({ [name]: served });
      expect(Math.min(...Object.values(invocations[name] ?? {}))).toBeGreaterThan(0);
    }
  }, 600_000);
});

test('finds the fault of a release that names a limiter’s spending in another way', async () => {
  await using run = await startUpgradeRun((script) => script.replaceAll(/\bspent\b/g, 'expended'));
  const { faults } = await upgradeUnderLoad(run, 20);
  expect(faults.join()).toMatch(/has spent \d+, but its events cost \d+/);
});
