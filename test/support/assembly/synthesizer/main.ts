import { App } from 'aws-cdk-lib';
import { VALIDATION } from '../../../../infra/assembly/synthesize.ts';
import { KEPT_BUNDLES } from '../../../../infra/bundling/keep-bundle.ts';
import { addStacks } from '../../../../infra/stacks/all-stacks.ts';
import type { Synthesis } from './synthesis.ts';

// Synthesizes one assembly after the other for the process that forked it, because each further one in the same process
// takes a fraction of the first.

// Returns the error output if the app rejects its settings or breaks a rule of cdk-nag.
const synthesize = ({ outputFolder, context, bundles, isValidated }: Synthesis): string | null => {
  const { write } = process.stderr;
  let errors = '';
  process.stderr.write = ((text: string | Uint8Array) => {
    errors += String(text);
    return true;
  }) as typeof write;
  try {
    process.env.CDK_CONTEXT_JSON = JSON.stringify(context);
    if (bundles !== undefined) process.env[KEPT_BUNDLES] = bundles;
    process.env[VALIDATION] = String(isValidated);
    // Nothing reads the tree of constructs.
    const app = new App({ outdir: outputFolder, autoSynth: false, treeMetadata: false });
    addStacks(app);
    app.synth();
    return process.exitCode === undefined ? null : errors;
  } catch (error) {
    return `${errors}${error instanceof Error ? error.stack : error}`;
  } finally {
    process.stderr.write = write;
    process.exitCode = undefined;
  }
};

process.on('message', (wanted: Synthesis) => process.send?.({ number: wanted.number, errors: synthesize(wanted) }));
process.once('disconnect', () => process.exit());
