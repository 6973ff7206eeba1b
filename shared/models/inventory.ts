import { logError } from '../logging/log.ts';
import { ModelNotFound } from './errors.ts';
import type { Model } from './model.ts';
import type { ModelReader } from './model-store.ts';

// Every environment sees a change of the inventory within this time.
const FRESH_MS = 30_000;
// While the table does not answer, the cached models are used for this long.
const STALE_MS = 10 * 60_000;

// The wait after a failed refresh before the next one.
const RETRY_MS = 5_000;

// `model` is the row of a name that can't be served, if there is one; `names` are the published ones.
type Absent = (name: string, model: Model | undefined, names: readonly string[]) => Error;

/**
 * The published models of a pool as one environment caches them, at most 30 s old. Concurrent callers share one
 * refresh.
 */
export const createInventory = (
  store: ModelReader,
  pool: string,
  now: () => number,
  absent: Absent = (name, _, names) => new ModelNotFound(name, names),
) => {
  let seen: { models: Map<string, Model>; atMs: number } | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<Map<string, Model>> | undefined;

  /** A clock can go back, and then nothing is as old as it seems. */
  const isWithin = (ms: number, atMs: number): boolean => Math.abs(now() - atMs) <= ms;

  const refresh = async (): Promise<Map<string, Model>> => {
    try {
      const models = await store.list(pool);
      seen = { models, atMs: now() };
      return models;
    } catch (error) {
      if (!seen || !isWithin(STALE_MS, seen.atMs)) throw error;
      logError('inventory_stale', error, { age_ms: now() - seen.atMs });
      failedAtMs = now();
      return seen.models;
    } finally {
      refreshing = undefined;
    }
  };

  const models = (): Map<string, Model> | Promise<Map<string, Model>> => {
    if (seen && (isWithin(FRESH_MS - 1, seen.atMs) || isWithin(RETRY_MS - 1, failedAtMs))) return seen.models;
    refreshing ??= refresh();
    return refreshing;
  };

  return {
    /** The published models, by name. */
    list: async (): Promise<Model[]> =>
      [...(await models()).values()].filter((model) => model.status === 'published').sort((a, b) => (a.name < b.name ? -1 : 1)),

    /** A published model, or 404. */
    find: async (name: string): Promise<Model> => {
      const known = await models();
      const model = known.get(name);
      if (model?.status === 'published') return model;
      const published = [...known.values()].filter(({ status }) => status === 'published').map((other) => other.name);
      throw absent(name, model, published.sort());
    },
  };
};

export type Inventory = ReturnType<typeof createInventory>;
