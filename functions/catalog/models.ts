import { authenticateForRead, isModelAllowed, presentedKey } from '../../shared/admission/keys/authenticate.ts';
import type { ReadableKeys } from '../../shared/admission/stores/limiter-reader.ts';
import type { Host } from '../../shared/hosts/host.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { entityTag, unlessKnown } from '../../shared/http/conditional.ts';
import { jsonReply, type Reply } from '../../shared/http/reply.ts';
import type { Handle } from '../../shared/http/router.ts';
import { userIdOf } from '../../shared/http/user-id.ts';
import type { AliasReader } from '../../shared/models/alias-store.ts';
import { createDeployments } from '../../shared/models/deployments.ts';
import { deprecationHeaders } from '../../shared/models/deprecation.ts';
import { DeploymentNotFound } from '../../shared/models/errors.ts';
import { createInventory } from '../../shared/models/inventory.ts';
import type { Model } from '../../shared/models/model.ts';
import { type ModelReader, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { type AliasedInventory, createCachedAliases, withAliases } from '../../shared/models/with-aliases.ts';
import { type ModelEntry, type ModelList, modelEntryOf, modelListOf } from './model-entry.ts';

interface ListedModel {
  /** Its own name or an alias. */
  name: string;
  model: Model;
  /** The models that can answer instead. */
  fallbacks: readonly Model[];
}

interface VisibleModels {
  list: () => Promise<ListedModel[]>;
  find: (name: string) => Promise<ListedModel>;
  /** Added to every reply. */
  headers: Record<string, string>;
}

type VisibleModelsFor = (event: ApiEvent) => Promise<VisibleModels>;

const listAll = async (inventory: AliasedInventory): Promise<ListedModel[]> => {
  const own = (await inventory.list()).map((model) => ({ name: model.name, model, fallbacks: [] }));
  const others = (await inventory.aliases()).map(({ alias, ...of }) => ({ name: alias, ...of }));
  return [...own, ...others].sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** The shared models and their aliases for all, which everyone can see. */
export const sharedModels = (inventory: AliasedInventory): VisibleModelsFor => {
  const listing = {
    list: () => listAll(inventory),
    find: async (name: string) => {
      const found = (await inventory.has(name)) ? undefined : (await inventory.aliases()).find(({ alias }) => alias === name);
      return found ? { name, ...found } : { name, model: await inventory.find(name), fallbacks: [] };
    },
    headers: { 'cache-control': 'public, max-age=30' },
  };
  return async () => listing;
};

// The deployments of the key's organization that the key can use, and its aliases for them. Throws 401, and 400 for a
// missing user id.
const ownDeployments =
  (keys: ReadableKeys, host: Host, deploymentsOf: (organization: string) => AliasedInventory): VisibleModelsFor =>
  async (event) => {
    const item = await authenticateForRead(keys, presentedKey(event, host));
    event.sender = { key_id: item.id, org_id: item.org };
    userIdOf(event);
    const inventory = deploymentsOf(item.org);
    const isAllowed = ({ name }: Model): boolean => isModelAllowed(item, name);
    const listAllowed = async () =>
      (await listAll(inventory))
        .filter(({ model }) => isAllowed(model))
        .map(({ fallbacks, ...of }) => ({ ...of, fallbacks: fallbacks.filter(isAllowed) }));
    return {
      list: listAllowed,
      find: async (name) => {
        const allowed = await listAllowed();
        const found = allowed.find((listed) => listed.name === name);
        if (found) return found;
        throw new DeploymentNotFound(
          name,
          allowed.map((listed) => listed.name),
        );
      },
      headers: { 'cache-control': 'private, max-age=30', vary: 'authorization, x-api-key, x-user-id' },
    };
  };

interface ListingDependencies {
  host: Host;
  keys: ReadableKeys;
  models: ModelReader;
  aliases: AliasReader;
  now: () => number;
}

/** The models that a caller of the host can see. */
export const createVisibleModels = ({ host, keys, models, aliases, now }: ListingDependencies): VisibleModelsFor => {
  const aliasesOf = createCachedAliases(aliases, now);
  if (host.scope === 'serverless')
    return sharedModels(withAliases(createInventory(models, SERVERLESS_POOL, now), aliasesOf, [SERVERLESS_POOL]));
  const deploymentsOf = createDeployments(models, now);
  const shared = createInventory(models, SERVERLESS_POOL, now);
  return ownDeployments(keys, host, (organization) => withAliases(deploymentsOf(organization), aliasesOf, [organization], shared));
};

const tagged = (event: ApiEvent, body: ModelEntry | ModelList, headers: Record<string, string>): Reply => {
  const reply = jsonReply(event.requestId, 200, body, headers);
  return unlessKnown(event, entityTag(reply.body), reply);
};

/** The models that the caller can use, with context lengths, prices and capabilities, for clients of both APIs. */
export const listModels =
  (listingFor: VisibleModelsFor): Handle =>
  async (event) => {
    const { list, headers } = await listingFor(event);
    const models = await list();
    return tagged(
      event,
      modelListOf(models.map(({ name, model, fallbacks }) => modelEntryOf(model, event.receivedAtMs, name, fallbacks))),
      headers,
    );
  };

/** One of these models, or 404. */
export const retrieveModel =
  (listingFor: VisibleModelsFor): Handle =>
  async (event) => {
    const { find, headers } = await listingFor(event);
    const { name, model, fallbacks } = await find(event.pathParameters?.model ?? '');
    return tagged(event, modelEntryOf(model, event.receivedAtMs, name, fallbacks), { ...headers, ...deprecationHeaders(model) });
  };
