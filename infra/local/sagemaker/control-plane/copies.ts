import { logCrash, logReady, logStart } from './container-log.ts';
import { type Component, type Copy, type Instance, readyCopies } from './records.ts';
import { FAILURES } from './requests/errors.ts';
import { keyOf } from './requests/names.ts';
import { environmentFor } from './specifications.ts';
import { nextSequence, type World } from './world.ts';

/** Runs an event later if the copy is still in the phase it has now. */
const later = (world: World, component: Component, copy: Copy, delayMs: number, event: () => void): void => {
  const { phase } = copy;
  world.timeline.after(delayMs, () => {
    const isCurrent = world.components.get(keyOf(component.name)) === component && component.copies.includes(copy) && copy.phase === phase;
    if (isCurrent) event();
  });
};

/** Starts a copy on an instance that has room: it is downloaded, loaded, and then ready, unless a failure is set. */
export const startCopy = (world: World, component: Component, instance: Instance): void => {
  const environment = environmentFor(world, component, instance.type);
  if (!environment) {
    failComponent(world, component, FAILURES.modelMissing);
    return;
  }
  const copy: Copy = {
    id: `copy-${nextSequence(world)}`,
    revision: component.revision,
    instanceId: instance.id,
    instanceType: instance.type,
    environment,
    phase: 'downloading',
  };
  component.copies.push(copy);
  const { times } = world.settings();
  if (world.faults.claimPhase('stuck', component.name)) failLater(world, component, copy, times.give_up_ms, FAILURES.stuck);
  else later(world, component, copy, times.download_ms, () => startContainer(world, component, copy));
};

const failLater = (world: World, component: Component, copy: Copy, delayMs: number, reason: string): void =>
  later(world, component, copy, delayMs, () => failComponent(world, component, reason));

const startContainer = (world: World, component: Component, copy: Copy): void => {
  const { times } = world.settings();
  if (world.faults.claimPhase('image_pull', component.name)) {
    failLater(world, component, copy, times.load_ms, FAILURES.imagePull);
    return;
  }
  copy.phase = 'loading';
  logStart(world, component, copy);
  load(world, component, copy);
};

const load = (world: World, component: Component, copy: Copy): void => {
  const { times } = world.settings();
  if (world.faults.claimPhase('crash_loop', component.name)) {
    failLater(world, component, copy, times.give_up_ms, FAILURES.crashLoop);
    crash(world, component, copy);
  } else if (world.faults.claimPhase('health_check_timeout', component.name)) {
    failLater(world, component, copy, times.health_check_ms, FAILURES.healthCheck);
  } else {
    later(world, component, copy, times.load_ms, () => {
      copy.phase = 'ready';
      logReady(world, component, copy);
    });
  }
};

/** The shortest time between two crashes, so that a loop ends. */
const MIN_CRASH_MS = 100;

const crash = (world: World, component: Component, copy: Copy): void =>
  later(world, component, copy, Math.max(MIN_CRASH_MS, world.settings().times.crash_ms), () => {
    logCrash(world, component, copy);
    logStart(world, component, copy);
    crash(world, component, copy);
  });

/** Takes a copy out of service and, later, off its instance. */
export const removeCopy = (world: World, component: Component, copy: Copy): void => {
  copy.phase = 'removing';
  later(world, component, copy, world.settings().times.delete_ms, () => {
    component.copies = component.copies.filter((other) => other !== copy);
  });
};

/**
 * Ends a creation or an update that cannot succeed. A component with ready copies goes on with them, as it was
 * before; another one is `Failed`, without copies.
 */
export const failComponent = (world: World, component: Component, reason: string): void => {
  if (component.status === 'Deleting') return;
  if (component.previous) {
    component.specifications = component.previous.specifications;
    component.revision = component.previous.revision;
    component.previous = undefined;
  }
  component.copies = component.copies.filter(
    ({ phase, revision }) => phase === 'removing' || (phase === 'ready' && revision === component.revision),
  );
  const ready = readyCopies(component).length;
  component.failureReason = reason;
  component.modifiedAt = world.timeline.time();
  if (ready > 0) component.desiredCopies = ready;
  component.status = ready > 0 ? 'Updating' : 'Failed';
};
