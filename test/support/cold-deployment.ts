import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type CapacityDependencies, createCapacity } from '../../functions/inference/capacity/capacity.ts';
import { createWaitingStore, waitingOf } from '../../functions/inference/capacity/waiting-store.ts';
import { chatCompletions } from '../../functions/inference/chat/route.ts';
import { createIdempotencyStore } from '../../functions/inference/idempotency/idempotency-store.ts';
import type { Dependencies, Serve } from '../../functions/inference/pipeline/dependencies.ts';
import { serve } from '../../functions/inference/pipeline/pipeline.ts';
import { createTargetHealth } from '../../functions/inference/pipeline/target-health.ts';
import { responses } from '../../functions/inference/responses/route.ts';
import { createLimiterStore } from '../../shared/admission/limiter-store.ts';
import type { Database } from '../../shared/database/database.ts';
import { DatabaseUnavailable } from '../../shared/database/outage.ts';
import { createAccountTable } from '../../shared/database/record-table.ts';
import { transact } from '../../shared/database/transaction.ts';
import { createCatalogueStore } from '../../shared/deployments/catalogue-store.ts';
import { type Deployment, inState, NO_PROGRESS } from '../../shared/deployments/deployment.ts';
import { createDeploymentStore } from '../../shared/deployments/deployment-store.ts';
import { awsNameOf } from '../../shared/deployments/names.ts';
import { createStartTimesStore } from '../../shared/deployments/start-times-store.ts';
import { createHoldStartCredit } from '../../shared/gpu-time/start-credit.ts';
import type { Scope } from '../../shared/hosts/host.ts';
import { inferenceHostRoutes } from '../../shared/hosts/inference-routes.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { newRequestId } from '../../shared/ids/request-id.ts';
import { toErrorReply } from '../../shared/middleware/error-replies.ts';
import { createDeployments } from '../../shared/models/deployments.ts';
import { createInventory } from '../../shared/models/inventory.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { createResponseStore } from '../../shared/responses/response-store.ts';
import { toUpstreamError } from '../../shared/upstream/errors.ts';
import type { Invoke } from '../../shared/upstream/invocation.ts';
import { createCacheSalt } from '../../shared/upstream/request-body.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import { makeCaller, wide } from './callers.ts';
import { createKey, type TestKey } from './create-key.ts';
import { startTestDatabase, type TestDatabase } from './database.ts';
import { deploymentsOf, newDeployment } from './deployments.ts';
import { newId } from './new-id.ts';
import { openReply } from './open-reply.ts';
import { END, noPayloadLog, noQueue, noTokenizer, text } from './pipeline.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

const INSTALLATION = 'sluice';
/** What SageMaker says of a component without copies, and of a name that it does not know. */
const NO_COPIES = 'Inference Component has no capacity to process this request. ApplicationAutoScaling may be in-progress.';
export const NOT_FOUND = 'Endpoint sluice-x-g1 of account 123456789012 not found.';

/** What a test does to a world with one deployment: where it begins and who calls it. */
interface WorldOptions {
  fields?: Partial<Deployment>;
  /** What the inventory says. */
  isReady?: boolean;
  mostHeld?: number;
  /** For all deployments of the organization together. */
  mostHeldOfOrganization?: number;
  scope?: Scope;
  /** The name of the shared model that it is published as. */
  publishedAs?: string;
  organization?: string;
  clock?: VirtualClock;
}

/** One of the names that inference calls. */
export interface CountedCall {
  method: keyof Database;
  table: string;
}

/** A test database with deployments that sleep, and the pipelines of several environments before them. */
export const startColdDeployments = async () => {
  const test = await startTestDatabase();
  return { test, createWorld: (options: WorldOptions = {}) => createWorld(test, options), close: test.close };
};

/** A database that counts its calls, and that nobody reaches during an outage. */
const counting = (database: Database, calls: CountedCall[], outage: { isOn: boolean }): Database =>
  new Proxy(database, {
    get: (target, method: keyof Database) => async (input: { TableName: string }) => {
      calls.push({ method, table: input.TableName });
      if (outage.isOn) throw new DatabaseUnavailable(new Error('Out of reach.'));
      return target[method](input as never);
    },
  });

const createWorld = async (test: TestDatabase, options: WorldOptions) => {
  const {
    fields = {},
    isReady = false,
    mostHeld = 50,
    mostHeldOfOrganization = 100,
    scope = 'on_demand',
    organization = newId('organization'),
  } = options;
  const clock = options.clock ?? createVirtualClock(Date.now());
  const owned = fields.name ?? (scope === 'on_demand' ? 'qwen3-8b' : newId('key'));
  const name = options.publishedAs ?? owned;
  const made = newDeployment({ organization, name: owned, state: 'scaled_to_zero', state_since: clock.now(), ...fields });
  const deployment: Deployment = {
    ...made,
    generations: made.generations.map((generation) => ({ ...generation, status: 'ready' as const })),
    ...(scope === 'serverless' && { published_as: name }),
  };
  await transact(test.database, deploymentsOf(test).toCreate(deployment));
  const target = awsNameOf(INSTALLATION, deployment.id, 1);
  const pool = scope === 'on_demand' ? organization : SERVERLESS_POOL;

  const setReady = (is_ready: boolean): Promise<void> =>
    test.models.put(pool, {
      name,
      status: 'published',
      created: 0,
      ...deployment.serving,
      targets: [{ endpoint: target, component: target }],
      prices: [{ version: 'p1', effective_at: 0, prompt_nanos: 1_000_000, completion_nanos: 2_000_000 }],
      deployment: { id: deployment.id, is_ready },
    });
  await setReady(isReady);

  const row = async (): Promise<Deployment> => (await deploymentsOf(test).find(deployment.id)) as Deployment;
  /** What the reconciler writes. */
  const write = async (change: (before: Deployment) => Deployment): Promise<void> =>
    transact(test.database, [deploymentsOf(test).toReplace(change(await row()))]);

  /** The copies on SageMaker. */
  const container = {
    copies: isReady ? 1 : 0,
    /** How it fails without copies. */
    words: NO_COPIES,
    answerMs: 0,
    /** How long it takes to fail without copies. */
    failMs: 0,
    running: 0,
    mostRunning: 0,
    invocations: 0,
    /** The questions in the order in which they arrived. */
    questions: [] as string[],
  };
  const invoke: Invoke = async function* ({ body, target: { endpoint }, signal }) {
    container.invocations++;
    if (container.failMs > 0 && container.copies === 0) await clock.wait(container.failMs, signal.signal);
    if (container.copies === 0 || endpoint !== target)
      throw toUpstreamError(Object.assign(new Error(container.words), { name: 'ValidationError' }));
    const { messages } = JSON.parse(body) as { messages: { content: string }[] };
    const question = messages.at(-1)?.content ?? '';
    container.questions.push(question);
    container.mostRunning = Math.max(container.mostRunning, ++container.running);
    try {
      if (container.answerMs > 0) await clock.wait(container.answerMs, signal.signal);
      yield text(`Answer to ${question}`);
      yield END;
    } finally {
      container.running--;
    }
  };

  /** Deployments that the reconciler was called for. */
  const reconciled: string[] = [];
  const calls: CountedCall[] = [];
  const outage = { isOn: false };

  /** The pipeline as one environment runs it: it shares only the database with others. */
  const createEnvironment = async (change: Partial<CapacityDependencies> = {}, limits: Partial<TestKey> = {}) => {
    const database = counting(clock.watch(test.database), calls, outage);
    const { tables } = test;
    const { secret, key_id } = await createKey(test.limiters, { ...wide, scope, org: organization, ...limits });
    const models = createModelStore(database, tables.Models as string);
    const records = createAccountTable(database, tables.Deployments as string);
    const shared = createInventory(models, SERVERLESS_POOL, clock.now);
    const capacity = createCapacity({
      host: { scope },
      models,
      deployments: createDeploymentStore(records),
      holdStartCredit: createHoldStartCredit(database, tables.Keys as string, createCatalogueStore(records)),
      startTimes: createStartTimesStore(database, records),
      waiting: createWaitingStore(database, tables.Deployments as string, mostHeld),
      waitingInOrganization: createWaitingStore(database, tables.Deployments as string, mostHeldOfOrganization, waitingOf(scope)),
      reconcile: async (id) => void reconciled.push(id),
      now: clock.now,
      wait: clock.wait,
      ...change,
    });
    const deps: Dependencies = {
      host: { scope },
      modelsOf: scope === 'on_demand' ? createDeployments(models, clock.now) : () => shared,
      keys: makeCaller(createLimiterStore(database, tables.Keys as string), Date.now),
      usage: createUsageStore(database, tables.Usage as string),
      settlements: noQueue,
      tokenizer: noTokenizer,
      invoke,
      health: createTargetHealth(Date.now),
      idempotency: createIdempotencyStore(database, tables.Responses as string, Date.now),
      cacheSalt: createCacheSalt('secret'),
      capacity: async () => capacity,
      payloadLog: noPayloadLog,
      now: clock.now,
    };
    const { createChatCompletion: chat, createResponse } = inferenceHostRoutes;
    const store = createResponseStore(database, tables.Responses as string, Date.now);
    const routes: Record<string, Serve> = {
      [chat.path]: serve(chat.path, chatCompletions({ structuredOutputs: false }), deps),
      [createResponse.path]: serve(createResponse.path, responses({ structuredOutputs: false, store, now: Date.now }), deps),
    };

    /** A request as API Gateway passes it on, and the reply that the function gives. */
    const send = async (body: string, headers: Record<string, string> = {}, path: string = chat.path): ReturnType<Serve> => {
      const receivedAtMs = clock.now();
      const respond = routes[path] as Serve;
      const event = {
        headers: { Authorization: `Bearer ${secret}`, 'X-User-Id': randomUUID(), ...headers },
        path,
        body,
        requestContext: {},
        requestId: newRequestId(Date.now()),
        receivedAtMs,
      } as unknown as ApiEvent;
      return respond(event, { getRemainingTimeInMillis: () => 600_000 }).catch((error: unknown) => toErrorReply(error, event));
    };

    /** Asks a question. @param waitSeconds the header X-Wait-For-Capacity */
    const ask = async (question: string, waitSeconds?: number | string, fields: object = {}, headers: Record<string, string> = {}) => {
      const body = JSON.stringify({ model: name, messages: [{ role: 'user', content: question }], max_tokens: 50, ...fields });
      return send(body, { ...headers, ...(waitSeconds !== undefined && { 'X-Wait-For-Capacity': String(waitSeconds) }) });
    };

    /** The transport of a client: requests become events, and replies responses. */
    const transport = async (url: string, init?: RequestInit): Promise<Response> => {
      const sent = Object.fromEntries(new Headers(init?.headers));
      const { statusCode: status, headers, body } = await send(String(init?.body), sent, new URL(url).pathname);
      const content = typeof body === 'string' ? body : (Readable.toWeb(openReply(body).stream) as ReadableStream);
      return new Response(content, { status, headers });
    };
    return { ask, transport, keyId: key_id, events: () => test.recentEvents(key_id) };
  };

  const listed = async (Key: { account: string; record: string }) => {
    const { Item } = await test.database.get({ TableName: test.tables.Deployments as string, Key, ConsistentRead: true });
    const { held = {}, running = {} } = (Item ?? {}) as { held?: object; running?: object };
    return { held: Object.keys(held).length, running: Object.keys(running).length };
  };
  const waitingList = createWaitingStore(clock.watch(test.database), test.tables.Deployments as string, mostHeld);

  return {
    clock,
    waitingList,
    name,
    organization,
    deployment,
    container,
    reconciled,
    calls,
    outage,
    row,
    write,
    setReady,
    createEnvironment,
    /** The reconciler finds that this many copies are ready. */
    bringUp: async (copies = 1): Promise<void> => {
      container.copies = copies;
      await write((before) => {
        const { wake: _, ...awake } = inState(before, 'in_service', clock.now());
        return { ...awake, progress: { ...NO_PROGRESS, wanted: copies, ready: copies } };
      });
      await setReady(true);
    },
    /** Who waits, and who of them was released. */
    waiting: async () => {
      const { held, running } = await listed({ account: deployment.id, record: 'waiting' });
      return { held, running };
    },
    /** How many requests of an organization wait. */
    waitingOf: async (caller = organization) => (await listed({ account: caller, record: waitingOf(scope) })).held,
  };
};

export type ColdWorld = Awaited<ReturnType<typeof createWorld>>;
