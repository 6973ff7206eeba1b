import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readAssembly, type Stack } from './read-assembly.ts';
import { synthesize } from './synthesize.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

/**
 * The app's stacks. No code is bundled, so this takes some seconds.
 * @param settings the deployer's, before validation; undefined: those of cdk.json
 * @throws Error with the app's error output if it rejects them
 */
export const readTemplates = async (settings?: unknown): Promise<Stack[]> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-templates-'));
  try {
    const context = { 'aws:cdk:bundling-stacks': [], ...(settings !== undefined && { sluice: settings }) };
    await synthesize(ROOT, folder, { context });
    return await readAssembly(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
