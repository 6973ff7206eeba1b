import type { EventExport } from '../../../shared/billing/export.ts';
import { DEFAULT_TERMS } from '../../../shared/billing/seller.ts';
import type { InvoicedMonth } from '../focus/charge-row.ts';
import { COST_AND_USAGE, type CostAndUsageRow, linesOf } from '../focus/columns.ts';
import { invoiceCharges, timeCharges, tokenCharges } from '../focus/cost-and-usage.ts';
import { addTime, addTokens, type TimeGroup, type TokenGroup } from '../focus/day-groups.ts';
import { issued } from '../focus/invoice-detail.ts';
import { type Charged, placesOfLines } from '../focus/line-groups.ts';
import { createPriceVersions } from '../prices/price-versions.ts';
import type { ExportSlice } from './export-slices.ts';
import { eventsOf, type FileSources } from './slice-events.ts';

const DEFAULT_SELLER = 'Sluice';

/** Makes the FOCUS rows of an export's slices. @param sums in place: the costs of the current month's rows */
export const createFocusSlices = async (deps: FileSources, wanted: EventExport, sums: Map<string, bigint>) => {
  const { organization } = wanted;
  const [seller, profile, name] = await Promise.all([
    deps.settings.getSeller(),
    deps.settings.getProfile(organization),
    deps.nameOf(organization),
  ]);
  const prices = createPriceVersions(deps, organization);
  const account = {
    organization,
    name: profile.legal_name ?? name,
    currency: (seller ?? DEFAULT_TERMS).currency,
    seller: seller?.legal_name ?? DEFAULT_SELLER,
  };
  let current: InvoicedMonth | undefined;
  let summed = wanted.position?.unit.slice(0, '2026-10'.length);

  const enter = async ({ month }: ExportSlice): Promise<InvoicedMonth> => {
    if (summed !== month) sums.clear();
    summed = month;
    if (current?.month === month) return current;
    const found = (await deps.invoices.ofMonth(organization, month)).find(({ state }) => state === 'issued' || state === 'paid');
    current = { account, month, invoice: found && issued(found), places: placesOfLines(found?.lines ?? []) };
    return current;
  };

  const collect = (charged: readonly Charged[]): CostAndUsageRow[] => {
    for (const { group, cost } of charged.flatMap((part) => part.sums)) sums.set(group, (sums.get(group) ?? 0n) + cost);
    return charged.flatMap(({ rows }) => rows);
  };

  const ofKey = async (billed: InvoicedMonth, slice: ExportSlice): Promise<CostAndUsageRow[]> => {
    const groups = new Map<string, TokenGroup>();
    for await (const event of eventsOf(deps, wanted, slice, '')) addTokens(groups, event);
    const of = { keyId: slice.of, day: slice.day };
    return collect(
      await Promise.all(
        inOrder(groups).map(async (group) => tokenCharges(billed, of, group, await prices.ofTokens(group.model, group.priceVersion))),
      ),
    );
  };

  const ofDeployment = async (billed: InvoicedMonth, { of, day }: ExportSlice): Promise<CostAndUsageRow[]> => {
    const groups = new Map<string, TimeGroup>();
    for await (const event of deps.gpuEvents.listByDeployment(of, day, day)) addTime(groups, event);
    return collect(
      await Promise.all(
        inOrder(groups).map(async (group) => timeCharges(billed, day, group, await prices.ofTime(group.instanceType, group.priceVersion))),
      ),
    );
  };

  const rowsIn = (billed: InvoicedMonth, slice: ExportSlice): Promise<CostAndUsageRow[]> | CostAndUsageRow[] => {
    if (slice.kind === 'key') return ofKey(billed, slice);
    if (slice.kind === 'deployment') return ofDeployment(billed, slice);
    return billed.invoice ? invoiceCharges({ ...billed, invoice: billed.invoice }, sums) : [];
  };

  return {
    /** The rows of a slice as lines of the file. */
    rowsOf: async (slice: ExportSlice): Promise<{ text: string; rows: number }> => {
      const billed = await enter(slice);
      const rows = await rowsIn(billed, slice);
      return { text: linesOf(COST_AND_USAGE, rows), rows: rows.length };
    },
  };
};

// The order must not depend on that of the events.
const inOrder = <Group>(groups: ReadonlyMap<string, Group>): Group[] =>
  [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
