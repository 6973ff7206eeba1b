import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { interpret } from './assembly/interpret.ts';
import { readAssembly } from './assembly/read-assembly.ts';
import { startCognito } from './cognito/emulator.ts';
import { LOCAL_COMPONENT, LOCAL_MODEL, REASONING_COMPONENT, REASONING_MODEL, startContainer } from './container.ts';
import { startDatabase } from './dynamodb/dynoxide.ts';
import { createTables } from './dynamodb/tables.ts';
import type { StartFunction } from './gateway/integrate.ts';
import { assertServed, type Hosts, startHosts } from './hosts.ts';
import { createFunctionSet } from './lambda/function-set.ts';
import { startInvokeApi } from './lambda/invoke-api.ts';
import type { LocalFacts } from './local-facts.ts';
import { createProcessList } from './processes/process-list.ts';
import { createQueues } from './queues.ts';
import { createFileStore, createMemoryStore } from './s3/object-store.ts';
import { startS3 } from './s3/server.ts';
import type { ContainerTarget } from './sagemaker/container-request.ts';
import { startSageMaker } from './sagemaker/server.ts';
import { startSchedules } from './schedules.ts';
import { startEventSources } from './streams/event-sources.ts';

/*
 * The local run of the deployed app, process by process:
 *
 *   runner ── gateways (one HTTP server a REST API), schedules, readers of streams, emulators of SageMaker, S3 and Lambda's Invoke, the front of Cognito
 *     ├── function processes: lambda/runtime.ts, each with one bundle (unix sockets, IPC)
 *     ├── dynoxide (DynamoDB)
 *     ├── cognito-local, if the app has a user pool
 *     ├── infra/container/main.ts (the model)
 *     └── watchdog: ends all of them when the runner is gone
 *
 *   caller → gateway → function process → dynoxide
 *                                       → emulator → container, bucket or function process
 *                                       → front → cognito-local
 */

export interface LocalOptions {
  /** A CDK cloud assembly. */
  readonly assemblyDir: string;
  /** Where the database, the buckets, the users and the logs are kept. */
  readonly stateDir: string;
  /** Keeps the database and the buckets in memory, and forgets the users at the end. */
  readonly ephemeral: boolean;
  /** Of the serverless host; on-demand and control are the next two. 0 takes free ones. */
  readonly port: number;
  /** undefined: one process a function, with concurrent invocations. n: up to n, one invocation each, frozen in between. */
  readonly environments: number | undefined;
  readonly stopOnDisconnect: boolean;
  /** An OpenAI-compatible server in place of our own container; with a path if it is not /v1/chat/completions. */
  readonly containerUrl?: string | undefined;
  /** Between two tokens of our own container. */
  readonly tokenDelayMs: number;
  /** The longest that records of a stream wait for others, if that is less than the template says. */
  readonly batchWindowMs?: number | undefined;
  /** Prints no line for a request or an event. */
  readonly quiet: boolean;
  /** Called when a process was started or has ended. */
  readonly onChange?: (() => void) | undefined;
}

export interface LocalRun {
  readonly hosts: Hosts;
  readonly dynamodbEndpoint: string;
  /** Names of the tables by logical id. */
  readonly tables: Readonly<Record<string, string>>;
  /** Names of the buckets by logical id. */
  readonly buckets: Readonly<Record<string, string>>;
  readonly s3Endpoint: string;
  readonly lambdaEndpoint: string;
  /** null: the app has no user pool. */
  readonly cognitoUrl: string | null;
  /** The user pools by logical id. What they would send by e-mail is in mail.log beside the logs. */
  readonly userPools: Readonly<Record<string, { readonly id: string; readonly clientId: string }>>;
  readonly sagemakerUrl: string;
  readonly containerUrl: string;
  /** SageMaker endpoints by name; one added here is there at once. `sluice-tiny` and, if it is our own, `sluice-tiny-reasoning` are the container. */
  readonly endpoints: Map<string, ContainerTarget>;
  /** Invokes a function by its short name, with its event; its result, parsed. */
  invoke(functionName: string, event: unknown): Promise<unknown>;
  pids(): LocalFacts['pids'];
  /** Ends everything that was started. */
  close(): Promise<void>;
}

/**
 * Runs a cloud assembly on this machine: its APIs, functions, tables, streams, buckets and schedules, with emulators of DynamoDB, S3 and SageMaker.
 * @throws Error when something of the assembly cannot be run, a port is taken (code EADDRINUSE) or a process does not come up;
 *   all that was started has ended then
 */
export const startLocal = async (options: LocalOptions): Promise<LocalRun> => {
  const app = interpret(await readAssembly(options.assemblyDir));
  assertServed(app);
  const logFolder = path.join(options.stateDir, 'logs');
  mkdirSync(logFolder, { recursive: true });
  const log = options.quiet ? () => undefined : (line: string) => console.log(line);
  await using started = new AsyncDisposableStack();
  const processes = createProcessList();
  started.defer(() => processes.close());
  const common = { stateFolder: options.stateDir, logFolder, processes, log, onChange: () => options.onChange?.() };

  const container = options.containerUrl === undefined ? startContainer({ ...common, tokenDelayMs: options.tokenDelayMs }) : undefined;
  started.defer(() => container?.close());
  const startingDatabase = startDatabase({ ...common, ephemeral: options.ephemeral });
  started.defer(async () => (await startingDatabase.catch(() => undefined))?.close());
  const startingCognito =
    app.userPools.length > 0 ? startCognito({ ...common, pools: app.userPools, ephemeral: options.ephemeral }) : Promise.resolve(undefined);
  started.defer(async () => (await startingCognito.catch(() => undefined))?.close());
  const [database, containerReady, cognito] = await Promise.all([startingDatabase, container?.ready, startingCognito]);
  const target = containerReady
    ? { url: `http://127.0.0.1:${containerReady.port}`, path: '/invocations' }
    : foreignTarget(options.containerUrl ?? '');
  const endpoints = new Map([[LOCAL_MODEL, { ...target, component: LOCAL_COMPONENT }]]);
  if (container) endpoints.set(REASONING_MODEL, { ...target, component: REASONING_COMPONENT });
  const sagemaker = await startSageMaker(endpoints);
  started.defer(sagemaker.close);
  const objects = options.ephemeral ? createMemoryStore() : createFileStore(path.join(options.stateDir, 'buckets'));
  const s3 = await startS3(new Set(app.buckets.map(({ name }) => name)), objects);
  started.defer(s3.close);
  const invokeApi = await startInvokeApi((name, event) => functions.start(name, event));
  started.defer(invokeApi.close);
  // Functions are told where the hosts are, and end after them. Who calls before everything is there waits for it.
  await using gateways = new AsyncDisposableStack();
  const serving = Promise.withResolvers<void>();
  const startFunction: StartFunction = (...invocation) => serving.promise.then(() => functions.start(...invocation));
  const { port, stopOnDisconnect } = options;
  const hosts = await startHosts(app, { port, startFunction, stopOnDisconnect, log }, gateways);
  const cognitoUrl = cognito?.url ?? null;
  const functions = createFunctionSet({
    ...common,
    functions: app.functions,
    environments: options.environments,
    endpoints: { dynamodbUrl: database.url, sagemakerUrl: sagemaker.url, s3Url: s3.url, lambdaUrl: invokeApi.url, cognitoUrl },
    hosts,
  });
  started.defer(functions.close);
  started.use(gateways.move());
  const [tables] = await Promise.all([createTables(database.url, app.tables), functions.ready]);
  serving.resolve();
  started.defer(startSchedules(app.schedules, functions.invoke, log));
  const queues = createQueues(app.queues, path.join(options.stateDir, 'queues'));
  const { eventSources } = app;
  started.defer(
    startEventSources({
      eventSources,
      url: database.url,
      batchWindowMs: options.batchWindowMs,
      invoke: functions.invoke,
      sendFailure: queues.send,
      log,
    }),
  );

  const running = started.move();
  return {
    hosts,
    dynamodbEndpoint: database.url,
    tables,
    buckets: Object.fromEntries(app.buckets.map(({ logicalId, name }) => [logicalId, name])),
    s3Endpoint: s3.url,
    lambdaEndpoint: invokeApi.url,
    cognitoUrl,
    userPools: Object.fromEntries(app.userPools.map(({ logicalId, id, client }) => [logicalId, { id, clientId: client.id }])),
    sagemakerUrl: sagemaker.url,
    containerUrl: target.url,
    endpoints,
    invoke: functions.invoke,
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

const foreignTarget = (containerUrl: string): ContainerTarget => {
  const { origin, pathname } = new URL(containerUrl);
  return { url: origin, path: pathname === '/' ? '/v1/chat/completions' : pathname };
};
