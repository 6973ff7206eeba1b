import { baseNameOf, type Component } from './records.ts';
import { keyOf } from './requests/names.ts';
import { type AccountState, componentsOf } from './state.ts';

/** The container of one revision of a component: all its copies are one process here. */
export interface ServedRevision {
  /** Identifies the process. */
  key: string;
  /** Copies that receive invocations; 0: it is still loading. */
  readyCopies: number;
  environment: Readonly<Record<string, string>>;
}

/** A component and its running containers. */
export interface ServingComponent {
  endpoint: string;
  component: string;
  /** The component whose copies serve it: itself, or the base component of an adapter. */
  server: string;
  /** Set for an adapter: its archive, which the container loads. */
  artifact?: string | undefined;
  revisions: ServedRevision[];
}

/** Returns the components of existing endpoints. An adapter is served by the container of its base component. */
export const serving = (state: AccountState): ServingComponent[] =>
  [...state.endpoints.values()].flatMap((endpoint) =>
    componentsOf(state, endpoint).map((component) => {
      const base = baseNameOf(component);
      const server = base === undefined ? component : component.isAdapterReady ? state.components.get(keyOf(base)) : undefined;
      return {
        endpoint: endpoint.name,
        component: component.name,
        server: server?.name ?? component.name,
        artifact: base === undefined ? undefined : component.specifications[0]?.Container?.ArtifactUrl,
        revisions: server ? revisionsOf(server) : [],
      };
    }),
  );

const revisionsOf = (component: Component): ServedRevision[] => {
  const running = component.copies.filter(({ phase }) => phase === 'loading' || phase === 'ready');
  return Object.entries(Object.groupBy(running, ({ revision }) => revision)).map(([revision, copies = []]) => ({
    key: `${component.arn}#${component.sequence}.${revision}`,
    readyCopies: copies.filter(({ phase }) => phase === 'ready').length,
    environment: copies[0]?.environment ?? {},
  }));
};
