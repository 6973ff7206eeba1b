import type { Deployment } from '../../../shared/deployments/deployment.ts';

// An installation is made for fewer deployments. Further ones are not counted.
const MAX_DEPLOYMENTS = 2_000;
const PARALLEL_READS = 25;

/**
 * The instances of this installation's deployments by type, as their last passes observed them. Other endpoints of the
 * account are not counted.
 * @param ids of all deployments that are not deleted
 */
export const instancesUsed = async (
  ids: AsyncIterable<string>,
  find: (id: string) => Promise<Deployment | undefined>,
): Promise<Map<string, number>> => {
  const used = new Map<string, number>();
  const count = async (batch: readonly string[]): Promise<void> => {
    for (const row of await Promise.all(batch.map(find)))
      for (const { instance_type, instances } of row?.meter?.running ?? [])
        used.set(instance_type, (used.get(instance_type) ?? 0) + instances);
  };
  let batch: string[] = [];
  let read = 0;
  for await (const id of ids) {
    if (++read > MAX_DEPLOYMENTS) break;
    if (batch.push(id) < PARALLEL_READS) continue;
    await count(batch);
    batch = [];
  }
  await count(batch);
  return used;
};
