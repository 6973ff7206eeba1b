import { writeFileSync } from 'node:fs';
import { type Container, createAsk } from './ask.ts';
import { toDocument, toTables } from './document.ts';
import { measure } from './measure.ts';
import { type Flags, readFlags, USAGE, UsageError } from './options.ts';
import { OWN_MODELS, startOwnContainer } from './own-container.ts';
import { ContainerGone } from './post.ts';
import { type Findings, hasFailed, toTerminal } from './report.ts';

const FAILED = 2;

const main = async (parameters: readonly string[]): Promise<number> => {
  const flags = readFlags(parameters);
  if (flags.help) {
    console.log(USAGE);
    return 0;
  }
  const isOwn = flags.container === undefined;
  const findings = isOwn ? await measureOwn(flags) : [await measureOne(foreign(flags))];
  console.log(toTerminal(findings));
  if (flags.markdown !== undefined) writeFileSync(flags.markdown, isOwn ? toDocument(findings) : toTables(findings));
  return findings.some(hasFailed) ? FAILED : 0;
};

const foreign = ({ container: url = '', path, model = '', dialect, 'timeout-ms': timeoutMs }: Flags): Container => ({
  url,
  path,
  dialect,
  models: { plain: model, thinking: model },
  timeoutMs,
});

const measureOwn = async ({ 'timeout-ms': timeoutMs }: Flags): Promise<Findings[]> => {
  const own = await startOwnContainer();
  try {
    const container = { url: own.url, models: OWN_MODELS, timeoutMs };
    return [await measureOne({ ...container, dialect: 'vllm' }), await measureOne({ ...container, dialect: 'sluice' })];
  } finally {
    await own.close();
  }
};

const measureOne = async (container: Container): Promise<Findings> => {
  const verdicts = await measure(createAsk(container), container.dialect, progress);
  progress('');
  return { dialect: container.dialect, verdicts };
};

// One line that is overwritten; nothing without a terminal.
const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
};

/** Runs a command line. @returns the exit code */
export const conformance = async (parameters: readonly string[]): Promise<number> => {
  try {
    return await main(parameters);
  } catch (error) {
    progress('');
    console.error(error instanceof ContainerGone || error instanceof UsageError ? error.message : error);
    return 1;
  }
};

if (import.meta.main) process.exitCode = await conformance(process.argv.slice(2));
