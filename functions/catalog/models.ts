import { authenticateForRead, isModelAllowed, presentedKey } from '../../shared/admission/keys/authenticate.ts';
import type { ReadableKeys } from '../../shared/admission/stores/limiter-reader.ts';
import type { Host } from '../../shared/hosts/host.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { entityTag, unlessKnown } from '../../shared/http/conditional.ts';
import { jsonReply, type Reply } from '../../shared/http/reply.ts';
import type { Handle } from '../../shared/http/router.ts';
import { userIdOf } from '../../shared/http/user-id.ts';
import { createDeployments } from '../../shared/models/deployments.ts';
import { deprecationHeaders } from '../../shared/models/deprecation.ts';
import { DeploymentNotFound } from '../../shared/models/errors.ts';
import { createInventory, type Inventory } from '../../shared/models/inventory.ts';
import type { Model } from '../../shared/models/model.ts';
import { type ModelReader, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { type ModelEntry, type ModelList, modelEntryOf } from './model-entry.ts';

interface VisibleModels {
  list: () => Promise<Model[]>;
  find: (name: string) => Promise<Model>;
  /** Added to every reply. */
  headers: Record<string, string>;
}

type VisibleModelsFor = (event: ApiEvent) => Promise<VisibleModels>;

/** The shared models, which everyone can see. */
export const sharedModels = (inventory: Inventory): VisibleModelsFor => {
  const listing = {
    list: inventory.list,
    find: (name: string) => inventory.find(name),
    headers: { 'cache-control': 'public, max-age=30' },
  };
  return async () => listing;
};

/** The deployments of the key's organization that the key can use. @throws 401, 400 for a missing user id */
export const ownDeployments =
  (keys: ReadableKeys, host: Host, deploymentsOf: (organization: string) => Inventory): VisibleModelsFor =>
  async (event) => {
    const item = await authenticateForRead(keys, presentedKey(event, host));
    event.sender = { key_id: item.id, org_id: item.org };
    userIdOf(event);
    const inventory = deploymentsOf(item.org);
    const isAllowed = (name: string): boolean => isModelAllowed(item, name);
    return {
      list: async () => (await inventory.list()).filter(({ name }) => isAllowed(name)),
      find: async (name) => {
        const others = await inventory.list();
        const model = others.find((other) => other.name === name && isAllowed(name));
        if (model) return model;
        throw new DeploymentNotFound(name, others.map((model) => model.name).filter(isAllowed));
      },
      headers: { 'cache-control': 'private, max-age=30', vary: 'authorization, x-user-id' },
    };
  };

interface ListingDependencies {
  host: Host;
  keys: ReadableKeys;
  models: ModelReader;
  now: () => number;
}

/** The models that a caller of the host can see. */
export const createVisibleModels = ({ host, keys, models, now }: ListingDependencies): VisibleModelsFor =>
  host.scope === 'serverless'
    ? sharedModels(createInventory(models, SERVERLESS_POOL, now))
    : ownDeployments(keys, host, createDeployments(models, now));

const tagged = (event: ApiEvent, body: ModelEntry | ModelList, headers: Record<string, string>): Reply => {
  const reply = jsonReply(event.requestId, 200, body, headers);
  return unlessKnown(event, entityTag(reply.body), reply);
};

/** The models that the caller can use, in OpenAI's format, with context lengths, prices and capabilities. */
export const listModels =
  (listingFor: VisibleModelsFor): Handle =>
  async (event) => {
    const { list, headers } = await listingFor(event);
    const models = await list();
    return tagged(event, { object: 'list', data: models.map((model) => modelEntryOf(model, event.receivedAtMs)) }, headers);
  };

/** One of these models, or 404. */
export const retrieveModel =
  (listingFor: VisibleModelsFor): Handle =>
  async (event) => {
    const { find, headers } = await listingFor(event);
    const model = await find(event.pathParameters?.model ?? '');
    return tagged(event, modelEntryOf(model, event.receivedAtMs), { ...headers, ...deprecationHeaders(model) });
  };
