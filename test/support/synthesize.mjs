import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { synthesize } from '../../infra/local/assembly/synthesize.ts';
import { isolatedEnvironment } from './assembly.ts';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * Runs before all tests: writes one cloud assembly, which tests read for the app's tables, functions and hosts, and makes a folder in which local
 * runs record the permissions that they used, unless the caller named one to keep.
 */
export default async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-assembly-'));
  await using home = temporaryFolder();
  await synthesize(path.join(import.meta.dirname, '../..'), folder, { environment: isolatedEnvironment(home.path) });
  process.env.SLUICE_TEST_ASSEMBLY = folder;
  process.env.SLUICE_TEST_PERMISSIONS = await permissionsFolder();
};

const permissionsFolder = async () => {
  const { RECORD_PERMISSIONS: kept } = process.env;
  if (kept === undefined) return mkdtemp(path.join(tmpdir(), 'sluice-permissions-'));
  await mkdir(kept, { recursive: true });
  return path.resolve(kept);
};
