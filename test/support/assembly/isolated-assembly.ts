import path from 'node:path';
import { keptAssembly, keptFolderOf } from '../../../infra/assembly/kept-assembly.ts';
import { readContext } from '../../../infra/assembly/synthesize.ts';
import { isFull } from '../is-full.ts';
import { askForSynthesis } from './synthesizer/synthesizer.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
// Apart from those of `npm start`, which may have been synthesized with a network.
const VALIDATED = path.join(ROOT, '.sluice/test-assemblies');
const UNVALIDATED = path.join(ROOT, '.sluice/unvalidated-assemblies');

type Context = Readonly<Record<string, unknown>>;

/** Where the tests keep the app's assembly with its settings of cdk.json. */
export const testAssemblyFolder = (): string => keptFolderOf(ROOT, { keptIn: VALIDATED });

/**
 * Returns a folder with the app's assembly, which must not be changed. Its synthesis needs no network, no credentials
 * and no configuration of AWS, so it has none. In full sizes, CloudFormation's rules are checked too.
 * @param context besides that of cdk.json, which it overrides
 */
export const isolatedAssembly = (context: Context = {}): Promise<string> => isolated(context, isFull);

/** The same, and the templates keep CloudFormation's rules. @throws Error that names the rules that they break */
export const validatedAssembly = (context: Context = {}): Promise<string> => isolated(context, true);

const isolated = (context: Context, isValidated: boolean): Promise<string> => {
  const { SLUICE_TEST_SYNTHESIZER: socket } = process.env;
  if (!socket) throw new Error('Nothing says who synthesizes: test/support/jest/set-up.mjs has not run.');
  return keptAssembly(ROOT, {
    context,
    keptIn: isValidated ? VALIDATED : UNVALIDATED,
    synthesize: async (outputFolder, { context: more, bundles }) =>
      askForSynthesis(socket, { outputFolder, context: { ...(await readContext(ROOT)), ...more }, bundles, isValidated }),
  });
};
