import { DeploymentNotFound, DeploymentNotReady } from './errors.ts';
import { createInventory, type Inventory } from './inventory.ts';
import { keptByOwner } from './kept-by-owner.ts';
import type { ModelReader } from './model-store.ts';

const absent = (name: string, model: object | undefined, names: readonly string[]): Error =>
  model ? new DeploymentNotReady(name) : new DeploymentNotFound(name, names);

/**
 * The deployments of each organization as one environment caches them, at most 30 s old. An organization never sees
 * another's.
 */
export const createDeployments = (store: ModelReader, now: () => number): ((organization: string) => Inventory) =>
  keptByOwner((organization) => createInventory(store, organization, now, { keptUnpublished: true, absent }));
