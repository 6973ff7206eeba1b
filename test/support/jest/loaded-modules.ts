import { createRequire, isBuiltin } from 'node:module';

const LOADER = 'internal/modules/esm/loader';

interface Loader {
  loadCache: Map<string, unknown>;
}

/**
 * The modules that Node's loader keeps, by URL; undefined in a process without `--expose-internals`, which
 * test/support/jest/set-up.mjs gives to workers. Node has no interface that unloads modules: a worker would keep those
 * of all its suites, and each collection of garbage would take longer than the one before.
 */
export const findLoadedModules = (): Map<string, unknown> | undefined => {
  const require = createRequire(import.meta.url);
  if (!isBuiltin(LOADER)) return undefined;
  const { getOrInitializeCascadedLoader: find }: { getOrInitializeCascadedLoader: () => Loader } = require(LOADER);
  return find().loadCache;
};
