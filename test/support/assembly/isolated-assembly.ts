import path from 'node:path';
import { keptAssembly, keptFolderOf } from '../../../infra/assembly/kept-assembly.ts';
import { readContext, synthesize } from '../../../infra/assembly/synthesize.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { isolatedEnvironment } from './isolated-environment.ts';
import { askForSynthesis } from './synthesizer/synthesizer.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
// Apart from those of `npm start`, which may have been synthesized with a network.
const KEPT_FOLDER = path.join(ROOT, '.sluice/test-assemblies');

/** Where the tests keep the app's assembly with its settings of cdk.json. */
export const testAssemblyFolder = (): string => keptFolderOf(ROOT, { keptIn: KEPT_FOLDER });

/** Synthesizes the app's assembly with its settings of cdk.json, in a process of its own. */
export const keepTestAssembly = async (): Promise<void> => {
  await using home = temporaryFolder();
  const environment = isolatedEnvironment(home.path);
  await keptAssembly(ROOT, {
    keptIn: KEPT_FOLDER,
    synthesize: (folder, settings) => synthesize(ROOT, folder, { ...settings, environment }),
  });
};

/**
 * Returns a folder with the app's assembly, which must not be changed. Its synthesis needs no network, no credentials
 * and no configuration of AWS, so it has none.
 * @param context besides that of cdk.json, which it overrides
 */
export const isolatedAssembly = (context: Readonly<Record<string, unknown>> = {}): Promise<string> => {
  const { SLUICE_TEST_SYNTHESIZER: socket } = process.env;
  if (!socket) throw new Error('Nothing says who synthesizes: test/support/jest/set-up.mjs has not run.');
  return keptAssembly(ROOT, {
    context,
    keptIn: KEPT_FOLDER,
    synthesize: async (outputFolder, { context: more, bundles }) =>
      askForSynthesis(socket, { outputFolder, context: { ...(await readContext(ROOT)), ...more }, bundles }),
  });
};
