import { CreateEndpointConfigCommand, CreateInferenceComponentCommand, ListInferenceComponentsCommand } from '@aws-sdk/client-sagemaker';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createSageMaker } from '../../../functions/deployments/aws/sagemaker.ts';
import { createWaitingStore } from '../../../functions/inference/capacity/waiting-store.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { createBenchmarkStore } from '../../../shared/deployments/benchmark-store.ts';
import { createDeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { awsNameOf, awsTags } from '../../../shared/deployments/names.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { Crash } from '../../support/faults/unreliable-database.ts';
import { queuedBenchmark } from '../../support/fixtures/gpu-time/benchmark-curve.ts';
import { sized } from '../../support/sized.ts';
import { createWorld, INSTALLATION, type World } from './world.ts';

// More than a deletion takes.
const MAX_PASSES = 30;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const inService = async (): Promise<World> => {
  const world = await createWorld(database);
  await world.pass();
  expect(await world.run(2 * MINUTE_MS)).toMatchObject({ state: 'in_service' });
  return world;
};

test('removes scaling, adapters, component, endpoint, configuration and model, one after the other', async () => {
  const world = await inService();
  const name = awsNameOf(INSTALLATION.name, world.id, 1);
  const Specification = { BaseInferenceComponentName: name, Container: { ArtifactUrl: 's3://sluice-weights/org_1/adapter.tar.gz' } };
  await world.plane.sagemaker.send(
    new CreateInferenceComponentCommand({ InferenceComponentName: `${name}-adapter`, EndpointName: name, Specification }),
  );
  world.plane.advance(MINUTE_MS);
  const calls = world.plane.calls.length;
  await world.change({ wanted: 'deleted' });
  expect(await world.run(5 * MINUTE_MS)).toMatchObject({ state: 'deleted' });
  const made = world.plane.calls.slice(calls).map(({ operation, input }) => [operation, Object.values(input as object)] as const);
  const deletions = made.filter(([operation]) => /^(?:Delete|Deregister)/.test(operation));
  expect(
    deletions.map(([operation, values]) =>
      `${operation} ${values.find((value) => String(value).includes('-adapter')) ? 'adapter' : ''}`.trim(),
    ),
  ).toEqual([
    'DeregisterScalableTarget',
    'DeleteInferenceComponent adapter',
    'DeleteInferenceComponent',
    'DeleteEndpoint',
    'DeleteEndpointConfig',
    'DeleteModel',
  ]);
});

test.each([
  ['stopped', 'stopping'],
  ['deleted', 'deleting'],
] as const)('is %s only when all GPU time of an outage of its passes is metered', async (wanted, during) => {
  const world = await inService();
  const running = { generation: 1, instance_type: 'ml.g6.xlarge', instances: 1, phase: 'draining' as const };
  const meter = { until: world.plane.now(), running: [running], held_nanos: 0n };
  await world.change({ wanted, meter });
  expect((await world.run(5 * MINUTE_MS)).state).toBe(during);
  await world.change({ meter: { ...meter, running: [] } });
  expect((await world.run(MINUTE_MS)).state).toBe(wanted);
});

test('is deleted only after two passes, 45 seconds apart, in which the lists by name and by tag were empty', async () => {
  const world = await inService();
  await world.change({ wanted: 'deleted' });
  for (let passes = 0; (await world.read()).empty_since === undefined; passes++) {
    if (passes === 20) throw new Error('It was never empty.');
    await world.pass();
    world.plane.advance(15_000);
  }
  await world.pass();
  expect(await world.read()).toMatchObject({ state: 'deleting' });
  expect(await world.store.idOf(world.organization, 'qwen3-8b')).toBe(world.id);

  // A call of a slow pass, or of somebody else, brings something back under another name, but with the tag.
  world.plane.advance(2 * MINUTE_MS);
  const variant = { VariantName: 'AllTraffic', InstanceType: 'ml.g5.xlarge' as const, InitialInstanceCount: 1 };
  await world.plane.sagemaker.send(
    new CreateEndpointConfigCommand({
      EndpointConfigName: 'made-by-hand',
      ExecutionRoleArn: INSTALLATION.executionRoleArn,
      ProductionVariants: [variant],
      Tags: [{ Key: awsTags.deployment, Value: world.id }],
    }),
  );
  await world.pass();
  expect(await world.read()).toMatchObject({ state: 'deleting' });
  expect((await world.read()).empty_since).toBeUndefined();
  world.plane.account.call('SageMaker.DeleteEndpointConfig', JSON.stringify({ EndpointConfigName: 'made-by-hand' }));
  await world.pass();
  world.plane.advance(2 * MINUTE_MS);
  await world.pass();
  expect(await world.read()).toMatchObject({ state: 'deleted' });
});

test('finds and removes what the row has forgotten, by the prefix of its names', async () => {
  const world = await inService();
  await world.change((row) => ({ generations: row.generations.map((generation) => ({ ...generation, number: 2 })), wanted: 'deleted' }));
  expect(await world.run(6 * MINUTE_MS)).toMatchObject({ state: 'deleted' });
  const { models, endpoint_configs, endpoints, inference_components } = world.plane.account.proof();
  expect([models, endpoint_configs, endpoints, inference_components]).toEqual([[], [], [], []]);
});

test('finds resources that are listed by tag only, although ARNs are in lower case', async () => {
  const world = await inService();
  const { aws } = world.dependencies;
  const { listTagged } = aws;
  aws.listTagged = async (id) => (await listTagged(id)).map((name) => name.toLowerCase());
  aws.sageMaker = { ...aws.sageMaker, listByPrefix: async () => [] };
  await world.change((row) => ({ generations: row.generations.map((generation) => ({ ...generation, number: 2 })), wanted: 'deleted' }));
  expect(await world.run(6 * MINUTE_MS)).toMatchObject({ state: 'deleted' });
  expect(world.plane.account.proof().endpoints).toEqual([]);
});

test('removes a deployment although SageMaker lists no components of an endpoint that is gone', async () => {
  const world = await inService();
  const { dependencies, plane, id } = world;
  const gone = { name: 'ValidationException', message: `Could not find endpoint "arn:aws:sagemaker:us-east-1:1:endpoint/${id}".` };
  const send = plane.sagemaker.send.bind(plane.sagemaker);
  const strict = {
    send: async (command: ListInferenceComponentsCommand) => {
      if (command instanceof ListInferenceComponentsCommand && command.input.EndpointNameEquals !== undefined) {
        const { endpoints } = plane.account.proof();
        if (!endpoints.some(({ name }) => name === command.input.EndpointNameEquals)) throw Object.assign(new Error(gone.message), gone);
      }
      return send(command);
    },
  };
  dependencies.aws.sageMaker = createSageMaker(strict as never);
  await world.change({ wanted: 'deleted' });
  expect(await world.run(5 * MINUTE_MS)).toMatchObject({ state: 'deleted' });
});

describe('a benchmark that is started when its deployment is deleted', () => {
  interface Timing {
    /** The start is written before the deletion; else, at the call of the pass. */
    isFirst: boolean;
    /** A call of the database in the passes of the deletion, counted from 0. */
    call: number;
    /** The pass dies there. */
    dies?: 'before' | 'after' | undefined;
  }

  const unlessRefused = (error: unknown): false => {
    if (!(error instanceof PreconditionFailed)) throw error;
    return false;
  };

  // Returns the number of calls.
  const deleteWith = async ({ isFirst, call, dies }: Timing): Promise<number> => {
    const world = await inService();
    const rowsOf = (over: Database) => createRecordTable(over, database.tables.Deployments as string);
    const benchmarks = createBenchmarkStore(rowsOf(database.database));
    const writes = benchmarks.toStart(queuedBenchmark({ deployment: world.id, organization: world.organization }), undefined);
    const start = (): Promise<boolean> => transact(database.database, writes).then(() => true, unlessRefused);
    let calls = 0;
    let isStarted = isFirst && (await start());
    let isDead = false;
    const over = new Proxy(database.database, {
      get: (target, name: keyof Database) => async (input: never) => {
        const isPoint = calls++ === call;
        if (isPoint && !isFirst) isStarted = await start();
        isDead ||= isPoint && dies === 'before';
        if (isDead) throw new Crash();
        const reply = await target[name](input);
        isDead ||= isPoint && dies === 'after';
        if (isDead) throw new Crash();
        return reply;
      },
    });
    const deps = { ...world.dependencies, database: over, deployments: createDeploymentStore(rowsOf(over)) };
    await world.change({ wanted: 'deleted' });
    for (let passes = 0; (await world.read()).state !== 'deleted'; passes++) {
      if (passes === MAX_PASSES) throw new Error('It was not deleted.');
      isDead = false;
      await world.pass(deps).catch((error: unknown) => expect(error).toBeInstanceOf(Crash));
      world.plane.advance(MINUTE_MS);
    }
    // Also when all is over.
    if (!isFirst) isStarted ||= await start();
    expect(isStarted).toBe(isFirst);
    expect(await benchmarks.find(world.id)).toBeUndefined();
    return calls;
  };

  test.each<[string, boolean]>([
    ['is removed with it, whichever call a pass dies at', true],
    ['is refused, whichever call it comes at', false],
  ])('%s', async (_, isFirst) => {
    const calls = await deleteWith({ isFirst, call: Number.POSITIVE_INFINITY });
    expect(calls).toBeGreaterThan(5);
    for (let call = 0; call < calls; call += sized(5, 1))
      for (const dies of ['before', 'after', undefined] as const) await deleteWith({ isFirst, call, dies });
  });
});

test('removes the list of waiting requests, and a request that leaves later changes nothing', async () => {
  const world = await inService();
  const table = database.tables.Deployments as string;
  const waiting = createWaitingStore(database.database, table, 1);
  const waiter = { listId: world.id, requestId: 'req_1', joinedAtMs: 0 };
  const stored = async () =>
    (await database.database.get({ TableName: table, Key: { account: world.id, record: 'waiting' }, ConsistentRead: true })).Item;
  expect(await waiting.join(waiter, 0)).toBeDefined();
  expect(await stored()).toBeDefined();
  await world.change({ wanted: 'deleted' });
  expect(await world.run(5 * MINUTE_MS)).toMatchObject({ state: 'deleted' });
  expect(await stored()).toBeUndefined();
  await waiting.leave(waiter);
  expect(await stored()).toBeUndefined();
});

test('deletes a deployment before anything of it was created', async () => {
  const world = await createWorld(database);
  await world.change({ wanted: 'deleted' });
  await world.pass();
  expect(await world.run(4 * MINUTE_MS)).toMatchObject({ state: 'deleted' });
  expect(world.plane.account.proof().created).toEqual({});
});
