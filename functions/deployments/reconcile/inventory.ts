import { isDeepStrictEqual } from 'node:util';
import type { Write } from '../../../shared/database/transaction.ts';
import { isServed } from '../../../shared/deployments/adapter.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { Model } from '../../../shared/models/model.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { toRetirePrices } from '../../../shared/models/retire-prices.ts';
import { type AdapterFacts, adapterModelOf, modelOf, routingOf } from './inventory-row.ts';

type ModelRows = Pick<ModelStore, 'get' | 'toCreate' | 'toReplace' | 'toDelete' | 'toRetire' | 'retiredPrices'>;

/** The inventory's rows of a deployment. */
export interface InventoryRows {
  /** The row in the pool of its organization. */
  own?: Model | undefined;
  /** The shared model, if an admin published the deployment. */
  shared?: Model | undefined;
  /** The rows with the names of its adapters, by name. */
  adapters: ReadonlyMap<string, Model>;
}

export const readInventory = async (
  models: ModelRows,
  { organization, name, published_as, adapters = [] }: Deployment,
): Promise<InventoryRows> => {
  const [own, shared, ...found] = await Promise.all([
    models.get(organization, name),
    published_as === undefined ? undefined : models.get(SERVERLESS_POOL, published_as),
    ...adapters.map((adapter) => models.get(organization, adapter.name)),
  ]);
  return { own, shared, adapters: new Map(found.filter((row) => row !== undefined).map((row) => [row.name, row])) };
};

/** True if another model has the deployment's name. */
export const isNameInUse = ({ id }: Deployment, { own }: InventoryRows): boolean => own !== undefined && own.deployment?.id !== id;

/** The names of a deployment's adapters that other models have, too. */
export const namesInUse = ({ id }: Deployment, { adapters }: Pick<InventoryRows, 'adapters'>): string[] =>
  [...adapters.values()].filter(({ deployment }) => deployment?.id !== id).map(({ name }) => name);

const isEqual = (one: Model, other: Model): boolean => isDeepStrictEqual(Model.parse(one), Model.parse(other));

// The surcharges of an adapter stay, because usage events refer to them. Its free price doesn't.
const toDeleteAdapter = async (models: ModelRows, organization: string, row: Model): Promise<Write[]> => {
  const deletion = models.toDelete(organization, row);
  const surcharges = row.prices.filter(({ is_surcharge }) => is_surcharge);
  return surcharges.length === 0
    ? [deletion]
    : [deletion, await toRetirePrices(models, organization, { name: row.name, prices: surcharges })];
};

const toDeleteAdapters = async (models: ModelRows, organization: string, rows: readonly Model[]): Promise<Write[]> =>
  (await Promise.all(rows.map((row) => toDeleteAdapter(models, organization, row)))).flat();

// Adapters that aren't served have no row.
const toUpdateAdapters = async (
  models: ModelRows,
  installation: string,
  next: Deployment,
  { adapters: rows }: InventoryRows,
  facts: AdapterFacts,
): Promise<Write[]> => {
  const served = (next.adapters ?? []).filter(isServed);
  const ofOthers = namesInUse(next, { adapters: rows });
  const changes = served.flatMap((adapter): Write[] => {
    const row = rows.get(adapter.name);
    if (ofOthers.includes(adapter.name)) return [];
    const wanted = Model.parse({ ...adapterModelOf(installation, next, adapter, facts), version: row?.version ?? 1 });
    if (!row) return [models.toCreate(next.organization, wanted)];
    return isEqual(wanted, row) ? [] : [models.toReplace(next.organization, wanted)];
  });
  const names = new Set([...ofOthers, ...served.map(({ name }) => name)]);
  const unserved = [...rows.values()].filter(({ name }) => !names.has(name));
  return [...changes, ...(await toDeleteAdapters(models, next.organization, unserved))];
};

/** The writes that update the inventory to match a deployment; none if it matches. */
export const toUpdateInventory = async (
  models: ModelRows,
  installation: string,
  next: Deployment,
  rows: InventoryRows,
  facts: AdapterFacts,
): Promise<Write[]> => {
  const { own, shared } = rows;
  const { organization, id } = next;
  const writes = await toUpdateAdapters(models, installation, next, rows, facts);
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
 * The writes that remove a deleted deployment from the inventory. The prices of the shared model and the surcharges of
 * adapters stay, because usage events refer to them.
 */
export const toRemoveFromInventory = async (
  models: ModelRows,
  next: Deployment,
  { own, shared, adapters }: InventoryRows,
): Promise<Write[]> => {
  const { organization, id } = next;
  const isOwn = (row: Model | undefined): row is Model => row?.deployment?.id === id;
  const ofAdapters = await toDeleteAdapters(models, organization, [...adapters.values()].filter(isOwn));
  const writes = [...(isOwn(own) ? [models.toDelete(organization, own)] : []), ...ofAdapters];
  if (shared?.deployment?.id !== id) return writes;
  return [...writes, models.toDelete(SERVERLESS_POOL, shared), await toRetirePrices(models, SERVERLESS_POOL, shared)];
};
