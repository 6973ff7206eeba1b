import { readAssembly, type Stack } from '../../assembly/read-assembly.ts';
import { readTemplates } from '../../assembly/read-templates.ts';
import { estimate } from './estimate.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { toJson, toReport } from './report.ts';
import { readResources } from './resources.ts';

// `npm run cost` estimates a month from the app's templates and its usage, beside a gateway that always runs and
// Bedrock.
const main = async (flags: readonly string[]): Promise<void> => {
  const options = readOptions(flags);
  if (options.isHelp) {
    console.log(USAGE);
    return;
  }
  const numbers = estimate(readResources(await stacksOf(options)), options.usages);
  console.log(options.isJson ? toJson(numbers) : toReport(numbers));
};

const stacksOf = ({ assembly, settings }: Options): Promise<Stack[]> =>
  assembly === undefined ? readTemplates(settings) : readAssembly(assembly);

/** Runs a command line. @returns the exit code */
export const cost = async (flags: readonly string[]): Promise<number> => {
  try {
    await main(flags);
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
};

if (import.meta.main) process.exitCode = await cost(process.argv.slice(2));
