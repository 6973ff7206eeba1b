import { DeploymentNotFound, DeploymentNotReady } from './errors.ts';
import { createInventory, type Inventory } from './inventory.ts';
import type { ModelReader } from './model-store.ts';

const MAX_CACHED_ORGANIZATIONS = 1_000;

/**
 * The deployments of each organization as one environment caches them, at most 30 s old. An organization never sees
 * another's.
 */
export const createDeployments = (store: ModelReader, now: () => number): ((organization: string) => Inventory) => {
  const inventories = new Map<string, Inventory>();
  const absent = (name: string, model: object | undefined, names: readonly string[]): Error =>
    model ? new DeploymentNotReady(name) : new DeploymentNotFound(name, names);
  return (organization) => {
    const known = inventories.get(organization) ?? createInventory(store, organization, now, absent);
    inventories.delete(organization);
    inventories.set(organization, known);
    if (inventories.size > MAX_CACHED_ORGANIZATIONS) inventories.delete(inventories.keys().next().value as string);
    return known;
  };
};
