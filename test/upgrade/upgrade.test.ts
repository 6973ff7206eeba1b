import { afterAll, expect, test } from '@jest/globals';
import { upgrade } from './run.ts';
import { upgradeUnderLoad } from './upgrade-run.ts';
import './later-attributes.ts';
import './under-load.ts';
import './across-releases.ts';

afterAll(upgrade.close);

test('finds the fault of a release that names a limiter’s spending in another way', async () => {
  const { run } = await upgrade.start();
  await using _ = await run.changeRelease('inference', (script) => script.replaceAll(/\bspent\b/g, 'expended'));
  const { faults } = await upgradeUnderLoad(run, 20);
  expect(faults.join()).toMatch(/has spent \d+, but its events cost \d+/);
});
