import { failComponent, removeCopy, startCopy } from './component-copies.ts';
import { type Hardware, hardwareOf } from './hardware.ts';
import { instanceBounds, provision } from './instances.ts';
import type { Component, Endpoint, Instance, Variant } from './records.ts';
import { NOT_ENOUGH_HARDWARE } from './requests/errors.ts';
import { fits, needsOf } from './specifications.ts';
import { type AccountState, componentsOf } from './state.ts';

// Shrinks as copies are placed.
type FreeHardware = Map<Instance, Hardware>;

const freeOf = (state: AccountState, endpoint: Endpoint, { instances }: Variant): FreeHardware => {
  const free: FreeHardware = new Map(
    instances.map((instance) => [instance, { accelerators: 0, memoryMb: 0, ...hardwareOf(instance.type) }]),
  );
  for (const component of componentsOf(state, endpoint)) {
    for (const { instanceId, instanceType } of component.copies) {
      const instance = instances.find(({ id }) => id === instanceId);
      if (instance) take(free, instance, needsOf(component, instanceType));
    }
  }
  return free;
};

const take = (free: FreeHardware, instance: Instance, needs: Hardware | undefined): void => {
  const left = free.get(instance);
  if (!left || !needs) return;
  left.accelerators -= needs.accelerators;
  left.memoryMb -= needs.memoryMb;
};

/** Starts the missing copies of a variant's components where there is room; provisions instances where there is not. */
export const placeCopies = (state: AccountState, endpoint: Endpoint, variant: Variant, components: readonly Component[]): void => {
  const free = freeOf(state, endpoint, variant);
  const findRoom = (component: Component, state: Instance['state']): Instance | undefined =>
    variant.instances.find((instance) => instance.state === state && fits(needsOf(component, instance.type), free.get(instance)));
  const failWaiting = (reason: string): void => {
    for (const component of components) if (missingCopies(component) > 0) failComponent(state, component, reason);
  };
  for (const component of components)
    for (let missing = missingCopies(component); missing > 0; missing -= 1) {
      const ready = findRoom(component, 'ready');
      const instance = ready ?? findRoom(component, 'provisioning') ?? grow(state, endpoint, variant, component, failWaiting);
      if (!instance) {
        if (!isRoomComing(variant, components)) failComponent(state, component, NOT_ENOUGH_HARDWARE);
        break;
      }
      if (!free.has(instance)) free.set(instance, { accelerators: 0, memoryMb: 0, ...hardwareOf(instance.type) });
      if (ready) startCopy(state, component, ready);
      take(free, instance, needsOf(component, instance.type));
    }
};

const grow = (
  state: AccountState,
  endpoint: Endpoint,
  variant: Variant,
  component: Component,
  onFailure: (reason: string) => void,
): Instance | undefined => {
  const canHold = variant.pools.some(({ InstanceType }) => fits(needsOf(component, InstanceType), hardwareOf(InstanceType)));
  if (!canHold || variant.instances.length >= instanceBounds(variant).max) return undefined;
  return provision(state, endpoint, variant, onFailure);
};

// An instance without room may soon have some, because another copy is being removed.
const isRoomComing = ({ instances }: Variant, components: readonly Component[]): boolean =>
  instances.some(({ id }) =>
    components.some(({ copies }) => copies.some(({ instanceId, phase }) => instanceId === id && phase === 'removing')),
  );

// While a change of the specifications rolls out, one new copy is started at a time, beside the old ones.
const missingCopies = (component: Component): number => {
  const { copies, desiredCopies, revision, status } = component;
  if (status !== 'Creating' && status !== 'Updating' && status !== 'InService') return 0;
  const live = copies.filter(({ phase }) => phase !== 'removing');
  const current = live.filter((copy) => copy.revision === revision);
  if (live.length === current.length) return Math.max(0, desiredCopies - live.length);
  const isStarting = current.some(({ phase }) => phase !== 'ready');
  return !isStarting && current.length < desiredCopies && live.length <= desiredCopies ? 1 : 0;
};

const STARTED = { downloading: 0, loading: 1, ready: 2, removing: 3 } as const;

/** Removes the copies that are too many: old ones first, then those that have come least far. */
export const removeExtraCopies = (state: AccountState, component: Component): void => {
  const { copies, desiredCopies, revision } = component;
  const live = copies.filter(({ phase }) => phase !== 'removing');
  const old = live.filter((copy) => copy.revision !== revision);
  const current = live.filter((copy) => copy.revision === revision);
  const ready = current.filter(({ phase }) => phase === 'ready').length;
  // A new copy that is not ready yet replaces none.
  const spare = live.length - desiredCopies - (old.length > 0 ? current.length - ready : 0);
  const byProgress = current.toSorted((a, b) => STARTED[a.phase] - STARTED[b.phase]);
  for (const copy of [...old, ...byProgress].slice(0, Math.max(0, desiredCopies === 0 ? live.length : spare)))
    removeCopy(state, component, copy);
};
