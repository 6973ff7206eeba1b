import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { adapterNameOf, archiveKeyOf, awsNameOf } from '../../../shared/deployments/names.ts';
import { openShadow } from '../../../shared/deployments/shadow.ts';
import type { Price } from '../../../shared/prices/price.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../shared/time/units.ts';
import type { TestDatabase } from '../../support/emulators/database.ts';
import type { CallFate } from '../../support/emulators/sagemaker-control-plane.ts';
import { newDeployment } from '../../support/fixtures/deployments.ts';
import { anyCommands, type Command, createLife } from './chaos.ts';
import { createWorld, INSTALLATION, UNUSABLE_SOURCE, type World } from './world.ts';

const existing = ({ plane }: World) => {
  const { models, endpoint_configs, endpoints, inference_components, scalable_targets } = plane.account.proof();
  const namesOf = (resources: readonly { name: string }[]) => resources.map(({ name }) => name).sort();
  return {
    models: models.toSorted(),
    configs: endpoint_configs.toSorted(),
    endpoints: namesOf(endpoints),
    components: namesOf(inference_components),
    targets: scalable_targets.toSorted(),
  };
};

// A settled deployment has everything of its active generations, and nothing else.
const expected = (row: Deployment) => {
  const isRunning = row.wanted === 'running';
  const names = row.generations
    .filter(({ status }) => isRunning && (status === 'ready' || status === 'creating'))
    .map(({ number }) => awsNameOf(INSTALLATION.name, row.id, number))
    .sort();
  return { models: names, configs: names, endpoints: names, components: names, targets: isRunning ? expect.any(Array) : [] };
};

// Requests are sent only to a generation that exists and gets none of the traffic, while the deployment is awake.
const expectedShadow = (row: Deployment) => {
  const open = openShadow(row);
  const ready = row.generations.filter(({ status }) => status === 'ready');
  if (!open || row.state !== 'in_service' || ready.length < 2) return undefined;
  expect([ready.at(-1)?.number, row.traffic_percent]).toEqual([open.generation, 0]);
  return {
    ...{ number: open.number, percent: open.percent, max_requests: open.max_requests, max_tokens: open.max_tokens, dialect: 'vllm' },
    target: expect.objectContaining({ endpoint: awsNameOf(INSTALLATION.name, row.id, open.generation) }),
    ends_at: (open.started_at ?? 0) + open.max_seconds * SECOND_MS,
  };
};

// Adapters are loaded into copies: one that was added since the copies were removed waits for the next ones.
const loadedNames = (row: Deployment, isComplete: boolean): string[] =>
  expected(row).components.flatMap((name) =>
    (row.adapters ?? [])
      .filter(({ state }) => state === 'ready' || (state === 'creating' && isComplete))
      .map(({ id }) => adapterNameOf(name, id)),
  );

// Every adapter is loaded or has failed, and nothing is left of those that were deleted.
const checkAdapters = async (world: World, row: Deployment, added: number, mayFail: boolean): Promise<void> => {
  const adapters = row.adapters ?? [];
  const { id, organization, state } = row;
  const served = adapters.filter((adapter) => adapter.state !== 'failed');
  for (const adapter of served) {
    expect(adapter.packed).toBeDefined();
    expect(state === 'in_service' ? ['ready'] : ['ready', 'creating']).toContain(adapter.state);
  }
  for (const { source, reason } of adapters.filter((adapter) => adapter.state === 'failed')) {
    expect(reason?.code).toEqual(source === UNUSABLE_SOURCE ? 'adapter_invalid' : expect.any(String));
    if (!mayFail) expect(source).toBe(UNUSABLE_SOURCE);
  }
  expect([...world.archives].sort()).toEqual(served.map((adapter) => archiveKeyOf(organization, id, adapter.id)).sort());
  for (const name of adapterNames(added)) {
    const adapter = adapters.find((each) => each.name === name);
    expect(await world.store.idOf(organization, name)).toBe(adapter && id);
    const isServed = adapter !== undefined && adapter.state !== 'failed';
    const isReady = state === 'in_service' && adapter?.state === 'ready';
    const model = await world.dependencies.models.get(organization, name);
    expect(model?.deployment).toEqual(isServed ? { id, is_ready: isReady } : undefined);
    if (!isServed || !['in_service', 'scaled_to_zero'].includes(state)) continue;
    const isLater = ({ effective_at }: Price): boolean => effective_at > adapter.created_at;
    const inForce = world.surcharges.findLast((price) => !isLater(price));
    const free = expect.objectContaining({ effective_at: adapter.created_at, prompt_nanos: 0, completion_nanos: 0 });
    expect(model?.prices).toEqual([inForce ?? free, ...world.surcharges.filter(isLater)]);
  }
};

const adapterNames = (added: number): string[] => Array.from({ length: added }, (_, i) => `adapter-${i + 1}`);

// Usage events refer to the surcharges of an adapter's row, so they can be looked up for ever.
const createCharged = ({ dependencies: { models }, organization }: World) => {
  const charged = new Map<string, Set<string>>();
  const surchargesOf = (prices: readonly Price[] = []): string[] => prices.flatMap((price) => (price.is_surcharge ? [price.version] : []));
  return {
    note: async (added: number): Promise<void> => {
      for (const name of adapterNames(added)) {
        const versions = surchargesOf((await models.get(organization, name))?.prices);
        charged.set(name, new Set([...(charged.get(name) ?? []), ...versions]));
      }
    },
    check: async (): Promise<void> => {
      for (const [name, versions] of charged) {
        const retired = surchargesOf(await models.retiredPrices(organization, name));
        expect(retired.toSorted()).toEqual([...new Set(retired)].sort());
        const known = [...surchargesOf((await models.get(organization, name))?.prices), ...retired];
        expect(known).toEqual(expect.arrayContaining([...versions]));
      }
    },
  };
};

// A generation that went to sleep before it loaded an adapter loads it when it wakes.
const checkExisting = (world: World, row: Deployment): void => {
  const { components, ...others } = existing(world);
  const { components: wanted, ...otherwise } = expected(row);
  const isComplete = row.state === 'in_service';
  const loaded = loadedNames(row, isComplete);
  expect(others).toEqual(otherwise);
  expect(components.filter((name) => isComplete || !loaded.includes(name))).toEqual([...wanted, ...(isComplete ? loaded : [])].sort());
};

const SETTLED: Readonly<Record<Deployment['wanted'], readonly Deployment['state'][]>> = {
  running: ['in_service', 'scaled_to_zero', 'failed'],
  stopped: ['stopped'],
  deleted: ['deleted'],
};

const live = async (database: TestDatabase, commands: readonly Command[]): Promise<void> => {
  let fates: CallFate[] = [];
  const [generation] = newDeployment({ organization: 'org_1' }).generations as [Deployment['generations'][number]];
  const generations = [{ ...generation, adapters: { max_rank: 16, max_loaded: 2 } }];
  const world = await createWorld(database, { generations }, { fateOf: () => fates.shift() ?? 'succeed' });
  // Two generations in a window of three copies need more instances than the account has by default.
  world.plane.account.configure({ ...world.plane.account.settings(), quotas: { 'ml.g5.xlarge': 20 } });
  const life = createLife(database, world, (next) => {
    fates = [...next];
  });
  // A benchmark needs instances whose price is paid.
  world.dependencies.meterPass = async ({ deployment: { meter }, running }) => ({
    meter: running.length > 0 || meter ? { until: 0, running: [...running], held_nanos: 0n } : undefined,
    writes: [],
  });
  const charged = createCharged(world);
  for (const command of commands) {
    if (command.kind === 'delete_adapter' || command.kind === 'want') await charged.note(life.adaptersAdded());
    await life.apply(command);
  }
  const row = await life.settle();
  await charged.check();

  expect(SETTLED[row.wanted]).toContain(row.state);
  checkExisting(world, row);
  expect(life.benchmarks.check(row)).toEqual([]);
  // A container that a fault broke, or an endpoint that a person deleted, can take an adapter with it.
  await checkAdapters(world, row, life.adaptersAdded(), life.isTouchedByHand() || commands.some(({ kind }) => kind === 'break'));
  if (row.state === 'failed')
    expect(row.reason).toMatchObject({ code: expect.any(String), message: expect.any(String), action: expect.any(String) });
  for (const { status } of row.generations) if (row.state === 'in_service') expect(status).not.toBe('creating');
  // Faults of calls and crashes never make anything fail, nor does a person who deletes an endpoint while its
  // component starts.
  if (!commands.some(({ kind }) => kind === 'break')) expect(row.generations.filter(({ status }) => status === 'failed')).toEqual([]);
  const model = await world.model();
  if (row.state === 'deleted') {
    expect(model).toBeUndefined();
    expect(await world.store.idOf(row.organization, row.name)).toBeUndefined();
  } else {
    const shadow = expectedShadow(row);
    expect(model?.deployment).toEqual({ id: row.id, is_ready: row.state === 'in_service', ...(shadow && { shadow }) });
  }
  // Nothing is created twice, unless the owner stopped it or somebody deleted it in between.
  if (!life.isTouchedByHand())
    expect(Object.entries(world.plane.account.proof().created).filter(([, count]) => count > 1 + life.restarts())).toEqual([]);
  if (row.wanted !== 'running') expect(openShadow(row)).toBeUndefined();
  if (openShadow(row)) {
    world.plane.advance(DAY_MS);
    const after = await life.settle();
    const open = openShadow(after);
    // The time of one that has not started begins when the deployment is awake again.
    if (open) expect([after.state, open.started_at]).toEqual(['scaled_to_zero', undefined]);
    expect((await world.model())?.deployment).not.toHaveProperty('shadow');
    return;
  }
  if (row.wanted !== 'running' || !(row.schedule || life.benchmarks.exists())) return;
  // In a window, it runs. The day after, nothing runs that nobody uses.
  if (life.isScheduled(row)) expect(['in_service', 'failed']).toContain(row.state);
  world.plane.advance(DAY_MS);
  await life.settle();
  // Its last requests in a window are known only now.
  world.plane.advance(3 * MINUTE_MS);
  const later = await life.settle();
  expect(life.benchmarks.check(later)).toEqual([]);
  expect(later.scheduled).toBeUndefined();
  if (later.scale_to_zero_after_seconds !== null) expect(['scaled_to_zero', 'failed']).toContain(later.state);
  checkExisting(world, later);
  const instances = world.plane.account.proof().endpoints.reduce((sum, { instances: count }) => sum + count, 0);
  if (later.state !== 'in_service') expect(instances).toBe(0);
};

// The deletion of an endpoint that a stop had planned arrives while the next start creates a component on it.
const lateDeletion: Command[] = [
  { kind: 'slow_pass', seconds: 10 },
  { kind: 'want', wanted: 'stopped' },
  { kind: 'repeat_message' },
  { kind: 'wait', seconds: 11 },
  { kind: 'repeat_message' },
  { kind: 'wait', seconds: 1 },
  { kind: 'slow_pass', seconds: 7 },
  { kind: 'want', wanted: 'running' },
  { kind: 'slow_pass', seconds: 5 },
];

// The deletion of a configuration that a stop had planned arrives when the next start has created an endpoint from it.
const lateDeletionOfConfig: Command[] = [
  { kind: 'slow_pass', seconds: 10 },
  { kind: 'want', wanted: 'stopped' },
  { kind: 'wait', seconds: 10 },
  { kind: 'repeat_message' },
  { kind: 'wait', seconds: 2 },
  { kind: 'repeat_message' },
  { kind: 'wait', seconds: 1 },
  { kind: 'slow_pass', seconds: 1 },
  { kind: 'want', wanted: 'running' },
  { kind: 'pass', fates: [], lostReplies: 0, seed: 0 },
  { kind: 'use', isInUse: false },
  { kind: 'wait', seconds: 1 },
];

// The request for a benchmark has read the deployment before it was deleted, and writes after it is gone.
const lateBenchmark: Command[] = [
  ...[1, 2, 3].flatMap((): Command[] => [{ kind: 'repeat_message' }, { kind: 'wait', seconds: 100 }]),
  {
    kind: 'benchmark',
    ...{ budgetSeconds: 250, maxConcurrency: 2, ttftGoalMs: 550, firstMs: 400, apply: false, lateMs: 60 * 60 * SECOND_MS, runs: [] },
  },
  { kind: 'want', wanted: 'deleted' },
];

// The owner stops it and starts it again at once, and a pass finds that it still serves, so its benchmark goes on.
const briefStop: Command[] = [
  ...[1, 2, 3].flatMap((): Command[] => [{ kind: 'repeat_message' }, { kind: 'wait', seconds: 5 }]),
  {
    kind: 'benchmark',
    ...{ budgetSeconds: 10_000, maxConcurrency: 1, ttftGoalMs: 350, firstMs: 2_500, apply: false, lateMs: 0, runs: [] },
  },
  { kind: 'repeat_message' },
  { kind: 'wait', seconds: 1 },
  { kind: 'repeat_message' },
  { kind: 'want', wanted: 'stopped' },
  { kind: 'want', wanted: 'running' },
  { kind: 'schedule', opensInMinutes: 0, minutes: 1, copies: 1 },
  { kind: 'slow_pass', seconds: 1 },
];

// Fixed, so that a failure can be repeated; another one finds other lives.
const SEED = Number(process.env.LIVES_SEED ?? 20_261_123);

/** Lets so many deployments live. @returns their number */
export const liveMany = async (database: TestDatabase, runs: number, hasRollouts: boolean): Promise<number> => {
  let lives = 0;
  const property = fc.asyncProperty(anyCommands(hasRollouts), async (commands) => {
    lives++;
    await live(database, commands);
  });
  await fc.assert(property, {
    seed: SEED,
    numRuns: runs,
    examples: [[lateDeletion], [lateDeletionOfConfig], [lateBenchmark], [briefStop]],
  });
  return lives;
};
