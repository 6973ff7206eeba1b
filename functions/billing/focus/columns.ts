import { type Cell, csvLines } from '../../../shared/csv/csv.ts';

/**
 * The columns of FOCUS 1.4's dataset Cost and Usage that apply to us, in the order that FOCUS recommends: its own by
 * name, then custom ones by name (https://focus.finops.org/focus-specification/v1-4/).
 */
export const COST_AND_USAGE = [
  'BilledCost',
  'BillingAccountId',
  'BillingAccountName',
  'BillingCurrency',
  'BillingPeriodEnd',
  'BillingPeriodStart',
  'ChargeCategory',
  'ChargeClass',
  'ChargeDescription',
  'ChargeFrequency',
  'ChargePeriodEnd',
  'ChargePeriodStart',
  'ConsumedQuantity',
  'ConsumedUnit',
  'ContractedCost',
  'EffectiveCost',
  'HostProviderName',
  'InvoiceDetailId',
  'InvoiceId',
  'InvoiceIssuerName',
  'ListCost',
  'ListUnitPrice',
  'PricingQuantity',
  'PricingUnit',
  'ResourceId',
  'ResourceName',
  'ResourceType',
  'ServiceCategory',
  'ServiceName',
  'ServiceProviderName',
  'ServiceSubcategory',
  'SkuId',
  'SkuMeter',
  'SkuPriceId',
  'SubAccountId',
  'x_ChargeKind',
  'x_InstanceType',
  'x_PriceVersionId',
  'x_ProjectId',
] as const;

/**
 * All columns of FOCUS 1.4's dataset Invoice Detail but those for payment in a currency other than the billed one, then
 * our own.
 */
export const INVOICE_DETAIL = [
  'BilledCost',
  'BillingAccountId',
  'BillingCurrency',
  'BillingPeriodEnd',
  'BillingPeriodStart',
  'ChargeCategory',
  'InvoiceDetailCreated',
  'InvoiceDetailDescription',
  'InvoiceDetailGrain',
  'InvoiceDetailId',
  'InvoiceDetailLastUpdated',
  'InvoiceId',
  'InvoiceIssueDate',
  'InvoiceIssueStatus',
  'InvoiceIssuerName',
  'PaymentCurrency',
  'PaymentDueDate',
  'PaymentTerms',
  'PurchaseOrderNumber',
  'ReferenceInvoiceId',
  'x_ChargeKind',
  'x_PricingQuantity',
  'x_PricingUnit',
  'x_UnitPrice',
] as const;

type Row<Columns extends readonly string[]> = Record<Columns[number], Cell>;
export type CostAndUsageRow = Row<typeof COST_AND_USAGE>;
export type InvoiceDetailRow = Row<typeof INVOICE_DETAIL>;

/** The header of a file. */
export const headerOf = (columns: readonly string[]): string => csvLines([columns]);

/** Rows as CSV, without the header. */
export const linesOf = <Columns extends readonly string[]>(columns: Columns, rows: readonly Row<Columns>[]): string =>
  rows.length === 0 ? '' : csvLines(rows.map((row) => columns.map((name) => row[name as Columns[number]])));
