import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { interpret } from '../../infra/local/assembly/interpret.ts';
import { readAssembly } from '../../infra/local/assembly/read-assembly.ts';
import { synthesize } from '../../infra/local/assembly/synthesize.ts';
import { temporaryFolder } from './temporary-folder.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** An environment without credentials, whose programs end when they open a connection. @param home an empty folder */
export const isolatedEnvironment = (home: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: home,
  NODE_OPTIONS: `--import=${path.join(import.meta.dirname, 'deny-network.mjs')}`,
});

/** The folder of the cloud assembly that was made before all tests. */
export const assemblyDir = (): string => {
  const folder = process.env.SLUICE_TEST_ASSEMBLY;
  if (!folder) throw new Error('There is no cloud assembly: test/support/synthesize.mjs has not run.');
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
 * It must need no network, no credentials and no configuration of AWS, so it has none.
 * @param context further context, such as feature flags
 * @throws Error with the app's error output if it rejects the settings, or if they break a rule of cdk-nag
 */
export const synthesizeWith = async (settings: object, folder: string, context: object = {}): Promise<void> => {
  await using project = temporaryFolder();
  const cdkJson = JSON.parse(readFileSync(path.join(ROOT, 'cdk.json'), 'utf8'));
  const app = `node ${path.join(ROOT, 'infra/app.ts')}`;
  const own = { app, context: { ...cdkJson.context, ...context, sluice: settings } };
  writeFileSync(path.join(project.path, 'cdk.json'), JSON.stringify(own));
  await synthesize(project.path, folder, { environment: isolatedEnvironment(project.path) });
};
