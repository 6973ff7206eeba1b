import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { synthesize } from '../../infra/local/assembly/synthesize.ts';

/** Before all tests: one cloud assembly, which every test that needs the app's tables, functions or hosts reads. */
export default async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-assembly-'));
  await synthesize(path.join(import.meta.dirname, '../..'), folder);
  process.env.SLUICE_TEST_ASSEMBLY = folder;
};
