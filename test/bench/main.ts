import { cpus } from 'node:os';
import path from 'node:path';
import { keptAssembly } from '../../infra/assembly/kept-assembly.ts';
import { residentMiB } from '../support/resident-memory.ts';
import { measureChunks } from './chunks.ts';
import { measureColdStarts } from './cold-start.ts';
import { measureDatabase } from './database.ts';
import { measureFirstToken } from './first-token.ts';
import { measureInFlight } from './in-flight.ts';
import { applyLoad } from './load.ts';
import { measureLongStream } from './long-stream.ts';
import { measureSizes } from './memory/measure.ts';
import { toMemoryReport } from './memory/report.ts';
import { measureMessages } from './messages.ts';
import { type Options, type Phase, readOptions } from './options.ts';
import { measureParts } from './parts.ts';
import { shortBody } from './prompts.ts';
import { measureRate } from './rate/measure.ts';
import { type Findings, toReport } from './report.ts';
import { measureRequests } from './requests.ts';
import { measureRoutes } from './routes.ts';
import { type Stack, startStack } from './stack.ts';
import { measureTokenizer } from './tokenizer.ts';

const PROJECT_ROOT = path.join(import.meta.dirname, '../..');
const WARM_UP_CONCURRENCY = 16;
const WARM_UP_MS = { direct: 1_000, proxy: 2_000, sluice: 8_000 } as const;
// The bench and all processes that it started end after this time at the latest.
const MAX_MS = 540_000;

const main = async (): Promise<void> => {
  const options = readOptions();
  // The started processes end with this one, however it ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  setTimeout(() => {
    console.error(`The bench took longer than ${MAX_MS / 1_000} s.`);
    process.exit(1);
  }, MAX_MS).unref();
  const startedAt = performance.now();
  const assemblyDir = await keptAssembly(PROJECT_ROOT, { context: { sluice: { requestClient: options.requestClient } } });
  process.env.SLUICE_TEST_ASSEMBLY = assemblyDir;
  const stack = await startStack();
  try {
    if (options.memoryMbs) {
      console.log(`\n${toMemoryReport(await measureSizes(stack, assemblyDir, options.memoryMbs))}`);
      return;
    }
    const findings = await measure(stack, options, assemblyDir);
    console.log(`\n${introduction(options)}\n\n${toReport(findings)}`);
  } finally {
    await stack.close();
  }
  progress(`done in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
};

const measure = async (stack: Stack, options: Options, assemblyDir: string): Promise<Findings[]> => {
  const { phases, secondsPerPhase } = options;
  const findings: Findings[] = [];
  const phase = async (name: Phase, find: () => Promise<Findings>): Promise<void> => {
    if (!phases.has(name)) return;
    progress(name);
    findings.push(await find());
  };
  progress('warm-up');
  for (const name of ['direct', 'proxy', 'sluice'] as const)
    await applyLoad(stack.servers[name], shortBody(false), WARM_UP_CONCURRENCY, { ms: WARM_UP_MS[name] });
  await phase('requests', () => measureRequests(stack, secondsPerPhase));
  await phase('messages', () => measureMessages(stack, secondsPerPhase));
  await phase('first-token', () => measureFirstToken(stack, secondsPerPhase));
  await phase('chunks', () => measureChunks(stack, secondsPerPhase));
  findings.push(memory(stack));
  // After the memory, which is that of chats.
  await phase('requests', () => measureRoutes(stack, secondsPerPhase));
  await phase('parts', () => measureParts(stack, secondsPerPhase));
  await phase('long-stream', () => measureLongStream(stack));
  await phase('tokenizer', () => measureTokenizer(stack, assemblyDir));
  await phase('cold-start', () => measureColdStarts(stack, assemblyDir));
  await phase('rate', () => measureRate(stack, options));
  await phase('database', () => measureDatabase(stack));
  await phase('in-flight', () => measureInFlight(stack.run));
  return findings;
};

const memory = ({ pids }: Stack): Findings => {
  const inference = residentMiB(pids.inference);
  const proxy = residentMiB(pids.proxy);
  return {
    rows: [
      { figure: 'gateway RSS MiB, after the load', digits: 0, proxy: proxy.now, sluice: inference.now, target: 150 },
      { figure: 'gateway RSS MiB, highest', digits: 0, proxy: proxy.peak, sluice: inference.peak },
    ],
    notes: [],
  };
};

const introduction = ({ secondsPerPhase, requestClient }: Options): string =>
  `Node ${process.version} on ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${secondsPerPhase} s a phase, requestClient ${requestClient}. Everything shares these cores: ` +
  'the load client (in this process), the gateway and SageMaker emulators, the database, the container. ' +
  '`direct` is the container itself, `proxy` a raw Node pass-through before it, `sluice` the local run; gateway = the proxy process, or the `inference` function process.';

const progress = (text: string): void => console.error(`bench: ${text}`);

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(error);
  process.exit(1);
}
