import path from 'node:path';
import { inferenceHostRoutes } from '../../shared/hosts/inference-routes.ts';
import { synthesize } from './assembly/synthesize.ts';
import { foreignModelName } from './foreign-container.ts';
import { type LocalFacts, readFacts, writeFacts } from './local-facts.ts';
import { type Flags, readFlags, USAGE } from './options.ts';
import { type LocalRun, startLocal } from './run.ts';
import { type Demo, seedDemo } from './seed.ts';
import { takeStateFolder } from './state-folder.ts';

const PROJECT_ROOT = path.join(import.meta.dirname, '../..');

// On Ctrl-C both the terminal and npm send SIGINT. Two signals within this time count as one.
const SAME_KEY_PRESS_MS = 500;

const main = async (): Promise<void> => {
  const flags = readFlags(process.argv.slice(2));
  if (flags.help) {
    console.log(USAGE);
    return;
  }
  const stopping = stopSignal();
  const stateDir = path.resolve(flags.state);
  const releaseFolder = await takeStateFolder(stateDir);
  let isStopping = false;
  void stopping.then(() => {
    isStopping = true;
  });
  try {
    await serve(flags, stateDir, stopping);
  } catch (error) {
    // Ctrl-C during startup makes it fail, which is not an error.
    if (!isStopping) throw error;
  } finally {
    await releaseFolder();
  }
};

const serve = async (flags: Flags, stateDir: string, stopping: Promise<void>): Promise<void> => {
  const assemblyDir = flags.assembly ?? path.join(stateDir, 'cdk.out');
  if (flags.assembly === undefined) await synthesize(PROJECT_ROOT, assemblyDir);
  const previous = await readFacts(stateDir);
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
    hasStreams: !flags['no-streams'],
    checkPermissions: flags['check-permissions'],
    besideDir: flags.beside,
    quiet: flags.quiet,
    onChange: () => publish(),
  });
  try {
    const containerModel = flags.container && (await foreignModelName(flags.container));
    const demo = await seedDemo(run, flags.ephemeral ? undefined : previous, containerModel);
    publish = createPublisher(stateDir, () => toFacts(run, demo));
    // Written before the announcement, because scripts wait for that and then read the file.
    await writeFacts(stateDir, toFacts(run, demo));
    announce(run, demo);
    await stopping;
  } finally {
    publish = () => undefined;
    await run.close();
  }
};

/** Resolves on SIGINT, SIGTERM or the parent's exit. A second signal exits at once; the watchdog then kills the other processes. */
const stopSignal = (): Promise<void> =>
  new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (): void => {
      if (firstAt !== undefined && performance.now() - firstAt > SAME_KEY_PRESS_MS) process.exit(130);
      firstAt ??= performance.now();
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    process.once('disconnect', resolve);
  });

/** Returns a function that writes the facts. Calls during a write are merged into one more write. */
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
  cognito_endpoint: run.cognitoUrl,
  user_pools: Object.fromEntries(Object.entries(run.userPools).map(([name, { id, clientId }]) => [name, { id, client_id: clientId }])),
  tables: { ...run.tables },
  buckets: { ...run.buckets },
  pids: run.pids(),
});

const announce = ({ hosts }: LocalRun, { api_key, model, ondemand_api_key, admin_email, admin_password }: Demo): void => {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Tell me about rivers.' }] });
  const urls = Object.entries(hosts).filter(([, url]) => url !== null);
  const keys = [['demo key', api_key], ...(hosts.ondemand === null ? [] : [['on-demand key', ondemand_api_key]])];
  const lines = [...urls, ...keys, ['admin', `${admin_email}  ${admin_password}`]].map(
    ([name = '', value]) => `  ${name.padEnd(15)}${value}`,
  );
  console.log(`Sluice is running. Press Ctrl-C to stop it.

${lines.join('\n')}

curl -N ${hosts.serverless}${inferenceHostRoutes.createChatCompletion.path} \\
  -H 'authorization: Bearer ${api_key}' -H 'content-type: application/json' \\
  -d '${body}'
`);
};

const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE') return `Port ${port} is in use. Choose another one with --port, or use --port 0 for any free port.`;
  return error.cause instanceof Error && !error.message.endsWith('.') ? `${error.message}: ${error.cause.message}` : error.message;
};

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(explain(error));
  process.exit(1);
}
