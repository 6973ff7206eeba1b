import { writeFileSync } from 'node:fs';
import { type Container, createAsk } from './ask.ts';
import { toDocument, toTables } from './document.ts';
import { measure } from './measure.ts';
import { type Flags, readFlags, USAGE, UsageError } from './options.ts';
import { OWN_MODELS, startOwnContainer } from './own-container.ts';
import { ContainerGone } from './post.ts';
import { type Findings, hasFailed, toTerminal } from './report.ts';

const FAILED = 2;

const main = async (): Promise<number> => {
  const flags = readFlags(process.argv.slice(2));
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

try {
  process.exitCode = await main();
} catch (error) {
  progress('');
  console.error(error instanceof ContainerGone || error instanceof UsageError ? error.message : error);
  process.exitCode = 1;
}
