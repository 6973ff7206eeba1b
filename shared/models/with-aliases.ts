import type { AliasReader } from './alias-store.ts';
import { DeploymentNotReady } from './errors.ts';
import type { FallbackModel, Inventory, ModelRoute } from './inventory.ts';
import { keptByOwner } from './kept-by-owner.ts';
import type { Model } from './model.ts';
import type { ModelAlias } from './model-alias.ts';
import { createRefreshed } from './refreshed.ts';
import { sideOf } from './split.ts';

type Aliases = ReadonlyMap<string, ModelAlias>;

/** An owner's aliases, by alias. */
export type CachedAliases = (owner: string) => Aliases | Promise<Aliases>;

/** The aliases of each owner as one environment caches them, at most 30 s old. */
export const createCachedAliases = (store: AliasReader, now: () => number): CachedAliases => {
  const cacheOf = keptByOwner((owner) => createRefreshed<Aliases>(() => store.list(owner), now, 'model_aliases_stale'));
  return (owner) => cacheOf(owner)();
};

/** A model that has another name. */
export interface AliasedModel {
  alias: string;
  model: Model;
  /** The published models that can answer instead, in order. */
  fallbacks: readonly Model[];
}

export interface AliasedInventory extends Inventory {
  /** The aliases that lead to a published model, by alias. */
  aliases: () => Promise<AliasedModel[]>;
}

type Route = Inventory['route'];

// The first of some fallbacks that is published, and the names after it.
const firstOf = async (
  names: readonly string[],
  fallback: Inventory['fallback'],
): Promise<(FallbackModel & { fallbacks: readonly string[] }) | undefined> => {
  for (const [i, name] of names.entries()) {
    const candidate = await fallback(name);
    if (candidate) return { ...candidate, fallbacks: names.slice(i + 1) };
  }
  return undefined;
};

/**
 * An inventory whose models can also be found by an alias. A model's own name wins; aliases are read only for other
 * names, and lead to models, never to further aliases.
 * @param owners whose aliases count, those with precedence first
 * @param shared the shared models, if fallbacks of aliases can also be shared models
 */
export const withAliases = (
  inventory: Inventory,
  aliasesOf: CachedAliases,
  owners: readonly string[],
  shared?: Pick<Inventory, 'fallback'>,
): AliasedInventory => {
  const aliasOf = async (name: string): Promise<ModelAlias | undefined> => {
    for (const owner of owners) {
      const alias = (await aliasesOf(owner)).get(name);
      if (alias && (await inventory.has(alias.model))) return alias;
    }
    return undefined;
  };

  const fallback: Inventory['fallback'] = async (name) => {
    const own = await inventory.fallback(name);
    if (own || !shared) return own;
    const candidate = await shared.fallback(name);
    return candidate && { ...candidate, isShared: true };
  };

  // A new model that is not published takes no part in the split.
  const sideFor = async (
    { alias, split }: ModelAlias,
    affinityOf: () => string | undefined,
  ): Promise<Pick<ModelRoute, 'side' | 'splitId'>> =>
    split && split.stopped_at === undefined && (await inventory.fallback(split.model))
      ? { side: sideOf(alias, split, affinityOf()), splitId: split.id }
      : {};

  const routeAlias = async (alias: ModelAlias, affinityOf: () => string | undefined): Promise<ModelRoute> => {
    const side = await sideFor(alias, affinityOf);
    const name = side.side === 'new' && alias.split ? alias.split.model : alias.model;
    const of = { alias: alias.alias, ...side };
    const fallbacks = alias.fallbacks.filter((other) => other !== name);
    try {
      const route = await inventory.route(name, affinityOf);
      return { ...route, ...of, fallbacks: fallbacks.length > 0 ? fallbacks : route.fallbacks };
    } catch (error) {
      if (!(error instanceof DeploymentNotReady)) throw error;
      const first = await firstOf(fallbacks, fallback);
      if (!first) throw error;
      return { ...first, ...of, unavailable: { name, error } };
    }
  };

  const route: Route = async (name, affinityOf) => {
    const alias = (await inventory.has(name)) ? undefined : await aliasOf(name);
    return alias ? routeAlias(alias, affinityOf) : inventory.route(name, affinityOf);
  };

  return {
    ...inventory,
    find: async (name) => inventory.find((await inventory.has(name)) ? name : ((await aliasOf(name))?.model ?? name)),
    route,
    fallback,

    aliases: async () => {
      const models = new Map((await inventory.list()).map((model) => [model.name, model]));
      const found = new Map<string, AliasedModel>();
      for (const owner of owners.toReversed())
        for (const [alias, { model: name, fallbacks }] of await aliasesOf(owner)) {
          const model = models.get(name);
          if (!model || (await inventory.has(alias))) continue;
          const candidates = await Promise.all(fallbacks.filter((other) => other !== name).map(fallback));
          found.set(alias, { alias, model, fallbacks: candidates.flatMap((candidate) => candidate?.model ?? []) });
        }
      return [...found.values()].sort((a, b) => (a.alias < b.alias ? -1 : 1));
    },
  };
};
