import type { S3Client } from '@aws-sdk/client-s3';
import type { LimiterConfigurationStore } from '../../shared/admission/stores/limiter-configuration-store.ts';
import type { AuditDependencies } from '../../shared/audit/commit.ts';
import type { BilledMonthsStore } from '../../shared/billing/billed-months-store.ts';
import type { BillingFiles } from '../../shared/billing/billing-files.ts';
import type { BillingSettingsStore } from '../../shared/billing/billing-settings-store.ts';
import type { BillingTasks } from '../../shared/billing/billing-tasks.ts';
import type { CreditNoteStore } from '../../shared/billing/credit-note-store.ts';
import type { ExportStore } from '../../shared/billing/export-store.ts';
import type { InvoiceStore } from '../../shared/billing/invoice-store.ts';
import type { NumberStore } from '../../shared/billing/number-store.ts';
import type { OrganizationDirectory } from '../../shared/billing/organization-directory.ts';
import type { RerateStore } from '../../shared/billing/rerate-store.ts';
import type { CreditStore } from '../../shared/credit/credit-store.ts';
import type { CatalogueStore } from '../../shared/deployments/catalogue-store.ts';
import type { DeploymentStore } from '../../shared/deployments/deployment-store.ts';
import type { ModelStore } from '../../shared/models/model-store.ts';
import type { Outbox } from '../../shared/notifications/outbox.ts';
import type { PromiseStore } from '../../shared/service-levels/promise-store.ts';
import type { GpuEventStore } from '../../shared/usage/gpu-event-store.ts';
import type { OrganizationTotalsStore } from '../../shared/usage/organization-totals-store.ts';
import type { RollupStore } from '../../shared/usage/rollup-store.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';
import type { AlertStore } from './alerts/alert-store.ts';
import type { Taxes } from './close/taxes.ts';
import type { MeterStore } from './meters/meter-store.ts';
import type { Fonts } from './render/fonts.ts';
import type { WriteOnceFiles } from './render/write-once-files.ts';

/** The stores and clients of the function `billing`. */
export interface BillingTaskDependencies extends AuditDependencies {
  organizations: OrganizationDirectory;
  /** The name of an organization. @throws 404 */
  nameOf: (organization: string) => Promise<string>;
  /** Limiters of API keys and organizations, with their limits, budgets and credit. */
  limiters: LimiterConfigurationStore;
  keysTable: string;
  credit: CreditStore;
  usage: UsageStore;
  gpuEvents: GpuEventStore;
  rollups: RollupStore;
  totals: OrganizationTotalsStore;
  deployments: Pick<DeploymentStore, 'list'>;
  models: ModelStore;
  catalogue: CatalogueStore;
  settings: BillingSettingsStore;
  invoices: InvoiceStore;
  creditNotes: CreditNoteStore;
  numbers: NumberStore;
  billedMonths: BilledMonthsStore;
  rerates: RerateStore;
  servicePromises: PromiseStore;
  exports: ExportStore;
  alerts: AlertStore;
  meters: MeterStore;
  files: BillingFiles & WriteOnceFiles;
  /** The client and bucket of these files, for uploads in parts. */
  s3: S3Client;
  bucket: string;
  fonts: () => Promise<Fonts>;
  taxes: Taxes;
  /** The id of the secret with the API key of a Stripe account; undefined: usage is not exported. */
  stripeSecret: string | undefined;
  outbox: Outbox;
  tasks: BillingTasks;
  /** Sluice's version. */
  release: string;
  now: () => number;
  wait: (ms: number) => Promise<unknown>;
  /** False when a task must save its progress and end. */
  hasTime: () => boolean;
}
