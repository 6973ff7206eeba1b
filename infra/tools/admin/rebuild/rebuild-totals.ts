import type { Rollups } from '../../../../functions/rollup/rollup.ts';
import { inParallel, throwFailures } from '../../../../shared/database/in-parallel.ts';
import type { SdkDatabase } from '../../../../shared/database/sdk-database.ts';
import { createDeploymentDayStore } from '../../../../shared/usage/deployment-day-store.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { createOrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import { createRollupStore } from '../../../../shared/usage/rollup-store.ts';
import { createUsageStore } from '../../../../shared/usage/usage-store.ts';
import { type Differences, noDifferences } from './drift.ts';
import { type GpuDrift, rebuildGpuDays } from './rebuild-gpu-days.ts';
import { type EventSums, type KeyRows, type KeyShards, rebuildKey } from './rebuild-key.ts';
import { readOrganization, rebuildOrganization } from './rebuild-organization.ts';
import { listDeployments, listKeysUsed } from './used-that-day.ts';

interface RebuildReport extends EventSums, Differences {
  day: string;
  keys: number;
  organizations: { count: number } & Differences;
}

const ORGANIZATIONS_AT_ONCE = 4;
const KEYS_AT_ONCE = 2;

/**
 * Recomputes the rows of a UTC day from its events, as the stream's consumer does, and replaces those that differ.
 * Rows are read before events and are replaced only if they have not changed since, so consumers can run
 * concurrently.
 * @param keys the keys that were used on that day; an unused key costs 144 empty queries
 * @throws AggregateError if some keys failed; all others are rebuilt, and all organizations none of whose keys failed
 */
export const rebuild = async (deps: Rollups, day: string, keys: readonly KeyShards[], now: () => number): Promise<RebuildReport> => {
  const organizations = [...Map.groupBy(keys, ({ organization }) => organization)];
  const sums = { events: 0, requests: 0, cost_nanos: 0n };
  const report = {
    ...{ day, keys: keys.length, ...sums, ...noDifferences() },
    organizations: { count: organizations.length, ...noDifferences() },
  };
  const failures = await inParallel(organizations, ORGANIZATIONS_AT_ONCE, async ([organization, own]) => {
    const nowMs = now();
    const stored = await readOrganization(deps, organization, day, nowMs);
    const rows: KeyRows = { whole: [], late: [] };
    const keyFailures = await inParallel(own, KEYS_AT_ONCE, async (key) => {
      const { whole, late } = await rebuildKey(deps, day, key, nowMs, report);
      for (const row of whole) rows.whole.push(row);
      for (const row of late) rows.late.push(row);
    });
    throwFailures(keyFailures);
    await rebuildOrganization(deps, { day, stored, keys: rows, nowMs }, report.organizations);
  });
  throwFailures(failures);
  return report;
};

/**
 * Rebuilds the totals of a UTC day for every key that was used since the day began, and the sums of GPU time; see
 * `rebuild`.
 */
export const rebuildTotals = async (
  database: SdkDatabase,
  tables: { keys: string; usage: string; deployments: string },
  day: string,
): Promise<RebuildReport & { gpu_time: GpuDrift }> => {
  const keys = await listKeysUsed(database, tables.keys, Date.parse(day));
  const deps = {
    usage: createUsageStore(database, tables.usage),
    rollups: createRollupStore(database, tables.usage),
    totals: createOrganizationTotalsStore(database, tables.usage),
    deploymentDays: createDeploymentDayStore(database, tables.usage),
  };
  const report = await rebuild(deps, day, keys, Date.now);
  const deployments = await listDeployments(database, tables.deployments);
  return { ...report, gpu_time: await rebuildGpuDays(createGpuEventStore(database, tables.usage), day, deployments) };
};
