import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readAssembly, type Stack } from '../local/assembly/read-assembly.ts';
import { synthesize } from '../local/assembly/synthesize.ts';
import { estimate } from './estimate.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { toJson, toReport } from './report.ts';
import { readResources } from './resources.ts';

/*
 * `npm run cost`: what a month costs, by what the app's templates contain and how it is used, beside a gateway that always runs and Bedrock.
 */
const ROOT = path.join(import.meta.dirname, '../..');

const main = async (): Promise<void> => {
  const options = readOptions(process.argv.slice(2));
  if (options.isHelp) {
    console.log(USAGE);
    return;
  }
  const numbers = estimate(readResources(await readStacks(options)), options.usages);
  console.log(options.isJson ? toJson(numbers) : toReport(numbers));
};

const readStacks = async ({ assembly, settings }: Options): Promise<Stack[]> => {
  if (assembly !== undefined) return readAssembly(assembly);
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-cost-'));
  try {
    // Without bundles, which are slow and cost nothing.
    const context = { 'aws:cdk:bundling-stacks': [], ...(settings !== undefined && { sluice: settings }) };
    await synthesize(ROOT, folder, { context });
    return await readAssembly(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
