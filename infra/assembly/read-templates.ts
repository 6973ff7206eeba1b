import path from 'node:path';
import { keptAssembly } from './kept-assembly.ts';
import { readAssembly, type Stack } from './read-assembly.ts';
import { synthesize, VALIDATION } from './synthesize.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/**
 * The app's stacks. No code is bundled and nothing is validated, so this takes some seconds, the first time.
 * @param settings the deployer's, before validation; undefined: those of cdk.json
 * @throws Error with the app's error output if it rejects them
 */
export const readTemplates = async (settings?: unknown): Promise<Stack[]> => {
  const context = { 'aws:cdk:bundling-stacks': [], ...(settings !== undefined && { sluice: settings }) };
  const environment = { ...process.env, [VALIDATION]: 'false' };
  const make = (folder: string, of: object): Promise<void> => synthesize(ROOT, folder, { ...of, environment });
  return readAssembly(await keptAssembly(ROOT, { context, synthesize: make }));
};
