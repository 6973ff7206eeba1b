import type { InvoiceLine } from '../../../shared/billing/invoice.ts';
import { endOfMonth, startOfMonth } from '../../../shared/billing/month.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { costText, timeText } from './charge-units.ts';
import { CATEGORIES, detailIdOf } from './charges.ts';
import type { CostAndUsageRow } from './columns.ts';
import type { IssuedInvoice } from './invoice-detail.ts';

const SERVICE = { ServiceCategory: 'AI and Machine Learning', ServiceSubcategory: 'Generative AI' };
const TOKENS_SERVICE = 'Model inference';
/** The service name of deployments; the default is that of models. */
export const TIME_SERVICE = 'Model deployments';
const HOST = 'Amazon Web Services';

/** The charged organization, and the seller who bills it from now on: an issued invoice has its own. */
export interface Account {
  organization: string;
  name: string;
  currency: string;
  seller: string;
}

/** The month of some charges, and its issued invoice, if any. */
export interface InvoicedMonth {
  account: Account;
  month: string;
  invoice: IssuedInvoice | undefined;
  /** The positions of the invoice's lines, from 0, by their groups. */
  places: ReadonlyMap<string, readonly number[]>;
}

/** A charge that becomes a row; `columns` overrides the derived ones. */
export interface FocusCharge {
  kind: InvoiceLine['kind'];
  /** Default: that of its kind. */
  category?: 'Adjustment';
  description: string;
  /** In units of 10⁻¹⁸. */
  cost: bigint;
  startMs: number;
  endMs: number;
  isCorrection?: boolean;
  /** The position of its line on the invoice; undefined if it has none. */
  line: number | undefined;
  columns: Partial<CostAndUsageRow>;
}

export const periodOfDay = (day: string) => ({ startMs: Date.parse(day), endMs: Date.parse(day) + DAY_MS });
export const periodOfMonth = (month: string) => ({ startMs: startOfMonth(month), endMs: endOfMonth(month) });

/** A charge as a row of Cost and Usage. No discounts exist, so its four costs are equal. */
export const chargeRow = ({ account, month, invoice }: InvoicedMonth, charge: FocusCharge): CostAndUsageRow => {
  const { kind, category = CATEGORIES[kind], line, columns } = charge;
  const cost = costText(charge.cost);
  const billing = periodOfMonth(month);
  const seller = invoice?.seller.legal_name ?? account.seller;
  return {
    BilledCost: cost,
    BillingAccountId: account.organization,
    BillingAccountName: account.name,
    BillingCurrency: invoice?.currency ?? account.currency,
    BillingPeriodEnd: timeText(billing.endMs),
    BillingPeriodStart: timeText(billing.startMs),
    ChargeCategory: category,
    ChargeClass: charge.isCorrection ? 'Correction' : null,
    ChargeDescription: charge.description,
    ChargeFrequency: category === 'Usage' ? 'Usage-Based' : 'One-Time',
    ChargePeriodEnd: timeText(charge.endMs),
    ChargePeriodStart: timeText(charge.startMs),
    ConsumedQuantity: null,
    ConsumedUnit: null,
    ContractedCost: cost,
    EffectiveCost: cost,
    HostProviderName: HOST,
    InvoiceDetailId: invoice && line !== undefined ? detailIdOf(invoice.number, line) : null,
    InvoiceId: invoice?.number ?? null,
    InvoiceIssuerName: seller,
    ListCost: cost,
    ListUnitPrice: null,
    PricingQuantity: null,
    PricingUnit: null,
    ResourceId: null,
    ResourceName: null,
    ResourceType: null,
    ...SERVICE,
    ServiceName: TOKENS_SERVICE,
    ServiceProviderName: seller,
    SkuId: null,
    SkuMeter: null,
    SkuPriceId: null,
    SubAccountId: null,
    x_ChargeKind: kind,
    x_InstanceType: null,
    x_PriceVersionId: null,
    x_ProjectId: null,
    ...columns,
  };
};
