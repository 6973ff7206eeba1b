import { logCrash, logReady, logStart } from './container-log.ts';
import { type Component, type Copy, type Instance, readyCopies } from './records.ts';
import { FAILURES } from './requests/errors.ts';
import { keyOf } from './requests/names.ts';
import { environmentFor } from './specifications.ts';
import { type AccountState, nextSequence } from './state.ts';

// Runs an event afterDelay if the copy is still in the phase it has now.
const afterDelay = (state: AccountState, component: Component, copy: Copy, delayMs: number, event: () => void): void => {
  const { phase } = copy;
  state.timeline.after(delayMs, () => {
    const isCurrent = state.components.get(keyOf(component.name)) === component && component.copies.includes(copy) && copy.phase === phase;
    if (isCurrent) event();
  });
};

/** Starts a copy on an instance that has room: it is downloaded, loaded, and then ready, unless a failure is set. */
export const startCopy = (state: AccountState, component: Component, instance: Instance): void => {
  const environment = environmentFor(state, component, instance.type);
  if (!environment) {
    failComponent(state, component, FAILURES.modelMissing);
    return;
  }
  const copy: Copy = {
    id: `copy-${nextSequence(state)}`,
    revision: component.revision,
    instanceId: instance.id,
    instanceType: instance.type,
    environment,
    phase: 'downloading',
  };
  component.copies.push(copy);
  const { times } = state.settings();
  if (state.faults.claimPhase('stuck', component.name)) failLater(state, component, copy, times.give_up_ms, FAILURES.stuck);
  else afterDelay(state, component, copy, times.download_ms, () => startContainer(state, component, copy));
};

const failLater = (state: AccountState, component: Component, copy: Copy, delayMs: number, reason: string): void =>
  afterDelay(state, component, copy, delayMs, () => failComponent(state, component, reason));

const startContainer = (state: AccountState, component: Component, copy: Copy): void => {
  const { times } = state.settings();
  if (state.faults.claimPhase('image_pull', component.name)) {
    failLater(state, component, copy, times.load_ms, FAILURES.imagePull);
    return;
  }
  copy.phase = 'loading';
  logStart(state, component, copy);
  load(state, component, copy);
};

const load = (state: AccountState, component: Component, copy: Copy): void => {
  const { times } = state.settings();
  if (state.faults.claimPhase('crash_loop', component.name)) {
    failLater(state, component, copy, times.give_up_ms, FAILURES.crashLoop);
    crash(state, component, copy);
  } else if (state.faults.claimPhase('health_check_timeout', component.name)) {
    failLater(state, component, copy, times.health_check_ms, FAILURES.healthCheck);
  } else {
    afterDelay(state, component, copy, times.load_ms, () => {
      copy.phase = 'ready';
      logReady(state, component, copy);
    });
  }
};

// The shortest time until a crash, so that a loop of crashes cannot run without a pause.
const MIN_CRASH_MS = 100;

const crash = (state: AccountState, component: Component, copy: Copy): void =>
  afterDelay(state, component, copy, Math.max(MIN_CRASH_MS, state.settings().times.crash_ms), () => {
    logCrash(state, component, copy);
    logStart(state, component, copy);
    crash(state, component, copy);
  });

/** Takes a copy out of service and, afterDelay, off its instance. */
export const removeCopy = (state: AccountState, component: Component, copy: Copy): void => {
  copy.phase = 'removing';
  afterDelay(state, component, copy, state.settings().times.delete_ms, () => {
    component.copies = component.copies.filter((other) => other !== copy);
  });
};

/**
 * Ends a creation or an update that cannot succeed. A component with ready copies goes on with them, as it was
 * before; another one is `Failed`, without copies.
 */
export const failComponent = (state: AccountState, component: Component, reason: string): void => {
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
  component.modifiedAt = state.timeline.time();
  if (ready > 0) component.desiredCopies = ready;
  component.status = ready > 0 ? 'Updating' : 'Failed';
};
