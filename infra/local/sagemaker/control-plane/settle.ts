import { failComponent } from './component-copies.ts';
import { setEndpointStatus } from './endpoints.ts';
import { instanceBounds, release } from './instances.ts';
import { placeCopies, removeExtraCopies } from './placement.ts';
import { baseNameOf, type Component, type Endpoint, readyCopies, type Variant } from './records.ts';
import { FAILURES } from './requests/errors.ts';
import { keyOf } from './requests/names.ts';
import { type AccountState, componentsOf, findEndpoint } from './state.ts';

/** Makes all changes that follow from the state: called after each call and each event. */
export const settle = (state: AccountState): void => {
  for (const component of state.components.values()) settleCopies(state, component);
  for (const endpoint of state.endpoints.values()) settleEndpoint(state, endpoint);
  for (const component of state.components.values()) settleStatus(state, component);
};

// Copies end with their instance.
const settleCopies = (state: AccountState, component: Component): void => {
  const endpoint = findEndpoint(state, component.endpointName);
  const instances = new Set(endpoint?.variants.flatMap((variant) => variant.instances.map(({ id }) => id)));
  component.copies = component.copies.filter(({ instanceId }) => instances.has(instanceId));
};

const settleEndpoint = (state: AccountState, endpoint: Endpoint): void => {
  const isReady = endpoint.variants.every(({ instances }) => instances.every(({ state }) => state === 'ready'));
  if (endpoint.status === 'Creating' && isReady) setEndpointStatus(state, endpoint, 'InService');
  if (endpoint.status !== 'InService' && endpoint.status !== 'Updating') return;
  for (const variant of endpoint.variants) {
    const components = componentsOf(state, endpoint).filter(
      (component) => component.variantName === variant.name && baseNameOf(component) === undefined && component.status !== 'Deleting',
    );
    for (const component of components) removeExtraCopies(state, component);
    placeCopies(state, endpoint, variant, components);
    settleIdle(state, endpoint, variant);
  }
};

// Managed instances without a copy are released after a while, down to the minimum.
const settleIdle = (state: AccountState, endpoint: Endpoint, variant: Variant): void => {
  const busy = new Set([...state.components.values()].flatMap(({ copies }) => copies.map(({ instanceId }) => instanceId)));
  const { min, isManaged } = instanceBounds(variant);
  for (const instance of variant.instances) {
    // Checked after each event, so that of two idle instances only one is released if one must stay.
    if (!isManaged || variant.instances.length <= min || instance.state !== 'ready' || busy.has(instance.id)) {
      instance.idleSince = undefined;
      continue;
    }
    if (instance.idleSince !== undefined) continue;
    const since = state.timeline.time();
    instance.idleSince = since;
    state.timeline.after(state.settings().times.release_ms, () => {
      const current = findEndpoint(state, endpoint.name)?.variants.find(({ name }) => name === variant.name);
      if (current?.instances.includes(instance) && instance.idleSince === since) release(state, current, instance);
    });
  }
};

const settleStatus = (state: AccountState, component: Component): void => {
  if (component.status !== 'Creating' && component.status !== 'Updating') return;
  if (!isSettled(state, component)) return;
  component.status = 'InService';
  component.previous = undefined;
  component.modifiedAt = state.timeline.time();
};

const isSettled = (state: AccountState, component: Component): boolean => {
  const base = baseNameOf(component);
  if (base !== undefined) {
    if (!state.components.has(keyOf(base))) failComponent(state, component, FAILURES.stuck);
    return component.isAdapterReady;
  }
  const { copies, desiredCopies, revision } = component;
  const current = readyCopies(component).filter((copy) => copy.revision === revision);
  return current.length === desiredCopies && copies.length === current.length;
};
