import path from 'node:path';
import { keptAssembly, keptFolderOf } from '../../infra/local/assembly/kept-assembly.ts';
import { temporaryFolder } from './temporary-folder.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** Apart from those of `npm start`, which may have been synthesized with a network. */
const KEPT_FOLDER = path.join(ROOT, '.sluice/test-assemblies');

/** An environment without credentials, whose programs end when they open a connection. @param home an empty folder */
export const isolatedEnvironment = (home: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: home,
  NODE_OPTIONS: `--import=${path.join(import.meta.dirname, 'deny-network.mjs')}`,
});

/** Where the tests keep the app's assembly with its settings of cdk.json. */
export const testAssemblyFolder = (): string => keptFolderOf(ROOT, { keptIn: KEPT_FOLDER });

/**
 * Returns a folder with the app's assembly, which must not be changed. Its synthesis needs no network, no credentials and no configuration of AWS, so it
 * has none.
 * @param context besides that of cdk.json, which it overrides
 */
export const isolatedAssembly = async (context: Readonly<Record<string, unknown>> = {}): Promise<string> => {
  await using home = temporaryFolder();
  return keptAssembly(ROOT, { context, keptIn: KEPT_FOLDER, environment: isolatedEnvironment(home.path) });
};
