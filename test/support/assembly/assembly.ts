import { execFileSync } from 'node:child_process';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { interpret } from '../../../infra/assembly/interpret.ts';
import { isKept } from '../../../infra/assembly/kept-assembly.ts';
import { readAssembly } from '../../../infra/assembly/read-assembly.ts';
import { isolatedAssembly } from './isolated-assembly.ts';

const KEEP = path.join(import.meta.dirname, 'keep-assembly.ts');

/**
 * The folder of the app's cloud assembly. The first suite that asks for it after a change of the app waits for its
 * synthesis.
 */
export const assemblyDir = (): string => {
  const { SLUICE_TEST_ASSEMBLY: folder } = process.env;
  if (!folder) throw new Error('Nothing says where the cloud assembly is kept: test/support/jest/set-up.mjs has not run.');
  // Suites ask for it where nothing can wait for a promise: to name their tests.
  if (!isKept(folder)) execFileSync(process.execPath, [KEEP], { stdio: ['ignore', 'ignore', 'pipe'] });
  return folder;
};

/** The name of one of the app's buckets. @param id its logical id */
export const bucketName = async (id: string): Promise<string> => {
  const bucket = interpret(await readAssembly(assemblyDir())).buckets.find(({ logicalId }) => logicalId === id);
  if (!bucket) throw new Error(`The app has no bucket ${id}.`);
  return bucket.name;
};

/**
 * Synthesizes the app with these settings of a deployer.
 * @param folder where the assembly is written
 * @param context further context, such as feature flags
 * @throws Error with the app's error output if it rejects the settings, or if they break a rule of cdk-nag
 */
export const synthesizeWith = async (settings: object, folder: string, context: object = {}): Promise<void> => {
  await cp(await isolatedAssembly({ sluice: settings, ...context }), folder, { recursive: true });
};
