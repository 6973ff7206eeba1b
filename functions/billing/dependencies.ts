import type { LimiterConfigurationStore } from '../../shared/admission/limiter-configuration-store.ts';
import type { AuditDependencies } from '../../shared/audit/commit.ts';
import type { BilledMonthsStore } from '../../shared/billing/billed-months-store.ts';
import type { BillingTasks } from '../../shared/billing/billing-tasks.ts';
import type { OrganizationDirectory } from '../../shared/billing/organization-directory.ts';
import type { CreditStore } from '../../shared/credit/credit-store.ts';
import type { AccountTable } from '../../shared/database/record-table.ts';
import type { CatalogueStore } from '../../shared/deployments/catalogue-store.ts';
import type { ModelStore } from '../../shared/models/model-store.ts';
import type { Outbox } from '../../shared/notifications/outbox.ts';
import type { GpuEventStore } from '../../shared/usage/gpu-event-store.ts';
import type { RollupStore } from '../../shared/usage/rollup-store.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';

/** What the rules of the function `billing` work with. */
export interface BillingDependencies extends AuditDependencies {
  /** The table `billing`, and its name. */
  billing: AccountTable;
  billingTable: string;
  billedMonths: BilledMonthsStore;
  organizations: OrganizationDirectory;
  /** API keys and organizations with their limits, budgets and credit. */
  limiters: LimiterConfigurationStore;
  keysTable: string;
  credit: CreditStore;
  usageTable: string;
  usage: UsageStore;
  gpuEvents: GpuEventStore;
  rollups: RollupStore;
  models: ModelStore;
  catalogue: CatalogueStore;
  outbox: Outbox;
  tasks: BillingTasks;
  now: () => number;
  /** False when a task must save its progress and end. */
  hasTime: () => boolean;
}
