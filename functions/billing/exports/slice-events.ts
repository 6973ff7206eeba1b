import { MAX_EVENT_SHARDS } from '../../../shared/admission/item/shards.ts';
import type { LimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import { shardsOfKey } from '../../../shared/admission/stores/shards-of-key.ts';
import type { BillingSettingsStore } from '../../../shared/billing/billing-settings-store.ts';
import type { EventExport } from '../../../shared/billing/export.ts';
import type { InvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { requestTimeMs } from '../../../shared/ids/request-id.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import type { GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import type { UsageStore } from '../../../shared/usage/usage-store.ts';
import { eventsOfKeyDay } from '../key-events.ts';
import type { PriceStores } from '../prices/price-versions.ts';
import type { ExportSlice, SliceDependencies } from './export-slices.ts';

/** The stores from which the text of a file is made. */
export interface FileSources extends SliceDependencies, PriceStores {
  limiters: SliceDependencies['limiters'] & Pick<LimiterStore, 'get' | 'getMany'>;
  usage: Pick<UsageStore, 'listByBucket'>;
  gpuEvents: Pick<GpuEventStore, 'listDays' | 'listByDeployment'>;
  invoices: Pick<InvoiceStore, 'ofMonth'>;
  settings: Pick<BillingSettingsStore, 'getSeller' | 'getProfile'>;
  nameOf: (organization: string) => Promise<string>;
}

/**
 * The events of a slice that the export includes, in the order in which their requests arrived.
 * @param after the id of the last event already exported
 */
export async function* eventsOf(
  { limiters, usage }: Pick<FileSources, 'limiters' | 'usage'>,
  { from_ms, to_ms, models }: EventExport,
  { of, day }: ExportSlice,
  after: string,
): AsyncGenerator<UsageEvent> {
  const key = { id: of, shards: (await shardsOfKey(limiters, of)) ?? MAX_EVENT_SHARDS };
  for await (const event of eventsOfKeyDay(usage, key, day)) {
    const arrivedMs = requestTimeMs(event.request_id);
    if (event.request_id <= after || arrivedMs < from_ms || arrivedMs >= to_ms) continue;
    if (models === null || models.includes(event.model ?? '')) yield event;
  }
}
