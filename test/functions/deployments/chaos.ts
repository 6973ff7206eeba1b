import fc from 'fast-check';
import { isChangingAdapters } from '../../../functions/deployments/reconcile/adapters.ts';
import { windowsToServe } from '../../../functions/deployments/reconcile/apply-schedule.ts';
import type { ReconcileDependencies } from '../../../functions/deployments/reconcile/reconcile.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { MAX_ADAPTERS } from '../../../shared/deployments/adapter.ts';
import { type Deployment, inState } from '../../../shared/deployments/deployment.ts';
import { createDeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { type ScheduleWindow, WEEKDAYS } from '../../../shared/deployments/schedule.ts';
import { addShadow, endShadow } from '../../../shared/deployments/shadow.ts';
import { createShadowStore } from '../../../shared/deployments/shadow-store.ts';
import { ASLEEP, isTransitional } from '../../../shared/deployments/state.ts';
import { OutOfCredit } from '../../../shared/gpu-time/start-credit.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { createModelStore } from '../../../shared/models/model-store.ts';
import type { Price } from '../../../shared/prices/price.ts';
import { MINUTE_MS, SECOND_MS } from '../../../shared/time/units.ts';
import type { TestDatabase } from '../../support/emulators/database.ts';
import type { CallFate } from '../../support/emulators/sagemaker-control-plane.ts';
import { Crash, Unreachable, unreliable } from '../../support/faults/unreliable-database.ts';
import { createBenchmarkLife, type StartedBenchmark } from './benchmark-life.ts';
import { UNUSABLE_SOURCE, type World } from './world.ts';

interface PassFaults {
  /** The fates of its calls of AWS, in order; later calls succeed. */
  fates: readonly CallFate[];
  /** The process crashes at this call of AWS or of the database, before or after it. */
  crashAt?: { service: 'aws' | 'database'; index: number; when: 'before' | 'after' } | undefined;
  lostReplies: number;
  seed: number;
}

/** An event in the life of a deployment. */
export type Command =
  | { kind: 'wait'; seconds: number }
  | ({ kind: 'pass' } & PassFaults)
  | ({ kind: 'two_passes' } & PassFaults)
  | { kind: 'slow_pass'; seconds: number }
  | { kind: 'repeat_message' }
  | { kind: 'want'; wanted: Deployment['wanted'] }
  | { kind: 'roll_out'; percent: number }
  | { kind: 'shift'; percent: number }
  | { kind: 'shadow'; percent: number; maxRequests: number; minutes: number }
  | { kind: 'end_shadow' }
  | { kind: 'shadow_requests' }
  | { kind: 'retry' }
  | { kind: 'copies'; min: number; max: number }
  | { kind: 'idle_time'; seconds: number | null }
  | { kind: 'schedule'; opensInMinutes: number; minutes: number; copies: number }
  | { kind: 'no_schedule' }
  | { kind: 'credit'; isUsedUp: boolean }
  | { kind: 'suspend'; isSuspended: boolean }
  | { kind: 'wake' }
  | { kind: 'use'; isInUse: boolean }
  | { kind: 'add_adapter'; isUsable: boolean }
  | { kind: 'delete_adapter'; index: number }
  | ({ kind: 'benchmark' } & StartedBenchmark)
  | { kind: 'cancel_benchmark' }
  | { kind: 'kill_benchmark' }
  | { kind: 'delete_by_hand'; resources: number }
  | { kind: 'break'; fault: 'insufficient_capacity' | 'image_pull' | 'crash_loop' | 'health_check_timeout' };

const fate = fc.oneof(
  { weight: 6, arbitrary: fc.constant<CallFate>('succeed') },
  { weight: 4, arbitrary: fc.constantFrom<CallFate>('fail_before', 'lose_reply', 500, 503) },
);
const faults = {
  fates: fc.array(fate, { maxLength: 12 }),
  crashAt: fc.option(
    fc.record({
      service: fc.constantFrom('aws' as const, 'database' as const),
      index: fc.nat(12),
      when: fc.constantFrom('before' as const, 'after' as const),
    }),
    { nil: undefined },
  ),
  lostReplies: fc.constantFrom(0, 0, 0.2),
  seed: fc.nat(),
};
const healthy = fc.record({
  kind: fc.constant('pass' as const),
  fates: fc.constant<CallFate[]>([]),
  crashAt: fc.constant(undefined),
  lostReplies: fc.constant(0),
  seed: fc.constant(0),
});

type Weighted = fc.WeightedArbitrary<Command>;

const rollouts: Weighted[] = [
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('roll_out' as const), percent: fc.constantFrom(10, 100) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('shift' as const), percent: fc.constantFrom(0, 50, 100) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('shadow' as const),
      percent: fc.constantFrom(1, 25),
      maxRequests: fc.constantFrom(1, 1_000),
      minutes: fc.constantFrom(1, 600),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'end_shadow' as const }, { kind: 'shadow_requests' as const }) },
];

const want = (wanted: Deployment['wanted'][]) => fc.record({ kind: fc.constant('want' as const), wanted: fc.constantFrom(...wanted) });

// A pass makes no call after 15 s, and a call can take about ten, with its repetition.
const MAX_SLOW_SECONDS = 25;
// The owner ends what a slow pass is still creating, and other passes find nothing: too rare by chance.
const overtakenCreation: fc.Arbitrary<Command[]> = fc
  .tuple(
    fc.integer({ min: 10, max: MAX_SLOW_SECONDS }),
    want(['stopped', 'deleted']),
    fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 2, maxLength: 4 }),
  )
  .map(([seconds, ending, waits]) => [
    { kind: 'slow_pass', seconds },
    ending,
    ...waits.flatMap((each): Command[] => [{ kind: 'wait', seconds: each }, { kind: 'repeat_message' }]),
  ]);

const healthyPasses = (waits: readonly number[]): Command[] =>
  waits.flatMap((seconds): Command[] => [{ kind: 'repeat_message' }, { kind: 'wait', seconds }]);
const anySchedule = fc.record({
  kind: fc.constant('schedule' as const),
  opensInMinutes: fc.integer({ min: -60, max: 60 }),
  minutes: fc.integer({ min: 1, max: 180 }),
  copies: fc.integer({ min: 1, max: 3 }),
});
// It sleeps when its owner sets a schedule.
const scheduledSleep: fc.Arbitrary<Command[]> = anySchedule.map((schedule) => [...healthyPasses([5, 5, 5, 900, 5, 5]), schedule]);

const anyBenchmark: fc.Arbitrary<Command> = fc.record({
  kind: fc.constant('benchmark' as const),
  // A level must be paid for as many instances as there can be.
  budgetSeconds: fc.constantFrom(100, 250, 10_000),
  maxConcurrency: fc.integer({ min: 1, max: 4 }),
  ttftGoalMs: fc.constantFrom(350, 550, 5_000),
  // With the longer one, a level takes its 90 seconds.
  firstMs: fc.constantFrom(400, 2_500),
  apply: fc.boolean(),
  lateMs: fc.constantFrom(0, 0, 0, 20 * SECOND_MS, 60 * MINUTE_MS),
  runs: fc.array(
    fc.record({
      killAt: fc.option(fc.record({ call: fc.nat(40), when: fc.constantFrom('before' as const, 'after' as const) }), { nil: undefined }),
      levels: fc.constantFrom(1, 100),
    }),
    { maxLength: 3 },
  ),
});
// A benchmark begins while the deployment is in service, and something happens before it ends.
const benchmarked: fc.Arbitrary<Command[]> = fc
  .tuple(
    anyBenchmark,
    fc.array(
      fc.tuple(
        fc.integer({ min: 1, max: 100 }),
        fc.oneof<Weighted[]>(
          { weight: 3, arbitrary: want(['running', 'stopped', 'deleted']) },
          { weight: 2, arbitrary: fc.constantFrom({ kind: 'cancel_benchmark' as const }, { kind: 'kill_benchmark' as const }) },
          { weight: 2, arbitrary: fc.constant({ kind: 'repeat_message' as const }) },
          { weight: 1, arbitrary: fc.constant({ kind: 'suspend' as const, isSuspended: true }) },
          { weight: 1, arbitrary: anyBenchmark },
        ),
      ),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([benchmark, happenings]) => [
    ...healthyPasses([5, 5, 5]),
    benchmark,
    { kind: 'repeat_message' },
    ...happenings.flatMap(([seconds, happening]): Command[] => [{ kind: 'wait', seconds }, happening, { kind: 'repeat_message' }]),
  ]);

/** Any order of events, most of them passes. @param hasRollouts true if its owner rolls out new generations */
export const anyCommands = (hasRollouts: boolean): fc.Arbitrary<Command[]> =>
  fc
    .tuple(
      fc.oneof(
        { weight: 8, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: overtakenCreation },
        { weight: 3, arbitrary: scheduledSleep },
        { weight: 4, arbitrary: benchmarked },
      ),
      anyOrder(hasRollouts),
    )
    .map((all) => all.flat());

const anyOrder = (hasRollouts: boolean): fc.Arbitrary<Command[]> =>
  fc.array(
    fc.oneof<Weighted[]>(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 900 }) }) },
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('pass' as const), ...faults }) },
      { weight: 5, arbitrary: healthy },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('two_passes' as const), ...faults }) },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('slow_pass' as const), seconds: fc.integer({ min: 1, max: MAX_SLOW_SECONDS }) }),
      },
      { weight: 1, arbitrary: fc.constant({ kind: 'repeat_message' as const }) },
      { weight: 3, arbitrary: want(['running', 'stopped', 'deleted']) },
      ...(hasRollouts ? rollouts : []),
      { weight: 1, arbitrary: fc.constant({ kind: 'retry' as const }) },
      { weight: 1, arbitrary: fc.constantFrom({ kind: 'copies' as const, min: 1, max: 1 }, { kind: 'copies' as const, min: 2, max: 3 }) },
      { weight: 2, arbitrary: anySchedule },
      { weight: 1, arbitrary: fc.constant({ kind: 'no_schedule' as const }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('credit' as const), isUsedUp: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('suspend' as const), isSuspended: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('idle_time' as const), seconds: fc.constantFrom(null, 300) }) },
      { weight: 2, arbitrary: fc.constant({ kind: 'wake' as const }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('use' as const), isInUse: fc.boolean() }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('add_adapter' as const), isUsable: fc.boolean() }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete_adapter' as const), index: fc.nat(2) }) },
      { weight: 2, arbitrary: anyBenchmark },
      { weight: 1, arbitrary: fc.constantFrom({ kind: 'cancel_benchmark' as const }, { kind: 'kill_benchmark' as const }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete_by_hand' as const), resources: fc.integer({ min: 1, max: 3 }) }) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('break' as const),
          fault: fc.constantFrom(
            'insufficient_capacity' as const,
            'image_pull' as const,
            'crash_loop' as const,
            'health_check_timeout' as const,
          ),
        }),
      },
    ),
    { minLength: 2, maxLength: 14 },
  );

// Far more than any life needs.
const MAX_PASSES = 60;

const surchargeFrom = (effective_at: number, number: number): Price => ({
  ...{ version: `price_${number}`, effective_at, is_surcharge: true },
  ...{ prompt_nanos: number, completion_nanos: number },
});

// The linear congruential generator of Numerical Recipes.
const randomFrom = (seed: number) => {
  let state = seed >>> 0;
  return (): number => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 16);

// Once a week.
const windowAt = (opensMs: number, { minutes, copies }: { minutes: number; copies: number }): ScheduleWindow => ({
  days: WEEKDAYS.slice(new Date(opensMs).getUTCDay()).slice(0, 1),
  from: clock(opensMs),
  to: clock(opensMs + minutes * MINUTE_MS),
  time_zone: 'UTC',
  min_copies: copies,
});

type Aws = ReconcileDependencies['aws'];
type Around = (call: () => Promise<unknown>) => Promise<unknown>;

const wrap = (aws: Aws, around: Around): Aws => {
  const wrapped = <Service extends object>(service: Service): Service =>
    Object.fromEntries(
      Object.entries(service).map(([name, method]) => [
        name,
        (...input: unknown[]) => around(() => (method as (...i: unknown[]) => Promise<unknown>)(...input)),
      ]),
    ) as Service;
  return { ...aws, sageMaker: wrapped(aws.sageMaker), scaling: wrapped(aws.scaling), log: wrapped(aws.log), files: wrapped(aws.files) };
};

const wrapChanges = (aws: Aws, around: Around): Aws => {
  const isChange = (name: string): boolean => /^(?:create|set|delete|register|put|deregister|pack|remove)/.test(name);
  const wrapped = <Service extends object>(service: Service): Service =>
    Object.fromEntries(
      Object.entries(service).map(([name, method]) => [
        name,
        isChange(name) ? (...input: unknown[]) => around(() => (method as (...i: unknown[]) => Promise<unknown>)(...input)) : method,
      ]),
    ) as Service;
  return { ...aws, sageMaker: wrapped(aws.sageMaker), scaling: wrapped(aws.scaling), files: wrapped(aws.files) };
};

const withStores = (test: TestDatabase, deps: ReconcileDependencies, over: TestDatabase['database']): ReconcileDependencies => ({
  ...deps,
  database: over,
  deployments: createDeploymentStore(createRecordTable(over, test.tables.Deployments as string)),
  models: createModelStore(over, test.tables.Models as string),
});

const faulty = (test: TestDatabase, { dependencies }: World, { crashAt, lostReplies, seed }: PassFaults): ReconcileDependencies => {
  const counts = { aws: 0, database: 0 };
  const crashes = (service: 'aws' | 'database', when: 'before' | 'after', index: number): boolean =>
    crashAt?.service === service && crashAt.when === when && crashAt.index === index;
  let isCrashed = false;
  const crash = (): never => {
    isCrashed = true;
    throw new Crash();
  };
  const over = unreliable(test.database, {
    random: randomFrom(seed),
    lostRequests: 0,
    lostReplies,
    // After a crash, nothing more of the pass happens.
    crash: (_, when) => {
      const index = when === 'before' ? counts.database++ : counts.database - 1;
      isCrashed ||= crashes('database', when, index);
      return isCrashed;
    },
  });
  const aws = wrap(dependencies.aws, async (call) => {
    const index = counts.aws++;
    if (isCrashed || crashes('aws', 'before', index)) crash();
    const reply = await call();
    if (isCrashed || crashes('aws', 'after', index)) crash();
    return reply;
  });
  return { ...withStores(test, dependencies, over as TestDatabase['database']), aws };
};

const isExpected = (error: unknown): boolean => error instanceof Crash || error instanceof Unreachable;

/** The life of one deployment: commands are applied in order, then everything works again. */
export const createLife = (test: TestDatabase, world: World, setFates: (fates: readonly CallFate[]) => void) => {
  let restarts = 0;
  let adaptersAdded = 0;
  let isTouchedByHand = false;
  const slow: { release: () => void; done: Promise<unknown>; untilMs: number }[] = [];
  const benchmarks = createBenchmarkLife(test, world);

  const pass = async (deps?: ReconcileDependencies): Promise<void> => {
    try {
      await world.pass(deps);
      await benchmarks.resume();
    } catch (error) {
      if (!isExpected(error)) throw error;
    }
  };

  /** A pass whose changes wait for up to a minute, while others go on. */
  const slowPass = (seconds: number): void => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const aws = wrapChanges(world.dependencies.aws, async (call) => {
      await gate;
      return call();
    });
    slow.push({ release, done: pass({ ...world.dependencies, aws }), untilMs: world.plane.now() + seconds * SECOND_MS });
  };

  const finish = async (isDue: (untilMs: number) => boolean): Promise<void> => {
    for (const each of slow.filter(({ untilMs }) => isDue(untilMs))) {
      each.release();
      await each.done;
      slow.splice(slow.indexOf(each), 1);
      await benchmarks.look();
    }
  };

  const advance = async (ms: number): Promise<void> => {
    if (benchmarks.exists()) await benchmarks.clock.moveTo(world.plane.now() + ms);
    else world.plane.advance(ms);
  };

  /** No function runs for longer than its timeout. */
  const wait = async (ms: number): Promise<void> => {
    // A slow pass reaches its first change within these turns of the event loop.
    await new Promise((resolve) => setTimeout(resolve, slow.length > 0 ? 5 : 0));
    const end = world.plane.now() + ms;
    for (const { untilMs } of slow.toSorted((one, other) => one.untilMs - other.untilMs)) {
      if (untilMs > end) break;
      if (untilMs > world.plane.now()) await advance(untilMs - world.plane.now());
      await finish((dueMs) => dueMs <= untilMs);
    }
    await advance(end - world.plane.now());
  };

  const unlessOvertaken = (error: unknown): void => {
    if (!(error instanceof PreconditionFailed)) throw error;
  };
  const change = async (changes: (row: Deployment) => Partial<Deployment> | undefined): Promise<void> => {
    const row = await world.read();
    if (row.wanted === 'deleted') return;
    const fields = changes(row);
    if (!fields) return;
    await world.change(fields).catch(unlessOvertaken);
  };

  const appended = (row: Deployment): Deployment['generations'] => {
    const last = row.generations.at(-1) as Deployment['generations'][number];
    const { reason: _, ...planned } = last;
    return [...row.generations, { ...planned, number: last.number + 1, status: 'creating', created_at: world.plane.now() }];
  };
  const isLive = ({ status }: Deployment['generations'][number]): boolean => status === 'creating' || status === 'ready';

  const happen = async (command: Command): Promise<void> => {
    const { plane } = world;
    switch (command.kind) {
      case 'wait':
        return wait(command.seconds * SECOND_MS);
      case 'pass':
        setFates(command.fates);
        await pass(faulty(test, world, command));
        return setFates([]);
      case 'two_passes':
        setFates(command.fates);
        await Promise.all([pass(faulty(test, world, command)), pass()]);
        return setFates([]);
      case 'slow_pass':
        return slowPass(command.seconds);
      case 'repeat_message':
        await pass();
        return pass();
      case 'want':
        return change((row) => {
          if (row.wanted === command.wanted) return undefined;
          if (command.wanted === 'running') restarts++;
          const to = { running: 'pending', stopped: 'stopping', deleted: 'deleting' } as const;
          const { state, state_since, transitions } = inState(row, to[command.wanted], plane.now());
          return { wanted: command.wanted, state, state_since, transitions };
        });
      case 'roll_out':
        return change((row) => {
          const live = row.generations.filter(isLive);
          const isOpen = row.wanted === 'running' && row.generations.length < 4 && live.length === 1 && live[0]?.status === 'ready';
          return isOpen ? { generations: appended(row), traffic_percent: command.percent } : undefined;
        });
      case 'shift':
        return change((row) => (row.generations.filter(isLive).length > 1 ? { traffic_percent: command.percent } : undefined));
      case 'shadow': {
        const row = await world.read();
        const live = row.generations.filter(isLive);
        const isOpen = row.wanted === 'running' && row.generations.length < 4 && live.length === 1 && live[0]?.status === 'ready';
        if (!isOpen && live.length < 2) return;
        const generations = isOpen ? appended(row) : row.generations;
        const { percent, maxRequests: max_requests, minutes } = command;
        const settings = { percent, max_requests, max_tokens: 1_000_000, max_seconds: minutes * 60 };
        const generation = generations.at(-1)?.number ?? 0;
        const { shadows } = addShadow(row, settings, generation, plane.now());
        const store = createShadowStore(test.database, test.tables.Deployments as string);
        await transact(test.database, [store.toCreate(row.id, shadows?.at(-1)?.number ?? 0)]);
        return change(() => ({ generations, traffic_percent: 0, ...(shadows && { shadows }) }));
      }
      case 'end_shadow':
        return change((row) => {
          const { shadows } = endShadow(row, 'owner', plane.now());
          return shadows && { shadows };
        });
      case 'shadow_requests': {
        const row = await world.read();
        const { shadow } = (await world.model())?.deployment ?? {};
        if (!shadow) return;
        const store = createShadowStore(test.database, test.tables.Deployments as string);
        const reservation = { id: 'a', tokens: 1, nowMs: plane.now(), expiresAtMs: plane.now() };
        await store.reserve(row.id, shadow, reservation);
        return;
      }
      case 'retry':
        return change((row) => {
          if (row.state !== 'failed' || row.generations.length >= 4) return undefined;
          const { state, state_since, transitions } = inState(row, 'pending', plane.now());
          return { wanted: 'running', generations: appended(row), traffic_percent: 100, state, state_since, transitions };
        });
      case 'copies':
        return change(() => ({ copies: { min: command.min, max: command.max } }));
      case 'idle_time':
        return change(() => ({ scale_to_zero_after_seconds: command.seconds }));
      case 'schedule':
        return change(() => ({ schedule: [windowAt(plane.now() + command.opensInMinutes * MINUTE_MS, command)] }));
      case 'no_schedule':
        return change(() => ({ schedule: [] }));
      case 'credit':
        world.dependencies.holdStartCredit = async (deployment) => {
          if (command.isUsedUp) throw new OutOfCredit(deployment.name, { neededNanos: 2n, availableNanos: 1n });
          return { writes: [] };
        };
        return;
      case 'suspend':
        world.dependencies.isSuspended = async () => command.isSuspended;
        return;
      case 'wake':
        return change((row) => {
          if (!ASLEEP.includes(row.state) || row.wanted !== 'running') return undefined;
          const { state, state_since, transitions } = inState(row, 'waking', plane.now());
          return { state, state_since, transitions, wake: { started_at: plane.now() } };
        });
      case 'use':
        world.use.isInUse = command.isInUse;
        if (command.isInUse) world.use.lastEventAtMs = plane.now();
        return;
      case 'add_adapter': {
        const { wanted, adapters = [] } = await world.read();
        if (wanted === 'deleted' || adapters.length >= MAX_ADAPTERS) return;
        // An admin changes the surcharge at the same time.
        const isPriced = world.surcharges.at(-1)?.effective_at === plane.now();
        if (command.isUsable && !isPriced) world.surcharges.push(surchargeFrom(plane.now(), world.surcharges.length + 1));
        await world.addAdapter(`adapter-${++adaptersAdded}`, command.isUsable ? undefined : UNUSABLE_SOURCE).catch(unlessOvertaken);
        return;
      }
      case 'delete_adapter':
        return change(({ adapters }) => {
          const adapter = adapters?.[command.index];
          if (!adapter) return undefined;
          const { packed: _, reason: __, ...rest } = adapter;
          return { adapters: adapters.with(command.index, { ...rest, state: 'deleting' }) };
        });
      case 'benchmark':
        return benchmarks.start(command);
      case 'cancel_benchmark':
        return benchmarks.cancel();
      case 'kill_benchmark':
        return benchmarks.kill();
      case 'delete_by_hand': {
        isTouchedByHand = true;
        for (let i = 0; i < command.resources; i++) {
          world.deleteByHand();
          await wait(SECOND_MS);
        }
        return;
      }
      case 'break':
        plane.account.configure({ ...plane.account.settings(), faults: [{ kind: command.fault, times: 1 }] });
    }
  };

  const apply = async (command: Command): Promise<void> => {
    await happen(command);
    await benchmarks.arrive();
    await benchmarks.look();
  };

  return {
    apply,
    benchmarks,
    /** True if a window of its schedule is open. */
    isScheduled: (row: Deployment): boolean => windowsToServe(row, 0, world.plane.now()) !== undefined,
    /** How often the owner started the deployment again. */
    restarts: () => restarts,
    isTouchedByHand: () => isTouchedByHand,
    /** The number of adapters that its owner added. */
    adaptersAdded: () => adaptersAdded,
    /** Ends faults, slow passes and use, pays the credit, and lets the queue and the schedule do the rest. */
    settle: async (): Promise<Deployment> => {
      setFates([]);
      benchmarks.endFaults();
      world.plane.account.configure({ ...world.plane.account.settings(), faults: [] });
      await wait(MINUTE_MS);
      world.use.isInUse = false;
      await apply({ kind: 'credit', isUsedUp: false });
      await apply({ kind: 'suspend', isSuspended: false });
      // Longer than a replaced generation is kept.
      const pauses = [12 * MINUTE_MS];
      let row = await world.read();
      for (let passes = 0; passes < MAX_PASSES; passes++) {
        const { version } = row;
        const [calls, files] = [world.plane.calls.length, world.fileChanges()];
        const outcome = await world.pass();
        await benchmarks.arrive();
        await benchmarks.resume();
        row = (await benchmarks.look()) ?? (await world.read());
        if (benchmarks.isOpen()) {
          // The next pass begins while it runs.
          await wait(20 * SECOND_MS);
          await benchmarks.look();
        } else if (outcome === 'settled') break;
        else if (hasChanged(world, calls) || world.fileChanges() > files) await advance(15 * SECOND_MS);
        else if (row.version !== version || isTransitional(row.state) || isChangingAdapters(row)) await advance(95 * SECOND_MS);
        else if (pauses.length > 0 && hasEnded(row)) await advance(pauses.pop() ?? 0);
        else break;
      }
      await benchmarks.arriveLast(row);
      return world.read();
    },
  };
};

const hasEnded = ({ generations }: Deployment): boolean => generations.some(({ status }) => status === 'failed' || status === 'retired');

const hasChanged = ({ plane }: World, index: number): boolean =>
  plane.calls.slice(index).some(({ operation }) => /^(?:Create|Update|Delete|Register|Put|Deregister)/.test(operation));
