import type { BilledMonth, BillingState, ReplacedMonth } from '../../../shared/billing/billed-month.ts';
import { billedFileKey } from '../../../shared/billing/billed-month.ts';
import { putFile, sha256Of } from '../../../shared/billing/billing-files.ts';
import type { BillingSettingsStore } from '../../../shared/billing/billing-settings-store.ts';
import { canonicalJson } from '../../../shared/billing/canonical-json.ts';
import type { Invoice } from '../../../shared/billing/invoice.ts';
import { closableAt } from '../../../shared/billing/month.ts';
import { buyerParty, sellerParty } from '../../../shared/billing/parties.ts';
import { DEFAULT_TERMS } from '../../../shared/billing/seller.ts';
import type { PromiseStore } from '../../../shared/service-levels/promise-store.ts';
import type { PriceStores } from '../prices/price-versions.ts';
import { chargeLines, composeInvoice } from './compose-invoice.ts';
import { loadDay } from './day-file.ts';
import { chargesOf, type Inputs } from './inputs.ts';
import { createInvoicePrices, readPrices } from './invoice-prices.ts';
import { toProjectCharge } from './project-sums.ts';
import { type CoverageDependencies, type InvoiceCoverage, readCoverage } from './read-coverage.ts';
import { serviceLevelsOf } from './service-levels.ts';
import { promisesOf } from './service-sums.ts';
import type { Taxes } from './taxes.ts';

export interface DraftDependencies extends CoverageDependencies, PriceStores {
  settings: Pick<BillingSettingsStore, 'getSeller' | 'getProfile'>;
  nameOf: (organization: string) => Promise<string>;
  taxes: Taxes;
  servicePromises: Pick<PromiseStore, 'list'>;
  /** Sluice's version. */
  release: string;
}

export interface InvoiceToDraft {
  organization: string;
  month: string;
  /** The id of the new invoice. */
  invoice: string;
  state: BillingState;
}

/** A draft, if anything is charged or credited, and the months that it bills. */
export interface Draft {
  invoice: Invoice | undefined;
  months: InvoiceCoverage['months'];
}

// Seller and buyer are read again when the invoice is issued.
const blankInvoice = async ({ settings, nameOf, release }: DraftDependencies, { organization, month, invoice: id }: InvoiceToDraft) => {
  const [seller, profile, name] = await Promise.all([settings.getSeller(), settings.getProfile(organization), nameOf(organization)]);
  const { currency, currency_symbol, payment_terms_days, payment_instructions } = seller ?? {
    ...DEFAULT_TERMS,
    payment_instructions: null,
  };
  return {
    id,
    organization,
    month,
    state: 'draft' as const,
    number: null,
    currency,
    currency_symbol,
    seller: seller ? sellerParty(seller) : null,
    buyer: buyerParty(profile, name),
    purchase_order: profile.purchase_order,
    payment_terms_days: profile.payment_terms_days ?? payment_terms_days,
    payment_instructions,
    credited_nanos: 0n,
    inputs_sha256: '',
    inputs: null,
    release,
    created_at: closableAt(month),
    issued_at: null,
    due_at: null,
    paid_at: null,
    payment_reference: null,
    voided_at: null,
    void_reason: null,
    files: {},
    version: 1,
  };
};

const replacedOf = (months: InvoiceCoverage['months'], month: string): ReplacedMonth[] =>
  months.map(({ before }: { before: BilledMonth | undefined }) => ({ month: before?.month ?? month, before: before ?? null }));

/**
 * Drafts a month's invoice from the events. The same events, prices, settings and taxes make the same draft.
 * @throws OutOfTime if days are still unread; call it again to continue
 */
export const draftInvoice = async (deps: DraftDependencies, wanted: InvoiceToDraft): Promise<Draft> => {
  const { organization, month, invoice, state } = wanted;
  const allPromises = await deps.servicePromises.list();
  const { days, months } = await readCoverage(deps, { ...wanted, promises: allPromises });
  const { groups, projects, services } = await chargesOf(days, (day, read) => loadDay(deps.files, organization, day, read));
  const prices = await readPrices(deps, organization, [...groups.values()].flat());
  const carriedNanos = state.carried_forward_nanos;
  const charges = chargeLines({ month, groups, prices: createInvoicePrices(prices), carriedNanos });
  if (charges.length === 0) return { invoice: undefined, months };

  const promises = promisesOf(allPromises, month);
  const service_levels = serviceLevelsOf(promises, services.get(month) ?? new Map(), groups.get(month) ?? []);
  const blank = {
    ...(await blankInvoice(deps, wanted)),
    projects: projects.map(toProjectCharge),
    ...(service_levels.length > 0 && { service_levels }),
    replaced: replacedOf(months, month),
  };
  const untaxed: Invoice = { ...blank, ...composeInvoice(blank, charges, []) };
  const taxes = untaxed.subtotal_nanos > 0n ? await deps.taxes(untaxed) : [];
  const inputs: Inputs = {
    ...{ invoice, organization, month, days, prices, carried_forward_nanos: carriedNanos, taxes },
    ...(promises.length > 0 && { promises }),
  };
  const content = Buffer.from(canonicalJson(inputs));
  const sha256 = sha256Of(content);
  const file = await putFile(deps.files, billedFileKey(organization, month, sha256), content, 'application/json');
  return { invoice: { ...untaxed, ...composeInvoice(blank, charges, taxes), inputs_sha256: sha256, inputs: file }, months };
};
