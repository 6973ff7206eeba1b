import type { Endpoint, Instance, Variant } from './records.ts';
import { FAILURES, overQuota } from './requests/errors.ts';
import { type AccountState, findEndpoint, nextSequence } from './state.ts';

/** The bounds of a variant's number of instances. Without managed scaling, it is fixed. */
export const instanceBounds = ({ settings }: Variant): { min: number; max: number; isManaged: boolean } => {
  const scaling = settings.ManagedInstanceScaling;
  if (scaling?.Status === 'ENABLED') return { min: scaling.MinInstanceCount, max: scaling.MaxInstanceCount, isManaged: true };
  return { min: settings.InitialInstanceCount, max: settings.InitialInstanceCount, isManaged: false };
};

// Counts instances that endpoints are about to get, too.
const usedInstances = (state: AccountState, instanceType: string): number =>
  [...state.endpoints.values()]
    .flatMap(({ variants }) => variants.flatMap(({ instances }) => instances))
    .filter(({ type }) => type === instanceType).length;

/** Throws ResourceLimitExceeded if the quota has no room for more instances of a type. */
export const checkQuota = (state: AccountState, instanceType: string, delta: number): void => {
  const limit = state.quotas.limit(instanceType);
  const current = usedInstances(state, instanceType);
  if (current + delta > limit) throw overQuota(instanceType, limit, current, delta);
};

// Undefined if the quota has room for one more instance of the type.
const quotaRefusal = (state: AccountState, instanceType: string): string | undefined => {
  try {
    checkQuota(state, instanceType, 1);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `ResourceLimitExceeded: ${error.message}` : String(error);
  }
};

// Called when no pool can provide the instance, which is gone then.
type OnFailure = (reason: string) => void;

/** Adds an instance that becomes ready later. Without capacity in a pool, the next one is tried. */
export const provision = (state: AccountState, endpoint: Endpoint, variant: Variant, onFailure: OnFailure): Instance | undefined => {
  const [pool] = variant.pools;
  if (!pool) return undefined;
  const id = `i-${nextSequence(state).toString(16).padStart(17, '0')}`;
  const instance: Instance = { id, type: pool.InstanceType, state: 'provisioning', idleSince: undefined };
  variant.instances.push(instance);
  tryPool(state, { endpoint, variant, instance, onFailure }, 0);
  return instance;
};

interface Provisioning {
  endpoint: Endpoint;
  variant: Variant;
  instance: Instance;
  onFailure: OnFailure;
}

const tryPool = (state: AccountState, provisioning: Provisioning, index: number): void => {
  const { endpoint, variant, instance, onFailure } = provisioning;
  const { timeline, faults } = state;
  const { times } = state.settings();
  const exists = (): boolean => findEndpoint(state, endpoint.name) === endpoint && variant.instances.includes(instance);
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
  const refusal = quotaRefusal(state, pool.InstanceType);
  instance.type = pool.InstanceType;
  if (faults.claimPhase('stuck', endpoint.name)) {
    later(times.give_up_ms, () => fail(FAILURES.stuck));
  } else if (refusal !== undefined || faults.claimPhase('insufficient_capacity', endpoint.name, pool.InstanceType)) {
    const isLast = index + 1 === variant.pools.length;
    later(times.insufficient_capacity_ms, () => {
      if (isLast) fail(refusal ?? FAILURES.insufficientCapacity);
      else tryPool(state, provisioning, index + 1);
    });
  } else {
    later(times.instance_ms, () => {
      instance.state = 'ready';
      state.instanceTime.start(endpoint.name, instance.type, instance.id, timeline.time());
    });
  }
};

/** Ends the time of an instance and removes it. */
export const release = (state: AccountState, variant: Variant, instance: Instance): void => {
  state.instanceTime.end(instance.id, state.timeline.time());
  variant.instances = variant.instances.filter((other) => other !== instance);
};
