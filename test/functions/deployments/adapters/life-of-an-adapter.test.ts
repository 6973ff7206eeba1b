import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { FilesChanged, FilesUnreadable } from '../../../../functions/deployments/adapters/adapter-files.ts';
import { MAX_PACKED_AT_ONCE } from '../../../../functions/deployments/adapters/packing-shares.ts';
import { isChangingAdapters } from '../../../../functions/deployments/reconcile/adapters.ts';
import { Reconciliations } from '../../../../infra/constructs/queues/reconciliations.ts';
import type { Adapter } from '../../../../shared/deployments/adapter.ts';
import type { Deployment, Generation } from '../../../../shared/deployments/deployment.ts';
import { inState } from '../../../../shared/deployments/deployment.ts';
import { adapterNameOf, archiveKeyOf, awsNameOf } from '../../../../shared/deployments/names.ts';
import { type Price, priceAt } from '../../../../shared/prices/price.ts';
import { MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { eventually } from '../../../support/eventually.ts';
import { newDeployment } from '../../../support/fixtures/deployments.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { createWorld, INSTALLATION, UNUSABLE_SOURCE, type World } from '../world.ts';

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

const supporting = (max_rank = 16): Generation[] =>
  newDeployment({ organization: 'org_1' }).generations.map((generation) => ({ ...generation, adapters: { max_rank, max_loaded: 2 } }));
const start = async (fields: Partial<Deployment> = {}): Promise<World> => {
  const world = await createWorld(database, { generations: supporting(), scale_to_zero_after_seconds: null, ...fields });
  await world.run(5 * MINUTE_MS);
  expect((await world.read()).state).toBe('in_service');
  return world;
};
const adaptersOf = async (world: World): Promise<readonly Adapter[]> => (await world.read()).adapters ?? [];
const stateOf = async (world: World) => (await adaptersOf(world)).map(({ state, reason }) => reason?.code ?? state);
const componentsOf = ({ plane }: World): string[] => plane.account.proof().inference_components.map(({ name }) => name);
const baseOf = (world: World, generation = 1): string => awsNameOf(INSTALLATION.name, world.id, generation);
const rowOf = (world: World, name: string) => database.models.get(world.organization, name);
const remove = (world: World, id: string): Promise<void> =>
  world.change(({ adapters = [] }) => ({
    adapters: adapters.map((each) => (each.id === id ? { ...each, state: 'deleting' as const } : each)),
  }));
const want = (world: World, wanted: Deployment['wanted']): Promise<void> =>
  world.change((row) => {
    const to = { running: 'pending', stopped: 'stopping', deleted: 'deleting' } as const;
    const { state, state_since, transitions } = inState(row, to[wanted], world.plane.now());
    return { wanted, state, state_since, transitions };
  });
const changesOf = ({ plane }: World, from: number): string[] =>
  plane.calls
    .slice(from)
    .filter(({ operation }) => /^(?:Create|Delete)/.test(operation))
    .map(({ operation, input }) => `${operation} ${(input as { InferenceComponentName?: string }).InferenceComponentName ?? ''}`.trim());

test('is checked, stored, created on the endpoint of its deployment, and served under its own name', async () => {
  const world = await start();
  const id = await world.addAdapter('legal');
  expect(await stateOf(world)).toEqual(['pending']);
  expect(await rowOf(world, 'legal')).toBeUndefined();
  await world.run(2 * MINUTE_MS);
  const name = adapterNameOf(baseOf(world), id);
  expect(await adaptersOf(world)).toMatchObject([{ state: 'ready', packed: { rank: 8, bytes: 1_000 } }]);
  expect(componentsOf(world)).toEqual([baseOf(world), name]);
  expect([...world.archives]).toEqual([archiveKeyOf(world.organization, world.id, id)]);
  const created = world.plane.calls.find(({ input }) => (input as { InferenceComponentName?: string }).InferenceComponentName === name);
  expect(created).toMatchObject({
    operation: 'CreateInferenceComponent',
    input: {
      EndpointName: baseOf(world),
      Specification: {
        BaseInferenceComponentName: baseOf(world),
        Container: { ArtifactUrl: `s3://sluice-weights/adapters/${world.organization}/${world.id}/${id}.tar.gz` },
      },
    },
  });
  expect(created?.input).not.toHaveProperty('RuntimeConfig');
  expect(await rowOf(world, 'legal')).toMatchObject({
    status: 'published',
    targets: [{ endpoint: baseOf(world), component: name, container_model: name }],
    deployment: { id: world.id, is_ready: true },
    context_length: 8_192,
  });
  expect(await rowOf(world, 'qwen3-8b')).toMatchObject({ targets: [{ component: baseOf(world), container_model: 'qwen3-8b' }] });
});

test('is deleted without a trace, and its name is free only when nothing of it can come back', async () => {
  const world = await start();
  const id = await world.addAdapter('legal');
  await world.run(2 * MINUTE_MS);
  await remove(world, id);
  await world.pass();
  expect(await rowOf(world, 'legal')).toBeUndefined();
  expect(await world.store.idOf(world.organization, 'legal')).toBe(world.id);
  await expect(world.addAdapter('legal')).rejects.toThrow("an adapter named 'legal'");
  await world.run(15 * SECOND_MS);
  expect(await stateOf(world)).toEqual(['deleting']);
  await world.run(3 * MINUTE_MS);
  expect([await adaptersOf(world), componentsOf(world), [...world.archives]]).toEqual([[], [baseOf(world)], []]);
  expect(await world.store.idOf(world.organization, 'legal')).toBeUndefined();
  expect((await world.read()).state).toBe('in_service');
});

test('is removed before its deployment’s component, and created again after it', async () => {
  const world = await start();
  const id = await world.addAdapter('legal');
  await world.run(2 * MINUTE_MS);
  const [base, adapter] = [baseOf(world), adapterNameOf(baseOf(world), id)];
  const from = world.plane.calls.length;
  await want(world, 'stopped');
  await world.run(5 * MINUTE_MS);
  expect((await world.read()).state).toBe('stopped');
  expect(changesOf(world, from)).toEqual([
    `DeleteInferenceComponent ${adapter}`,
    `DeleteInferenceComponent ${base}`,
    'DeleteEndpoint',
    'DeleteEndpointConfig',
    'DeleteModel',
  ]);
  expect([...world.archives]).toHaveLength(1);
  expect(await rowOf(world, 'legal')).toMatchObject({ deployment: { is_ready: false } });
  const restarted = world.plane.calls.length;
  await want(world, 'running');
  await world.run(5 * MINUTE_MS);
  expect(changesOf(world, restarted).slice(-2)).toEqual([`CreateInferenceComponent ${base}`, `CreateInferenceComponent ${adapter}`]);
  expect(await rowOf(world, 'legal')).toMatchObject({ deployment: { is_ready: true } });
  await want(world, 'deleted');
  await world.run(5 * MINUTE_MS);
  expect((await world.read()).state).toBe('deleted');
  expect([componentsOf(world), [...world.archives], await rowOf(world, 'legal')]).toEqual([[], [], undefined]);
  expect(await world.store.idOf(world.organization, 'legal')).toBeUndefined();
});

test('leaves a stopped deployment stopped while it is checked, and while it is deleted', async () => {
  const world = await start();
  await want(world, 'stopped');
  await world.run(5 * MINUTE_MS);
  const { transitions } = await world.read();
  const id = await world.addAdapter('legal');
  await world.run(3 * MINUTE_MS);
  expect(await adaptersOf(world)).toMatchObject([{ state: 'creating', packed: { rank: 8 } }]);
  await remove(world, id);
  await world.run(3 * MINUTE_MS);
  expect([await adaptersOf(world), [...world.archives]]).toEqual([[], []]);
  expect(await world.read()).toMatchObject({ state: 'stopped', transitions });
});

const rollOut = (world: World, fields: Partial<Deployment> = {}): Promise<void> =>
  world.change(({ generations }) => ({
    generations: [...generations, { ...(generations[0] as Generation), number: 2, status: 'creating', created_at: world.plane.now() }],
    ...fields,
  }));

test('follows its deployment to a new generation, and gets requests there once it is loaded', async () => {
  const world = await start();
  const id = await world.addAdapter('legal');
  await world.run(2 * MINUTE_MS);
  await rollOut(world);
  await world.run(20 * MINUTE_MS);
  expect(componentsOf(world)).toEqual([baseOf(world, 2), adapterNameOf(baseOf(world, 2), id)]);
  expect(await rowOf(world, 'legal')).toMatchObject({
    targets: [{ endpoint: baseOf(world, 2), component: adapterNameOf(baseOf(world, 2), id) }],
    deployment: { is_ready: true },
  });
});

test('is answered at every moment of a rollout, whose generation gets no requests until it has loaded it', async () => {
  const world = await createWorld(
    database,
    { generations: supporting(), scale_to_zero_after_seconds: null },
    { settings: { times: { download_ms: MINUTE_MS } } },
  );
  await world.run(10 * MINUTE_MS);
  await world.addAdapter('legal');
  await world.run(5 * MINUTE_MS);
  expect(await stateOf(world)).toEqual(['ready']);
  await rollOut(world);
  const seen = new Set<string>();
  for (let step = 0; step < 80; step++) {
    await world.run(15 * SECOND_MS);
    const { targets = [], deployment } = (await rowOf(world, 'legal')) ?? {};
    const { name } = (await world.read()) as Deployment;
    const base = await rowOf(world, name);
    seen.add(`${targets.map(({ endpoint }) => endpoint)} ${deployment?.is_ready}, ${base?.targets.map(({ endpoint }) => endpoint)}`);
  }
  expect([...seen]).toEqual([1, 2].map((number) => `${baseOf(world, number)} true, ${baseOf(world, number)}`));
});

test('is kept by the generation that serves it if the next one can’t load it, which fails instead', async () => {
  const world = await start();
  const id = await world.addAdapter('legal');
  await world.run(2 * MINUTE_MS);
  const { listComponentsOn } = world.dependencies.aws.sageMaker;
  jest.spyOn(world.dependencies.aws.sageMaker, 'listComponentsOn').mockImplementation(async (name) => {
    const listed = await listComponentsOn(name);
    return name === baseOf(world, 2) ? listed.map((each) => (each.name === name ? each : { ...each, status: 'Failed' })) : listed;
  });
  await rollOut(world, { traffic_percent: 10 });
  await world.run(5 * MINUTE_MS);
  const { generations, state } = await world.read();
  expect(generations.map(({ status, reason }) => reason?.code ?? status)).toEqual(['ready', 'adapter_not_loaded']);
  expect([state, await stateOf(world)]).toEqual(['in_service', ['ready']]);
  expect(componentsOf(world)).toEqual([baseOf(world), adapterNameOf(baseOf(world), id)]);
  expect(await rowOf(world, 'legal')).toMatchObject({ targets: [{ endpoint: baseOf(world) }], deployment: { is_ready: true } });
});

test('is kept if AWS rejects its creation on the next generation, which fails instead', async () => {
  const world = await start();
  await world.addAdapter('legal');
  await world.run(2 * MINUTE_MS);
  const { createAdapter } = world.dependencies.aws.sageMaker;
  jest.spyOn(world.dependencies.aws.sageMaker, 'createAdapter').mockImplementation(async (input) => {
    if (input.EndpointName !== baseOf(world, 2)) return createAdapter(input);
    throw Object.assign(new Error('Could not load the artifacts.'), { name: 'ValidationException' });
  });
  await rollOut(world, { traffic_percent: 10 });
  await world.run(5 * MINUTE_MS);
  const { generations } = await world.read();
  expect(generations.map(({ status, reason }) => reason?.code ?? status)).toEqual(['ready', 'rejected_by_aws']);
  expect(await stateOf(world)).toEqual(['ready']);
});

test.each([
  ['change', new FilesChanged('The files changed.')],
  ['can’t be read', new FilesUnreadable('Access denied.')],
])('is packed and served although the files of one before it %s', async (_, error) => {
  const world = await start();
  const { files } = world.dependencies.aws;
  const { pack } = files;
  jest.spyOn(files, 'pack').mockImplementation(async (prefix, ...others) => {
    if (prefix === 'org_1/changing/') throw error;
    return pack(prefix, ...others);
  });
  await world.addAdapter('first', 's3://sluice-weights/org_1/changing/');
  await world.addAdapter('second');
  await world.addAdapter('third');
  await world.run(5 * MINUTE_MS);
  expect(await stateOf(world)).toEqual(['pending', 'ready', 'ready']);
  await world.run(60 * MINUTE_MS, MINUTE_MS);
  expect(await stateOf(world)).toEqual(['adapter_not_packed', 'ready', 'ready']);
});

test('is packed at the same time as only two others of its organization, so that others’ passes go on', async () => {
  const organization = newId('organization');
  const names = ['one', 'two', 'three', 'four', 'five'];
  const worlds: World[] = [];
  for (const name of names) worlds.push(await createWorld(database, { generations: supporting(), organization, name }));
  const release = Promise.withResolvers<void>();
  let packing = 0;
  for (const { dependencies } of worlds)
    jest.spyOn(dependencies.aws.files, 'pack').mockImplementation(async () => {
      packing++;
      await release.promise;
      return { rank: 8, bytes: 1_000 };
    });
  for (const [i, world] of worlds.entries()) await world.addAdapter(`of-${names[i]}`);
  let ended = 0;
  const passes = worlds.map(async (world) => {
    await world.pass();
    ended++;
  });
  await eventually(async () => packing + ended >= names.length && ended >= 2, 'those that may not pack have ended');
  expect(packing).toBe(MAX_PACKED_AT_ONCE);
  expect(MAX_PACKED_AT_ONCE).toBeLessThanOrEqual(Reconciliations.CONCURRENCY / 2);
  release.resolve();
  await Promise.all(passes);
  await Promise.all(worlds.map((world) => world.pass()));
  expect(packing).toBe(names.length);
});

test('sleeps and wakes with its deployment, without being created again', async () => {
  const world = await start({ scale_to_zero_after_seconds: 300 });
  await world.addAdapter('legal');
  await world.run(30 * MINUTE_MS);
  expect((await world.read()).state).toBe('scaled_to_zero');
  expect(await rowOf(world, 'legal')).toMatchObject({ deployment: { id: world.id, is_ready: false } });
  // Its components exist, but nothing runs for them.
  expect(componentsOf(world)).toHaveLength(2);
  await world.change((row) => ({ ...inState(row, 'waking', world.plane.now()), wake: { started_at: world.plane.now() } }));
  await world.run(3 * MINUTE_MS);
  expect(await rowOf(world, 'legal')).toMatchObject({ deployment: { is_ready: true } });
  expect(Object.values(world.plane.account.proof().created).filter((count) => count > 1)).toEqual([]);
});

test('waits for copies if its deployment sleeps when it is added', async () => {
  const world = await start({ scale_to_zero_after_seconds: 300 });
  await world.run(30 * MINUTE_MS);
  await world.addAdapter('legal');
  await world.run(2 * MINUTE_MS);
  expect([await stateOf(world), componentsOf(world)]).toEqual([['creating'], [baseOf(world)]]);
  expect(isChangingAdapters(await world.read())).toBe(false);
  await world.change((row) => ({ ...inState(row, 'waking', world.plane.now()), wake: { started_at: world.plane.now() } }));
  await world.run(3 * MINUTE_MS);
  expect(await stateOf(world)).toEqual(['ready']);
});

test.each<[what: string, fields: Partial<Deployment>, source: string | undefined, code: string]>([
  ['files that can’t be used', {}, UNUSABLE_SOURCE, 'adapter_invalid'],
  ['containers that load none', { generations: newDeployment({ organization: 'org_1' }).generations }, undefined, 'creating'],
  ['containers for a lower rank', { generations: supporting(4) }, undefined, 'creating'],
])('is never created on AWS with %s', async (_, fields, source, code) => {
  const world = await start(fields);
  await world.addAdapter('legal', source);
  await world.run(5 * MINUTE_MS);
  expect(await stateOf(world)).toEqual([code]);
  expect(componentsOf(world)).toEqual([baseOf(world)]);
  if (code !== 'creating') expect([await rowOf(world, 'legal'), [...world.archives]]).toEqual([undefined, []]);
});

test('fails if the containers can’t load it, without its deployment, and nothing of it is left', async () => {
  const world = await start();
  const environment = jest.spyOn(world.dependencies.aws.sageMaker, 'createAdapter');
  environment.mockRejectedValueOnce(Object.assign(new Error('Could not load the artifacts.'), { name: 'ValidationException' }));
  await world.addAdapter('broken');
  await world.addAdapter('legal');
  await world.run(5 * MINUTE_MS);
  expect(await stateOf(world)).toEqual(['rejected_by_aws', 'ready']);
  expect([(await world.read()).state, [...world.archives].length, componentsOf(world).length]).toEqual(['in_service', 1, 2]);
  expect(await rowOf(world, 'broken')).toBeUndefined();
});

test('fails if SageMaker reports that running containers could not load it', async () => {
  const world = await start();
  const { listComponentsOn } = world.dependencies.aws.sageMaker;
  const listed = jest.spyOn(world.dependencies.aws.sageMaker, 'listComponentsOn');
  listed.mockImplementation(async (name) =>
    (await listComponentsOn(name)).map((each) => (each.name === name ? each : { ...each, status: 'Failed' })),
  );
  await world.addAdapter('legal');
  await world.run(3 * MINUTE_MS);
  expect([await stateOf(world), componentsOf(world), [...world.archives]]).toEqual([['adapter_not_loaded'], [baseOf(world)], []]);
  expect((await world.read()).state).toBe('in_service');
});

test('is tried again while its files change or S3 doesn’t answer, and fails after an hour', async () => {
  const world = await start();
  const pack = jest.spyOn(world.dependencies.aws.files, 'pack');
  pack.mockRejectedValue(Object.assign(new Error('Slow down.'), { name: 'SlowDown', $metadata: { httpStatusCode: 503 } }));
  await world.addAdapter('legal');
  await world.run(59 * MINUTE_MS, MINUTE_MS);
  expect(await stateOf(world)).toEqual(['pending']);
  expect(pack.mock.calls.length).toBeGreaterThan(50);
  await world.run(3 * MINUTE_MS);
  expect(await stateOf(world)).toEqual(['adapter_not_packed']);
});

test('fails if a model that was registered by hand has its name, which stays as it is', async () => {
  const world = await start();
  const other = { ...((await world.model()) as NonNullable<Awaited<ReturnType<World['model']>>>), name: 'legal', deployment: undefined };
  await database.models.put(world.organization, other);
  await world.addAdapter('legal');
  await world.run(2 * MINUTE_MS);
  expect(await stateOf(world)).toEqual(['name_in_use']);
  expect((await rowOf(world, 'legal'))?.deployment).toBeUndefined();
});

test('is found and removed with its deployment even if the row has forgotten it', async () => {
  const world = await start();
  await world.addAdapter('legal');
  await world.run(2 * MINUTE_MS);
  await world.change({ adapters: [] });
  await want(world, 'deleted');
  await world.run(5 * MINUTE_MS);
  expect((await world.read()).state).toBe('deleted');
  expect([componentsOf(world), [...world.archives]]).toEqual([[], []]);
});

describe('the surcharge on its tokens', () => {
  const surcharge = (version: string, effective_at: number, prompt_nanos: number): Price => ({
    version,
    effective_at,
    prompt_nanos,
    completion_nanos: 2 * prompt_nanos,
    is_surcharge: true,
  });
  const pricesOf = async (world: World): Promise<Price[]> => (await rowOf(world, 'legal'))?.prices ?? [];
  const chargedAt = async (world: World, ms: number): Promise<number | undefined> => priceAt(await pricesOf(world), ms)?.prompt_nanos;

  test('begins with its price version, also while the deployment sleeps, and the base stays free', async () => {
    const world = await start({ scale_to_zero_after_seconds: 300 });
    await world.addAdapter('legal');
    await world.run(30 * MINUTE_MS);
    expect((await world.read()).state).toBe('scaled_to_zero');
    const [free] = await pricesOf(world);
    expect(free).toMatchObject({ prompt_nanos: 0, completion_nanos: 0 });
    const fromMs = world.plane.now() + 10 * MINUTE_MS;
    world.surcharges.push(surcharge('price_1', fromMs, 1_000));
    await world.run(MINUTE_MS);
    expect(await pricesOf(world)).toEqual([free, world.surcharges[0]]);
    expect([await chargedAt(world, fromMs - 1), await chargedAt(world, fromMs)]).toEqual([0, 1_000]);
    expect((await world.model())?.prices).toEqual([expect.objectContaining({ prompt_nanos: 0, completion_nanos: 0 })]);
  });

  test('applies to a new adapter from its beginning if it was in force', async () => {
    const world = await start();
    world.surcharges.push(surcharge('price_0', 0, 7), surcharge('price_1', 1, 1_000));
    await world.addAdapter('legal');
    await world.run(2 * MINUTE_MS);
    const [adapter] = await adaptersOf(world);
    expect(await chargedAt(world, adapter?.created_at ?? 0)).toBe(1_000);
    // Neither an older surcharge nor a free price is stored, because they never apply.
    expect(await pricesOf(world)).toEqual(world.surcharges.slice(1));
  });

  test('can still be looked up after the adapter, or its deployment, is deleted', async () => {
    const world = await start();
    world.surcharges.push(surcharge('price_1', 1, 1_000));
    const id = await world.addAdapter('legal');
    await world.addAdapter('medical');
    await world.run(2 * MINUTE_MS);
    await remove(world, id);
    await world.run(3 * MINUTE_MS);
    const retired = (name: string) => database.models.retiredPrices(world.organization, name);
    expect([await rowOf(world, 'legal'), await retired('legal')]).toEqual([undefined, world.surcharges]);
    // An adapter that gets the name keeps them, once each.
    const next = await world.addAdapter('legal');
    world.surcharges.push(surcharge('price_2', world.plane.now(), 2_000));
    await world.run(2 * MINUTE_MS);
    await remove(world, next);
    await world.run(3 * MINUTE_MS);
    expect(await retired('legal')).toEqual(world.surcharges);
    await want(world, 'deleted');
    await world.run(5 * MINUTE_MS);
    expect(await retired('medical')).toEqual(world.surcharges);
  });
});
