import { expect, test } from '@jest/globals';
import { sized } from '../support/sized.ts';
import { upgrade } from './run.ts';
import { upgradeUnderLoad } from './upgrade-run.ts';

// Requests of each phase. More find rarer faults: SLUICE_UPGRADE_REQUESTS=2000.
const REQUESTS = Number(process.env.SLUICE_UPGRADE_REQUESTS ?? sized(25, 50));

test('no request fails during an upgrade under load, and counters and totals equal the events', async () => {
  const { run } = await upgrade.start();
  const before = await run.invocations();
  const { requests, faults } = await upgradeUnderLoad(run, REQUESTS);
  expect(faults).toEqual([]);
  expect(requests).toBeGreaterThanOrEqual(2 * REQUESTS);
  const after = await run.invocations();
  const newOf = (name: string, release: 'own' | 'other'): number => (after[name]?.[release] ?? 0) - (before[name]?.[release] ?? 0);
  for (const name of ['inference', 'catalog', 'rollup'])
    for (const release of ['own', 'other'] as const)
      expect({ name, release, invocations: newOf(name, release) }).not.toEqual({ name, release, invocations: 0 });
}, 600_000);
