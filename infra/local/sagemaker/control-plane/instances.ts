import type { Endpoint, Instance, Variant } from './records.ts';
import { FAILURES, overQuota } from './requests/errors.ts';
import { findEndpoint, nextSequence, type World } from './world.ts';

/** The bounds of a variant's number of instances. Without managed scaling, it is fixed. */
export const instanceBounds = ({ settings }: Variant): { min: number; max: number; isManaged: boolean } => {
  const scaling = settings.ManagedInstanceScaling;
  if (scaling?.Status === 'ENABLED') return { min: scaling.MinInstanceCount, max: scaling.MaxInstanceCount, isManaged: true };
  return { min: settings.InitialInstanceCount, max: settings.InitialInstanceCount, isManaged: false };
};

/** Instances of a type that all endpoints have or are about to get. */
const used = (world: World, instanceType: string): number =>
  [...world.endpoints.values()]
    .flatMap(({ variants }) => variants.flatMap(({ instances }) => instances))
    .filter(({ type }) => type === instanceType).length;

/** Throws ResourceLimitExceeded if the quota has no room for more instances of a type. */
export const checkQuota = (world: World, instanceType: string, delta: number): void => {
  const limit = world.quotas.limit(instanceType);
  const current = used(world, instanceType);
  if (current + delta > limit) throw overQuota(instanceType, limit, current, delta);
};

/** Returns why the quota has no room for one more instance of a type. */
const quotaRefusal = (world: World, instanceType: string): string | undefined => {
  try {
    checkQuota(world, instanceType, 1);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `ResourceLimitExceeded: ${error.message}` : String(error);
  }
};

/** Called with the reason when no pool can provide the instance, which is gone then. */
type OnFailure = (reason: string) => void;

/** Adds an instance that becomes ready later. Without capacity in a pool, the next one is tried. */
export const provision = (world: World, endpoint: Endpoint, variant: Variant, onFailure: OnFailure): Instance | undefined => {
  const [pool] = variant.pools;
  if (!pool) return undefined;
  const id = `i-${nextSequence(world).toString(16).padStart(17, '0')}`;
  const instance: Instance = { id, type: pool.InstanceType, state: 'provisioning', idleSince: undefined };
  variant.instances.push(instance);
  tryPool(world, { endpoint, variant, instance, onFailure }, 0);
  return instance;
};

interface Provisioning {
  endpoint: Endpoint;
  variant: Variant;
  instance: Instance;
  onFailure: OnFailure;
}

const tryPool = (world: World, provisioning: Provisioning, index: number): void => {
  const { endpoint, variant, instance, onFailure } = provisioning;
  const { timeline, faults } = world;
  const { times } = world.settings();
  const exists = (): boolean => findEndpoint(world, endpoint.name) === endpoint && variant.instances.includes(instance);
  const later = (delayMs: number, event: () => void): void => timeline.after(delayMs, () => exists() && event());
  const fail = (reason: string): void => {
    variant.instances = variant.instances.filter((other) => other !== instance);
    onFailure(reason);
  };
  const pool = variant.pools[index];
  if (!pool) {
    fail(FAILURES.insufficientCapacity);
    return;
  }
  // The instance itself must not count against the quota.
  instance.type = '';
  const refusal = quotaRefusal(world, pool.InstanceType);
  instance.type = pool.InstanceType;
  if (faults.claimPhase('stuck', endpoint.name)) {
    later(times.give_up_ms, () => fail(FAILURES.stuck));
  } else if (refusal !== undefined || faults.claimPhase('insufficient_capacity', endpoint.name, pool.InstanceType)) {
    const isLast = index + 1 === variant.pools.length;
    later(times.insufficient_capacity_ms, () => {
      if (isLast) fail(refusal ?? FAILURES.insufficientCapacity);
      else tryPool(world, provisioning, index + 1);
    });
  } else {
    later(times.instance_ms, () => {
      instance.state = 'ready';
      world.instanceTime.start(endpoint.name, instance.type, instance.id, timeline.time());
    });
  }
};

/** Ends the time of an instance and removes it. */
export const release = (world: World, variant: Variant, instance: Instance): void => {
  world.instanceTime.end(instance.id, world.timeline.time());
  variant.instances = variant.instances.filter((other) => other !== instance);
};
