import type { AliasReader } from './alias-store.ts';
import type { Inventory } from './inventory.ts';
import { keptByOwner } from './kept-by-owner.ts';
import type { Model } from './model.ts';
import { createRefreshed } from './refreshed.ts';

type Aliases = ReadonlyMap<string, string>;

/** The models of an owner's aliases, by alias. */
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
}

export interface AliasedInventory extends Inventory {
  /** The aliases that lead to a published model, by alias. */
  aliases: () => Promise<AliasedModel[]>;
}

/**
 * An inventory whose models can also be found by an alias. A model's own name wins; aliases are read only for other
 * names, and lead to models, never to further aliases.
 * @param owners whose aliases count, those with precedence first
 */
export const withAliases = (inventory: Inventory, aliasesOf: CachedAliases, owners: readonly string[]): AliasedInventory => {
  const targetOf = async (name: string): Promise<string | undefined> => {
    for (const owner of owners) {
      const target = (await aliasesOf(owner)).get(name);
      if (target !== undefined && (await inventory.has(target))) return target;
    }
    return undefined;
  };

  const find: Inventory['find'] = async (name) => inventory.find((await inventory.has(name)) ? name : ((await targetOf(name)) ?? name));

  return {
    ...inventory,
    find,
    route: async (name) => ({ model: await find(name), fallbacks: [] }),

    aliases: async () => {
      const models = new Map((await inventory.list()).map((model) => [model.name, model]));
      const found = new Map<string, Model>();
      for (const owner of owners.toReversed())
        for (const [alias, target] of await aliasesOf(owner)) {
          const model = models.get(target);
          if (model && !(await inventory.has(alias))) found.set(alias, model);
        }
      return [...found].map(([alias, model]) => ({ alias, model })).sort((a, b) => (a.alias < b.alias ? -1 : 1));
    },
  };
};
