import type { ContainerTarget } from './container-request.ts';
import type { ServingComponent } from './control-plane/serving.ts';

/** A container that was started for a component. */
export interface StartedContainer {
  /** Resolves when the container can be called, and rejects if it does not start. */
  ready: Promise<ContainerTarget>;
  close(): Promise<void>;
}

/** @param environment of the component's model */
export type StartContainer = (environment: Readonly<Record<string, string>>) => StartedContainer;

/** The containers of components. A container serves all copies of one revision of a component. */
export interface ComponentContainers {
  /** Starts and stops containers, so that those run whose copies are loading or ready. */
  follow(components: readonly ServingComponent[]): void;
  /**
   * Returns the container for an invocation, by turns if several revisions have ready copies; undefined: no copy is
   * ready.
   */
  pick(component: ServingComponent): Promise<ContainerTarget | undefined>;
  /** The URLs of those that can be called. */
  urls(): Promise<string[]>;
  /** Stops all. */
  close(): Promise<void>;
}

// Further containers wait until others stop.
const MAX_RUNNING_CONTAINERS = 16;

export const createComponentContainers = (start: StartContainer | undefined): ComponentContainers => {
  const running = new Map<string, StartedContainer>();
  const stopping = new Set<Promise<void>>();
  let turn = 0;
  let isClosed = false;

  const stop = (key: string, container: StartedContainer): void => {
    running.delete(key);
    const stopped = container.close().catch(() => undefined);
    stopping.add(stopped);
    void stopped.then(() => stopping.delete(stopped));
  };

  return {
    follow(components) {
      if (isClosed) return;
      const wanted = new Map(components.flatMap(({ revisions }) => revisions.map(({ key, environment }) => [key, environment] as const)));
      for (const [key, container] of running) if (!wanted.has(key)) stop(key, container);
      for (const [key, environment] of wanted) {
        if (!start || running.has(key) || running.size === MAX_RUNNING_CONTAINERS) continue;
        const container = start(environment);
        container.ready.catch(() => undefined);
        running.set(key, container);
      }
    },
    async pick({ revisions }) {
      const copies = revisions.flatMap(({ key, readyCopies }) => Array.from({ length: readyCopies }, () => key));
      turn += 1;
      const key = copies[turn % copies.length];
      return key === undefined ? undefined : running.get(key)?.ready.catch(() => undefined);
    },
    async urls() {
      const ready = await Promise.allSettled([...running.values()].map((container) => container.ready));
      return ready.flatMap((each) => (each.status === 'fulfilled' ? [each.value.url] : []));
    },
    async close() {
      isClosed = true;
      for (const [key, container] of running) stop(key, container);
      await Promise.all(stopping);
    },
  };
};
