import { isDeepStrictEqual } from 'node:util';
import { inParallel, throwFailures } from '../../../../shared/database/in-parallel.ts';
import { type GpuDay, type GpuEventStore, gpuDaysOf } from '../../../../shared/usage/gpu-event-store.ts';
import { abs } from './drift.ts';

/** A deployment, which can be deleted by now. */
export interface DeploymentOfDay {
  id: string;
  organization: string;
}

/** Wrong sums of GPU time, and the absolute differences. */
export interface GpuDrift {
  rows: number;
  instance_seconds: bigint;
  cost_nanos: bigint;
}

const ORGANIZATIONS_AT_ONCE = 4;

const nameOf = ({ deploymentId, instanceType }: GpuDay): string => `${deploymentId} ${instanceType}`;

/**
 * Sums the GPU time of a UTC day again from its events, and replaces the sums that differ. Sums are read before
 * events and are replaced only if they have not changed since, so deployments can be metered concurrently.
 * @param deployments those that existed on that day
 */
export const rebuildGpuDays = async (gpuEvents: GpuEventStore, day: string, deployments: readonly DeploymentOfDay[]): Promise<GpuDrift> => {
  const drift = { rows: 0, instance_seconds: 0n, cost_nanos: 0n };
  const replace = async (organization: string, read: GpuDay | undefined, sums: GpuDay | undefined): Promise<void> => {
    if (isDeepStrictEqual(read, sums)) return;
    drift.rows++;
    drift.instance_seconds += abs((sums?.instanceSeconds ?? 0n) - (read?.instanceSeconds ?? 0n));
    drift.cost_nanos += abs((sums?.costNanos ?? 0n) - (read?.costNanos ?? 0n));
    await gpuEvents.replaceDay(organization, read, sums);
  };
  const organizations = [...Map.groupBy(deployments, ({ organization }) => organization)];
  const failures = await inParallel(organizations, ORGANIZATIONS_AT_ONCE, async ([organization, own]) => {
    const stored = new Map((await Array.fromAsync(gpuEvents.listDays(organization, day, day))).map((sums) => [nameOf(sums), sums]));
    const ids = new Set([...own.map(({ id }) => id), ...[...stored.values()].map(({ deploymentId }) => deploymentId)]);
    for (const id of ids)
      for (const sums of gpuDaysOf(await Array.fromAsync(gpuEvents.listByDeployment(id, day, day)))) {
        const read = stored.get(nameOf(sums));
        stored.delete(nameOf(sums));
        await replace(organization, read, sums);
      }
    for (const read of stored.values()) await replace(organization, read, undefined);
  });

  throwFailures(failures);
  return drift;
};
