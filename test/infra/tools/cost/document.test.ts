import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import { readAssembly } from '../../../../infra/assembly/read-assembly.ts';
import { type Resources, readResources } from '../../../../infra/tools/cost/resources.ts';
import { assemblyDir, synthesizeWith } from '../../../support/assembly/assembly.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { CAPACITY_PAGE, COST_PAGE, capacityTables, costTables, EVERY_OPTION, withTables } from './document.ts';

let plain: Resources;
let withOptions: Resources;
beforeAll(async () => {
  plain = readResources(await readAssembly(assemblyDir()));
  await using output = temporaryFolder();
  await synthesizeWith(EVERY_OPTION, output.path, { 'aws:cdk:bundling-stacks': [] });
  withOptions = readResources(await readAssembly(output.path));
});

test.each([
  ['docs/cost.md', COST_PAGE, () => costTables(plain, withOptions)],
  ['docs/capacity.md', CAPACITY_PAGE, () => capacityTables(plain)],
])("%s has the model's numbers", (_, file, tables) => {
  const page = readFileSync(file, 'utf8');
  const written = withTables(page, tables());
  if (process.env.WRITE_COST) writeFileSync(file, written);
  expect(readFileSync(file, 'utf8')).toBe(written);
});

test('each option that is billed at rest or once is in the templates that have it, and in no others', () => {
  expect(plain).toMatchObject({ keys: 0, firewalls: 0, firewallRules: 0, secrets: 0, distributions: 0, provisioned: [] });
  expect(plain.alarmMetrics.ofReleases).toBe(0);
  expect(plain.warmUnits).toEqual({ writes: 0, reads: 0 });
  expect(withOptions.warmUnits).toEqual({ writes: 10_000, reads: 0 });
  expect(withOptions).toMatchObject({ keys: 1, firewalls: 3, secrets: 1, distributions: 1 });
  expect(withOptions.provisioned).toEqual([{ memoryMb: plain.memoryMb.inference, executions: 1 }]);
  expect(withOptions.alarmMetrics.ofReleases).toBeGreaterThan(0);
  expect(withOptions.alarmMetrics.ofOperations).toBe(plain.alarmMetrics.ofOperations);
});
