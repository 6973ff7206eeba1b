import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { interpret } from '../assembly/interpret.ts';
import { readAssembly } from '../assembly/read-assembly.ts';
import { startBackgroundDeliveries } from './background-deliveries.ts';
import { startBackingProcesses } from './backing-processes.ts';
import { createLocalClock, type LocalClock } from './clock/local-clock.ts';
import {
  EMBEDDING_MODEL,
  LOCAL_COMPONENT,
  LOCAL_MODEL,
  poolingComponent,
  REASONING_COMPONENT,
  REASONING_MODEL,
  RERANK_MODEL,
  TEXT_EMBEDDINGS_ENDPOINTS,
} from './container.ts';
import { createTableWrites } from './dynamodb/table-writes.ts';
import { createTables, withoutStream } from './dynamodb/tables.ts';
import { createEventBus, type EventBus } from './event-bus.ts';
import { assertServed, startHosts } from './gateway/hosts.ts';
import type { ManagedSettings } from './http/serve-settings.ts';
import { accessKeyIdOf } from './lambda/access-key-id.ts';
import { createAsyncInvocations } from './lambda/async-invocations.ts';
import { createIsBackground } from './lambda/background-functions.ts';
import type { Hosts } from './lambda/environment-variables.ts';
import { createFunctionClock } from './lambda/function-clock.ts';
import { createFunctionSet, type FunctionSet } from './lambda/function-set.ts';
import { createFunctionTimeouts } from './lambda/function-timeouts.ts';
import { startInvokeApi } from './lambda/invoke-api.ts';
import { createReleaseShares, readOtherRelease } from './lambda/other-release.ts';
import type { LocalFacts } from './local-facts.ts';
import { functionLogGroup } from './logs/function-log-groups.ts';
import { createMailbox } from './mail/mailbox.ts';
import { startPanel } from './panel/server.ts';
import { guardEndpoints } from './permissions/guard.ts';
import { createUseLog } from './permissions/permission-log.ts';
import { createProcessList } from './processes/process-list.ts';
import { type Progress, silentProgress } from './progress.ts';
import { createFileStore, createMemoryStore } from './s3/object-store.ts';
import { LOCAL_KEYS, startS3 } from './s3/server.ts';
import type { ContainerTarget } from './sagemaker/container-request.ts';
import { startSageMaker } from './sagemaker/server.ts';
import { startSes } from './ses/server.ts';
import { createQueueOf } from './sqs/queue-of-source.ts';
import { startSqs } from './sqs/server.ts';

// The runner has the gateways, schedules, stream readers and emulators. Functions (lambda/runtime.ts, one bundle each),
// dynoxide (DynamoDB), cognito-local and the model server of each component have processes of their own, which a
// watchdog kills when the runner exits.

export interface LocalOptions {
  /** A CDK cloud assembly. */
  assemblyDir: string;
  /** Folder of the database, buckets, users and logs. */
  stateDir: string;
  /** Keeps the database and buckets in memory and deletes the users at the end. */
  ephemeral: boolean;
  /** Port of the serverless host; on-demand, control and the developer panel use the next three. 0 picks free ports. */
  port: number;
  /**
   * undefined: one process per function, concurrent invocations. n: up to n processes, one invocation each, frozen in
   * between.
   */
  environments: number | undefined;
  stopOnDisconnect: boolean;
  /**
   * OpenAI-compatible server to use instead of our own container. Without a path, chats and completions go to
   * OpenAI's paths.
   */
  containerUrl?: string | undefined;
  /** Delay between two tokens of our own container. */
  tokenDelayMs: number;
  /** Caps the template's batching windows of event sources. */
  batchWindowMs?: number | undefined;
  /** Caps the template's delays of queues. */
  queueDelayMs?: number | undefined;
  /** Caps the template's periods of schedules. */
  scheduleMs?: number | undefined;
  /** Starts each function at its first invocation. Default: only those for which no caller of a host waits. */
  lateFunctions?: boolean | undefined;
  /** false: the tables have no streams, and the functions that read them are not called. Default: true. */
  hasStreams?: boolean | undefined;
  /** Denies the AWS calls that a function's role does not allow, and logs the permissions that are used. */
  checkPermissions?: boolean | undefined;
  /**
   * The folder of another release, whose functions get a share of the invocations: none, until it is set at
   * `/releases` of Lambda's API.
   */
  secondReleaseDir?: string | undefined;
  /** Turns off the log lines for requests and events. */
  quiet: boolean;
  /** Shows what is being started. */
  progress?: Progress | undefined;
  /** Called when a process has started or exited. */
  onChange?: (() => void) | undefined;
}

export interface LocalRun {
  hosts: Hosts;
  /** With a check of permissions, the one that functions use. */
  dynamodbEndpoint: string;
  /** Table names by logical id. */
  tables: Readonly<Record<string, string>>;
  /** Bucket names by logical id. */
  buckets: Readonly<Record<string, string>>;
  s3Endpoint: string;
  lambdaEndpoint: string;
  sqsEndpoint: string;
  /** The developer panel. */
  panelUrl: string;
  clock: LocalClock;
  /** null: the app has no user pool. */
  cognitoUrl: string | null;
  /** User pools by logical id. Their emails are written to mail.log next to the logs. */
  userPools: Readonly<Record<string, { id: string; clientId: string }>>;
  sagemakerUrl: string;
  containerUrl: string;
  /**
   * SageMaker endpoints by name, read for each request: `sluice-tiny` and, with our own container,
   * `sluice-tiny-reasoning`, `sluice-tiny-embed` and `sluice-tiny-rerank`, of which the last two also exist with the
   * suffix `-tei`.
   */
  endpoints: Map<string, ContainerTarget>;
  /** Invokes a function by its short name and returns its parsed result. */
  invoke(functionName: string, event: unknown): Promise<unknown>;
  /** Reports an event of an AWS service to the functions that have a rule for it. */
  publish: EventBus['publish'];
  pids(): LocalFacts['pids'];
  /** Stops everything. */
  close(): Promise<void>;
}

const PANEL_OFFSET = 3;
const panelPort = (port: number): number => (port === 0 ? 0 : port + PANEL_OFFSET);

/**
 * Runs a cloud assembly on this machine, with emulators of DynamoDB, S3, SageMaker, Cognito, SQS, SES and Lambda's
 * Invoke.
 * @throws Error if the assembly is not supported, a port is in use (code EADDRINUSE) or a process does not start.
 * Nothing is left running.
 */
export const startLocal = async (options: LocalOptions): Promise<LocalRun> => {
  const app = interpret(await readAssembly(options.assemblyDir));
  assertServed(app);
  const logFolder = path.join(options.stateDir, 'logs');
  mkdirSync(logFolder, { recursive: true });
  const { progress = silentProgress } = options;
  const log = options.quiet ? () => undefined : progress.log;
  await using started = new AsyncDisposableStack();
  const processes = createProcessList();
  started.defer(() => processes.close());
  const common = { stateFolder: options.stateDir, logFolder, processes, log, onChange: () => options.onChange?.() };

  const { ephemeral, tokenDelayMs, containerUrl } = options;
  // Functions start last, because they need the URLs of everything else. Until then, whoever invokes them waits.
  const serving = Promise.withResolvers<void>();
  const invokeTrigger = (arn: string, event: object) => serving.promise.then(() => functions.invoke(arn, event));
  const localClock = createLocalClock(Date.now);
  const settings = { ...common, ephemeral, tokenTime: localClock.now, tokenDelayMs, containerUrl, progress, invoke: invokeTrigger };
  const { database, cognito, container, target, startContainer } = await startBackingProcesses(app, settings, started);
  const endpoints = new Map([[LOCAL_MODEL, { ...target, component: LOCAL_COMPONENT }]]);
  if (container) {
    endpoints.set(REASONING_MODEL, { ...target, component: REASONING_COMPONENT });
    for (const model of [EMBEDDING_MODEL, RERANK_MODEL]) endpoints.set(model, { ...target, component: poolingComponent(model) });
    for (const [model, path] of TEXT_EMBEDDINGS_ENDPOINTS) endpoints.set(model, { ...target, path, component: poolingComponent(model) });
  }
  const startFunction: FunctionSet['start'] = (...invocation) => serving.promise.then(() => functions.start(...invocation));
  const later = createAsyncInvocations(startFunction, log);
  started.defer(later.close);
  const events = createEventBus(app.eventRules, later.add);
  const sagemaker = await startSageMaker(endpoints, {
    startContainer,
    logGroups: app.functions.flatMap(({ logGroup, shortName }) =>
      logGroup === undefined ? [] : [functionLogGroup(logGroup, path.join(logFolder, `${shortName}.log`))],
    ),
    secretsFile: ephemeral ? undefined : path.join(options.stateDir, 'secrets.json'),
    onEvent: events.publish,
  });
  started.defer(sagemaker.close);
  const objects = ephemeral ? createMemoryStore() : createFileStore(path.join(options.stateDir, 'buckets'));
  const s3 = await startS3(new Set(app.buckets.map(({ name }) => name)), objects, localClock.now, {
    ...LOCAL_KEYS,
    accessKeyIds: app.functions.map(accessKeyIdOf),
  });
  started.defer(s3.close);
  const clock = createFunctionClock(localClock);
  const timeouts = createFunctionTimeouts();
  const shares = createReleaseShares();
  const invokeApi = await startInvokeApi(
    { start: startFunction, exists: (name) => functions.exists(name), later: later.add },
    new Map<string, ManagedSettings<object>>([
      ['/clock', clock.settings],
      ['/timeouts', timeouts.settings],
      ['/releases', shares.settings],
    ]),
  );
  started.defer(invokeApi.close);
  const deliveredQueues = new Map(app.queueSources.map((source) => [source.queueUrl, createQueueOf(source, options.queueDelayMs)]));
  const sqs = await startSqs(deliveredQueues);
  started.defer(sqs.close);
  const ses = await startSes(createMailbox(logFolder));
  started.defer(ses.close);
  // Hosts stop before the functions.
  await using gateways = new AsyncDisposableStack();
  const { port, stopOnDisconnect } = options;
  const hosts = await startHosts(app, { port, startFunction, stopOnDisconnect, log }, gateways);
  const cognitoUrl = cognito?.url ?? null;
  const emulators = {
    dynamodbUrl: database.url,
    sagemakerUrl: sagemaker.url,
    s3Url: s3.url,
    lambdaUrl: invokeApi.url,
    sqsUrl: sqs.url,
    sesUrl: ses.url,
    cognitoUrl,
  };
  const report = createUseLog(options.stateDir);
  const writes = options.checkPermissions ? createTableWrites() : undefined;
  const endpointsOfCallers = writes ? await guardEndpoints(emulators, { ...app, report, writes }, started) : emulators;
  const { secondReleaseDir } = options;
  const others = secondReleaseDir === undefined ? undefined : await readOtherRelease(secondReleaseDir, app.functions);
  const startsLate = options.lateFunctions ? () => true : createIsBackground(app);
  const functions = createFunctionSet({
    ...common,
    functions: app.functions,
    startsLate,
    secondRelease: others && { functions: others, picksOther: shares.picksOther },
    environments: options.environments,
    clockOffsetMs: clock.offsetMs,
    timeoutsOf: timeouts.of,
    endpoints: endpointsOfCallers,
    hosts,
    batchWindowMs: options.batchWindowMs,
  });
  started.defer(functions.close);
  started.use(gateways.move());
  const { hasStreams = true } = options;
  const [tables] = await Promise.all([
    progress.during(`Creating ${app.tables.length} tables`, () =>
      createTables(database.url, hasStreams ? app.tables : app.tables.map(withoutStream)),
    ),
    progress.during(`Starting ${app.functions.filter((fn) => !startsLate(fn)).length} functions`, () => functions.ready),
  ]);
  serving.resolve();
  const { batchWindowMs, scheduleMs, stateDir } = options;
  const { invoke } = functions;
  const databaseUrl = database.url;
  const deliveries = {
    stateDir,
    logFolder,
    databaseUrl,
    writes,
    hasStreams,
    batchWindowMs,
    scheduleMs,
    queues: deliveredQueues,
    invoke,
    log,
  };
  const schedules = startBackgroundDeliveries(app, deliveries, started);
  const panel = await startPanel({ clock: localClock, schedules, logFolder, controlUrl: hosts.control, port: panelPort(port) });
  started.defer(panel.close);

  const running = started.move();
  return {
    hosts,
    dynamodbEndpoint: endpointsOfCallers.dynamodbUrl,
    tables,
    buckets: Object.fromEntries(app.buckets.map(({ logicalId, name }) => [logicalId, name])),
    s3Endpoint: s3.url,
    lambdaEndpoint: invokeApi.url,
    sqsEndpoint: sqs.url,
    panelUrl: panel.url,
    clock: localClock,
    cognitoUrl,
    userPools: Object.fromEntries(app.userPools.map(({ logicalId, id, clients }) => [logicalId, { id, clientId: clients[0].id }])),
    sagemakerUrl: sagemaker.url,
    containerUrl: target.url,
    endpoints,
    invoke: functions.invoke,
    publish: events.publish,
    pids: () => ({
      runner: process.pid,
      dynamodb: database.pid() ?? null,
      container: container?.pid() ?? null,
      cognito: cognito?.pid() ?? null,
      functions: functions.pids(),
    }),
    close: () => running.disposeAsync(),
  };
};
