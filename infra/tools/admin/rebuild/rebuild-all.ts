import type { StoredApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import type { Organization } from '../../../../functions/control/organizations/organization.ts';
import type { OrganizationStore } from '../../../../functions/control/organizations/organization-store.ts';
import type { ProjectStore } from '../../../../functions/control/projects/project-store.ts';
import type { Rollups } from '../../../../functions/rollup/rollup.ts';
import type { AuditStore } from '../../../../shared/audit/audit-store.ts';
import type { SdkDatabase } from '../../../../shared/database/sdk-database.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import type { DeploymentDayStore } from '../../../../shared/usage/deployment-day-store.ts';
import type { GpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { listDaysOfUsage } from './days-of-usage.ts';
import { type Differences, noDifferences } from './drift.ts';
import { readLimitingChanges } from './limiting-changes.ts';
import { type GpuDrift, rebuildGpuDays } from './rebuild-gpu-days.ts';
import { type LimiterDependencies, type LimiterReport, noLimiterReport, rebuildLimiters } from './rebuild-limiters.ts';
import { type MoneyDependencies, type MoneyReport, noMoneyReport, rebuildMoney } from './rebuild-money.ts';
import { rebuildProject } from './rebuild-projects.ts';
import { type RequestRowDependencies, rebuildRequestRows } from './rebuild-request-rows.ts';
import { rebuild } from './rebuild-totals.ts';
import { rebuildUsers } from './rebuild-users.ts';
import { listUnlisted, type UnlistedLimiters } from './unlisted-limiters.ts';

export interface AllDependencies extends LimiterDependencies, MoneyDependencies {
  database: SdkDatabase;
  keysTable: string;
  usageTable: string;
  usage: MoneyDependencies['usage'] & Rollups['usage'];
  rollups: Rollups['rollups'];
  totals: Rollups['totals'];
  gpuEvents: GpuEventStore;
  deploymentDays: DeploymentDayStore;
  organizations: OrganizationStore;
  projects: ProjectStore;
  audit: AuditStore;
  /** Absent: the rows by which requests are searched stay as they are. */
  requestRows?: RequestRowDependencies['requestRows'];
}

/** Counts of the rebuilt rows, and of those that were wrong. */
export interface AllReport {
  days: number;
  organizations: number;
  keys: number;
  events: number;
  cost_nanos: bigint;
  /** Totals of keys, of organizations and of GPU time. */
  totals: Differences['drift'];
  behind: Differences['behind'];
  gpu_time: GpuDrift;
  limiters: LimiterReport;
  money: MoneyReport;
  request_rows: number;
}

const PAGE = 100;
// Enough for a million organizations.
const MAX_ORGANIZATION_PAGES = 10_000;

// The limiter of a temporary key has not counted what an earlier key with its id spent.
const countsSince = ({ series, created_at }: StoredApiKey): number => (series === undefined ? 0 : created_at * SECOND_MS);

const listOrganizations = async ({ organizations }: AllDependencies): Promise<Organization[]> => {
  const all: Organization[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_ORGANIZATION_PAGES; page++) {
    const { data, next } = await organizations.list({ limit: PAGE, ...(after !== undefined && { after }) });
    all.push(...data);
    if (next === null) return all;
    after = next;
  }
  throw new Error(`There are more than ${MAX_ORGANIZATION_PAGES * PAGE} organizations.`);
};

const addDrift = (sum: Differences['drift'], { rows, events, cost_nanos }: Differences['drift']): void => {
  sum.rows += rows;
  sum.events += events;
  sum.cost_nanos += cost_nanos;
};

const rebuildDays = async (deps: AllDependencies, keys: ReadonlyMap<string, StoredApiKey>, report: AllReport): Promise<void> => {
  const days = await listDaysOfUsage(deps.database, deps.usageTable, (id) => keys.get(id)?.shards);
  for (const { day, keys, deployments } of days) {
    const ofDay = await rebuild(deps, day, keys, deps.now);
    report.events += ofDay.events;
    report.cost_nanos += ofDay.cost_nanos;
    for (const { drift, behind } of [ofDay, ofDay.organizations]) {
      addDrift(report.totals, drift);
      report.behind.rows += behind.rows;
      report.behind.events += behind.events;
    }
    const gpuTime = await rebuildGpuDays(deps.gpuEvents, day, deployments);
    report.gpu_time.rows += gpuTime.rows;
    report.gpu_time.instance_seconds += gpuTime.instance_seconds;
    report.gpu_time.cost_nanos += gpuTime.cost_nanos;
    const { usage, requestRows } = deps;
    if (requestRows) report.request_rows += await rebuildRequestRows({ usage, requestRows }, { day, keys }, deps.now());
  }
  report.days = days.length;
};

const rebuildOrganization = async (
  deps: AllDependencies,
  organization: Organization,
  { keys, unlisted }: { keys: readonly StoredApiKey[]; unlisted: UnlistedLimiters },
  report: AllReport,
): Promise<void> => {
  const changes = await readLimitingChanges(deps.audit, organization.id);
  const { isLimited, items, configure } = await rebuildLimiters(deps, organization, keys, report.limiters);
  const counting = (id: string, counted: readonly StoredApiKey[], sinceMs: number) =>
    rebuildMoney(deps, { id, items: items.get(id) ?? 1, keys: counted, sinceMs }, report.money);
  for (const key of keys) await counting(key.id, [key], countsSince(key));
  if (isLimited) await counting(organization.id, keys, changes.organizationSinceMs ?? 0);
  // Parts of a budget follow what the items have counted.
  await configure();
  for await (const project of deps.projects.listAll(organization.id))
    await rebuildProject(deps, project, { keys, known: unlisted.projects.get(project.id) ?? [], changes }, report);
  for (const key of keys) {
    if (key.per_user === null) continue;
    await rebuildUsers(deps, key, { known: unlisted.users.get(key.id) ?? [], periods: changes.perUser.get(key.id) }, report);
  }
};

/**
 * Makes everything again that follows from usage events and from the rows of organizations, projects and keys: all
 * totals, lost limiter items, what limiters have counted, credit. Requests can continue meanwhile. Repeated, it finds
 * nothing wrong.
 */
export const rebuildAll = async (deps: AllDependencies): Promise<AllReport> => {
  const report: AllReport = {
    ...{ days: 0, organizations: 0, keys: 0, events: 0, cost_nanos: 0n },
    totals: noDifferences().drift,
    behind: noDifferences().behind,
    gpu_time: { rows: 0, instance_seconds: 0n, cost_nanos: 0n },
    limiters: noLimiterReport(),
    money: noMoneyReport(),
    request_rows: 0,
  };
  const organizations = await listOrganizations(deps);
  const keys = new Map<string, StoredApiKey>();
  for (const { id } of organizations) for await (const key of deps.apiKeys.listAll(id)) keys.set(key.id, key);
  await rebuildDays(deps, keys, report);
  const unlisted = await listUnlisted(deps.database, deps.keysTable);
  const ofOrganization = Map.groupBy(keys.values(), ({ organization }) => organization);
  for (const organization of organizations)
    await rebuildOrganization(deps, organization, { keys: ofOrganization.get(organization.id) ?? [], unlisted }, report);
  return { ...report, organizations: organizations.length, keys: keys.size };
};

/** True if something was wrong, though it is right now, or could not be compared. */
export const wasWrong = ({ totals, gpu_time, limiters, money }: AllReport): boolean =>
  totals.rows + gpu_time.rows + limiters.created + limiters.configured + limiters.to_rotate.length + money.wrong + money.busy.length > 0;
