import path from 'node:path';
import { isKept, keptAssembly, keptFolderOf } from '../assembly/kept-assembly.ts';
import { banner } from './banner.ts';
import { type Demo, readDemo, writeDemo } from './demo-file.ts';
import { explain } from './explain.ts';
import { foreignModelName } from './foreign-container.ts';
import { type LocalFacts, writeFacts } from './local-facts.ts';
import type { Flags } from './options.ts';
import type { Progress } from './progress.ts';
import { type LocalRun, startLocal } from './run.ts';
import { seedDemo } from './seed.ts';

const PROJECT_ROOT = path.join(import.meta.dirname, '../..');

interface Serving {
  flags: Flags;
  stateDir: string;
  stopping: Promise<void>;
  progress: Progress;
}

/** Starts the local run, prints how to use it when it is ready, and closes it when `stopping` resolves. */
export const serve = async ({ flags, stateDir, stopping, progress }: Serving): Promise<void> => {
  const assemblyDir = flags.assembly ?? (await assemble(progress));
  let publish = (): void => undefined;
  const run = await startLocal({
    assemblyDir,
    stateDir,
    ephemeral: flags.ephemeral,
    port: flags.port,
    environments: flags.environments,
    stopOnDisconnect: flags['stop-on-disconnect'],
    containerUrl: flags.container,
    tokenDelayMs: flags['token-delay-ms'],
    batchWindowMs: flags['batch-window-ms'],
    queueDelayMs: flags['queue-delay-ms'],
    scheduleMs: flags['schedule-ms'],
    lateFunctions: flags['late-functions'],
    hasStreams: !flags['no-streams'],
    checkPermissions: flags['check-permissions'],
    secondReleaseDir: flags['second-release'],
    quiet: flags.quiet,
    progress,
    onChange: () => publish(),
  });
  try {
    const containerModel = flags.container && (await foreignModelName(flags.container));
    const previous = flags.ephemeral ? undefined : await readDemo(stateDir);
    const demo = await progress.during('Creating models, API keys and an admin', () => seedDemo(run, previous, containerModel));
    if (!flags.ephemeral) await writeDemo(stateDir, demo);
    publish = createPublisher(stateDir, () => toFacts(run, demo));
    // Written before the announcement, because scripts wait for that and then read the file.
    await writeFacts(stateDir, toFacts(run, demo));
    console.log(banner(run, demo, flags.container));
    await stopping;
  } finally {
    publish = () => undefined;
    await run.close();
  }
};

// The app is synthesized only if it has changed.
const assemble = (progress: Progress): Promise<string> => {
  const keep = (): Promise<string> => keptAssembly(PROJECT_ROOT);
  return isKept(keptFolderOf(PROJECT_ROOT)) ? keep() : progress.during('Synthesizing the app', keep);
};

// Calls during a write are merged into one more write.
const createPublisher = (stateDir: string, facts: () => LocalFacts): (() => void) => {
  let writing = false;
  let changed = false;
  const write = async (): Promise<void> => {
    changed = true;
    if (writing) return;
    writing = true;
    while (changed) {
      changed = false;
      await writeFacts(stateDir, facts()).catch((error: unknown) => console.error(`Could not update local.json: ${explain(error)}`));
    }
    writing = false;
  };
  return () => void write();
};

const toFacts = (run: LocalRun, demo: Demo): LocalFacts => ({
  base_url: run.hosts.serverless,
  ondemand_url: run.hosts.ondemand,
  control_url: run.hosts.control,
  ...demo,
  dynamodb_endpoint: run.dynamodbEndpoint,
  sagemaker_url: run.sagemakerUrl,
  container_url: run.containerUrl,
  s3_endpoint: run.s3Endpoint,
  lambda_endpoint: run.lambdaEndpoint,
  sqs_endpoint: run.sqsEndpoint,
  panel_url: run.panelUrl,
  cognito_endpoint: run.cognitoUrl,
  user_pools: Object.fromEntries(Object.entries(run.userPools).map(([name, { id, clientId }]) => [name, { id, client_id: clientId }])),
  tables: { ...run.tables },
  buckets: { ...run.buckets },
  pids: run.pids(),
});
