import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { testAssemblyFolder } from '../assembly/isolated-assembly.ts';
import { serveSyntheses } from '../assembly/synthesizer/synthesizer.ts';
import { serveDatabases } from '../emulators/database-server.ts';

// For suite-modules.ts, which forgets the modules of a suite that has ended.
const UNLOADING_FLAG = '--expose-internals';
const WORKER_FLAG = '--max-semi-space-size=32';

/**
 * Runs before all tests: says where the app's cloud assembly is kept, which the first suite that needs it
 * synthesizes, and who synthesizes others and starts databases; makes a folder in which local runs record the
 * permissions that they used, unless the caller named one to keep, and one for the local runs that suites share.
 */
export default async () => {
  process.env.SLUICE_TEST_ASSEMBLY = testAssemblyFolder();
  process.env.SLUICE_TEST_PERMISSIONS = await permissionsFolder();
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-shared-'));
  process.env.SLUICE_TEST_SHARED = folder;
  process.env.SLUICE_TEST_SYNTHESIZER = await serveSyntheses(folder);
  process.env.SLUICE_TEST_DATABASES = await serveDatabases(folder);
  // Jest starts its workers with the flags of this process. They collect garbage a tenth of their time without it.
  process.execArgv.push(WORKER_FLAG, UNLOADING_FLAG);
};

const permissionsFolder = async () => {
  const { RECORD_PERMISSIONS: kept } = process.env;
  if (kept === undefined) return mkdtemp(path.join(tmpdir(), 'sluice-permissions-'));
  await mkdir(kept, { recursive: true });
  return path.resolve(kept);
};
