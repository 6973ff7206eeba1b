import { failComponent } from './copies.ts';
import { setEndpointStatus } from './endpoints.ts';
import { instanceBounds, release } from './instances.ts';
import { placeCopies, removeExtraCopies } from './placement.ts';
import { baseNameOf, type Component, type Endpoint, readyCopies, type Variant } from './records.ts';
import { FAILURES } from './requests/errors.ts';
import { keyOf } from './requests/names.ts';
import { componentsOf, endpointOf, findEndpoint, type World } from './world.ts';

/** Brings everything to what follows from the state: called after each call and each event. */
export const settle = (world: World): void => {
  for (const component of world.components.values()) settleOrphan(world, component);
  for (const endpoint of world.endpoints.values()) settleEndpoint(world, endpoint);
  for (const component of world.components.values()) settleStatus(world, component);
};

/** Copies end with their instance. */
const settleOrphan = (world: World, component: Component): void => {
  const endpoint = endpointOf(world, component);
  const instances = new Set(endpoint?.variants.flatMap((variant) => variant.instances.map(({ id }) => id)));
  component.copies = component.copies.filter(({ instanceId }) => instances.has(instanceId));
};

const settleEndpoint = (world: World, endpoint: Endpoint): void => {
  const isReady = endpoint.variants.every(({ instances }) => instances.every(({ state }) => state === 'ready'));
  if (endpoint.status === 'Creating' && isReady) setEndpointStatus(world, endpoint, 'InService');
  if (endpoint.status !== 'InService' && endpoint.status !== 'Updating') return;
  for (const variant of endpoint.variants) {
    const components = componentsOf(world, endpoint).filter(
      (component) => component.variantName === variant.name && baseNameOf(component) === undefined && component.status !== 'Deleting',
    );
    for (const component of components) removeExtraCopies(world, component);
    placeCopies(world, endpoint, variant, components);
    settleIdle(world, endpoint, variant);
  }
};

/** Managed instances without a copy are released after a while, down to the minimum. */
const settleIdle = (world: World, endpoint: Endpoint, variant: Variant): void => {
  const busy = new Set([...world.components.values()].flatMap(({ copies }) => copies.map(({ instanceId }) => instanceId)));
  const { min, isManaged } = instanceBounds(variant);
  for (const instance of variant.instances) {
    // Checked after each event, so that of two idle instances only one is released if one must stay.
    if (!isManaged || variant.instances.length <= min || instance.state !== 'ready' || busy.has(instance.id)) {
      instance.idleSince = undefined;
      continue;
    }
    if (instance.idleSince !== undefined) continue;
    const since = world.timeline.time();
    instance.idleSince = since;
    world.timeline.after(world.settings().times.release_ms, () => {
      const current = findEndpoint(world, endpoint.name)?.variants.find(({ name }) => name === variant.name);
      if (current?.instances.includes(instance) && instance.idleSince === since) release(world, current, instance);
    });
  }
};

const settleStatus = (world: World, component: Component): void => {
  if (component.status !== 'Creating' && component.status !== 'Updating') return;
  if (!isSettled(world, component)) {
    if (!endpointOf(world, component)) failComponent(world, component, FAILURES.endpointMissing);
    return;
  }
  component.status = 'InService';
  component.previous = undefined;
  component.modifiedAt = world.timeline.time();
};

const isSettled = (world: World, component: Component): boolean => {
  const base = baseNameOf(component);
  if (base !== undefined) {
    if (!world.components.has(keyOf(base))) failComponent(world, component, FAILURES.stuck);
    return component.isAdapterReady;
  }
  const { copies, desiredCopies, revision } = component;
  const current = readyCopies(component).filter((copy) => copy.revision === revision);
  return current.length === desiredCopies && copies.length === current.length;
};
