import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { synthesize } from '../../infra/assembly/synthesize.ts';
import { everyOption } from '../support/assembly/every-option.ts';
import { LinkedStack, linkedStacks } from '../support/assembly/stack-updates.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The exports that the stacks of the last release have for each other, for clones without tags. */
export const RELEASED_STACKS = path.join(import.meta.dirname, 'last-release-stacks.json');

const ROOT = path.join(import.meta.dirname, '../..');

const ReleasedStacks = z.object({
  version: z.string(),
  deployments: z.array(z.object({ settings: z.record(z.string(), z.unknown()), stacks: z.array(LinkedStack) })),
});

/** The stacks of the last release, without options and with all that it had. */
export const readReleasedStacks = (): z.infer<typeof ReleasedStacks> =>
  ReleasedStacks.parse(JSON.parse(readFileSync(RELEASED_STACKS, 'utf8')));

/** Keeps what the stacks of this version export to each other. */
export const keepReleasedStacks = async (version: string): Promise<void> => {
  const deployments = [];
  for (const settings of [{}, { ...everyOption('prod'), stage: undefined }]) {
    await using folder = temporaryFolder();
    await synthesize(ROOT, folder.path, { context: { sluice: settings, 'aws:cdk:bundling-stacks': [] } });
    deployments.push({ settings, stacks: linkedStacks(folder.path) });
  }
  writeFileSync(RELEASED_STACKS, `${JSON.stringify({ version, deployments }, null, 2)}\n`);
};
