import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startUpgradeRun, type UpgradeRun, upgradeUnderLoad } from './upgrade-run.ts';

/** Of each phase. More find rarer faults: SLUICE_UPGRADE_REQUESTS=2000. */
const REQUESTS = Number(process.env.SLUICE_UPGRADE_REQUESTS ?? 50);

describe('the last release and this version over one state', () => {
  let run: UpgradeRun;
  beforeAll(async () => {
    run = await startUpgradeRun();
  });
  afterAll(async () => {
    await run[Symbol.asyncDispose]();
  });

  test('an upgrade under load fails no request and leaves counters and totals that equal the events', async () => {
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

describe('a last release that stores another shape', () => {
  test.each([
    ['usage events', /\bcost_nanos\b/g, 'price_nanos', /cost_nanos/],
    ['limiters', /\bspent\b/g, 'expended', /has spent \d+, but its events cost \d+/],
  ])('of %s makes the upgrade fail', async (_, attribute, renamed, fault) => {
    await using run = await startUpgradeRun((script) => script.replaceAll(attribute, renamed));
    const { faults } = await upgradeUnderLoad(run, 20);
    expect(faults.join()).toMatch(fault);
  });
});
