import { isDeepStrictEqual } from 'node:util';
import type { Write } from '../../../shared/database/transaction.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { Model } from '../../../shared/models/model.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { modelOf, routingOf } from './inventory-row.ts';

type ModelRows = Pick<ModelStore, 'get' | 'toCreate' | 'toReplace' | 'toDelete' | 'toRetire' | 'retiredPrices'>;

/** The inventory's rows of a deployment. */
export interface InventoryRows {
  /** The row in the pool of its organization. */
  own?: Model | undefined;
  /** The shared model, if an admin published the deployment. */
  shared?: Model | undefined;
}

export const readInventory = async (models: ModelRows, { organization, name, published_as }: Deployment): Promise<InventoryRows> => {
  const [own, shared] = await Promise.all([
    models.get(organization, name),
    published_as === undefined ? undefined : models.get(SERVERLESS_POOL, published_as),
  ]);
  return { own, shared };
};

/** True if another model has the deployment's name. */
export const isNameInUse = ({ id }: Deployment, { own }: InventoryRows): boolean => own !== undefined && own.deployment?.id !== id;

const isEqual = (one: Model, other: Model): boolean => isDeepStrictEqual(Model.parse(one), Model.parse(other));

/** The writes that update the inventory to match a deployment; none if it matches. */
export const toUpdateInventory = (models: ModelRows, installation: string, next: Deployment, { own, shared }: InventoryRows): Write[] => {
  const { organization, id } = next;
  const writes: Write[] = [];
  const isShared = shared?.deployment?.id === id;
  if (isShared) {
    const changed = { ...shared, ...routingOf(installation, next) };
    if (!isEqual(changed, shared)) writes.push(models.toReplace(SERVERLESS_POOL, changed));
  }
  if (own && own.deployment?.id !== id) return writes;
  const wanted = Model.parse({ ...modelOf(installation, next), version: own?.version ?? 1 });
  if (!own) writes.push(models.toCreate(organization, wanted));
  else if (!isEqual(wanted, own)) writes.push(models.toReplace(organization, wanted));
  return writes;
};

/**
 * The writes that remove a deleted deployment from the inventory. The prices of the shared model stay, because usage
 * events refer to them.
 */
export const toRemoveFromInventory = async (models: ModelRows, next: Deployment, { own, shared }: InventoryRows): Promise<Write[]> => {
  const { organization, id } = next;
  const writes: Write[] = own?.deployment?.id === id ? [models.toDelete(organization, own)] : [];
  if (shared?.deployment?.id !== id) return writes;
  const retired = await models.retiredPrices(SERVERLESS_POOL, shared.name);
  return [
    ...writes,
    models.toDelete(SERVERLESS_POOL, shared),
    models.toRetire(SERVERLESS_POOL, shared.name, [...retired, ...shared.prices]),
  ];
};
