import type { ApiError } from '../http/errors.ts';
import { ModelNotFound } from './errors.ts';
import type { Model } from './model.ts';
import type { ModelReader } from './model-store.ts';
import { createRefreshed } from './refreshed.ts';
import type { SplitSide } from './split.ts';

// How a pool treats names that can't be served.
interface Names {
  /** True if an unpublished model keeps its name, so that nothing else can have it. */
  keptUnpublished: boolean;
  /** `model` is the row of the name, if there is one; `names` are the published ones. */
  absent: (name: string, model: Model | undefined, names: readonly string[]) => Error;
}

const SHARED: Names = { keptUnpublished: false, absent: (name, _, names) => new ModelNotFound(name, names) };

/** A model that can answer a request. */
export interface FallbackModel {
  model: Model;
  /** True for a shared model that answers in place of an organization's deployment. */
  isShared: boolean;
}

/** The model that answers a name, and those that can answer instead. */
export interface ModelRoute extends FallbackModel {
  /** The names to try after it, in order, for `fallback`. */
  fallbacks: readonly string[];
  /** The model of the name is not in service: `model` is its first fallback that is published. */
  unavailable?: { name: string; error: ApiError };
  /** The alias, if the name is one. */
  alias?: string;
  /** The side of the alias's split on which the caller is; absent: it has none, or the split has stopped. */
  side?: SplitSide;
  /** The id of that split. */
  splitId?: string;
}

/**
 * The published models of a pool as one environment caches them, at most 30 s old. Concurrent callers share one
 * refresh.
 */
export const createInventory = (store: ModelReader, pool: string, now: () => number, { keptUnpublished, absent }: Names = SHARED) => {
  const models = createRefreshed(() => store.list(pool), now, 'inventory_stale');

  const find = async (name: string): Promise<Model> => {
    const known = await models();
    const model = known.get(name);
    if (model?.status === 'published') return model;
    const published = [...known.values()].filter(({ status }) => status === 'published').map((other) => other.name);
    throw absent(name, model, published.sort());
  };

  return {
    /** The published models, by name. */
    list: async (): Promise<Model[]> =>
      [...(await models()).values()].filter((model) => model.status === 'published').sort((a, b) => (a.name < b.name ? -1 : 1)),

    /** True if a model has this name, even one that `find` rejects. */
    has: async (name: string): Promise<boolean> => {
      const model = (await models()).get(name);
      return model?.status === 'published' || (keptUnpublished && model !== undefined);
    },

    /** A published model, or 404. */
    find,

    /**
     * The model that answers a name, and those that can answer instead.
     * @param _affinityOf returns what stays the same for a caller or a conversation; called only for a split
     * @throws 404
     */
    route: async (name: string, _affinityOf: () => string | undefined): Promise<ModelRoute> => ({
      model: await find(name),
      isShared: false,
      fallbacks: [],
    }),

    /** The published model of a name in `fallbacks`; undefined if there is none. */
    fallback: async (name: string): Promise<FallbackModel | undefined> => {
      const model = (await models()).get(name);
      return model?.status === 'published' ? { model, isShared: false } : undefined;
    },
  };
};

export type Inventory = ReturnType<typeof createInventory>;
