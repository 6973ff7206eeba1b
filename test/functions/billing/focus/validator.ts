import { parse } from 'csv-parse/sync';

// Checks files against FOCUS 1.4 by its specification (https://github.com/FinOps-Open-Cost-and-Usage-Spec/FOCUS_Spec).
// It shares no code with the writer: columns are one table of text, amounts are rationals of BigInt.

export type Row = Record<string, string>;

// Name, feature level (m: mandatory, o: other), nullable (n), and the kind of value.
const COST_AND_USAGE_TABLE = `
BilledCost m - decimal
BillingAccountId m - text
BillingAccountName m n text
BillingCurrency m - currency
BillingPeriodEnd m - time
BillingPeriodStart m - time
ChargeCategory m - Usage|Purchase|Tax|Credit|Adjustment
ChargeClass m n Correction
ChargeDescription m n text
ChargeFrequency o - One-Time|Recurring|Usage-Based
ChargePeriodEnd m - time
ChargePeriodStart m - time
ConsumedQuantity o n decimal
ConsumedUnit o n unit
ContractedCost m - decimal
EffectiveCost m - decimal
HostProviderName m - text
InvoiceDetailId o n text
InvoiceId o n text
InvoiceIssuerName m - text
ListCost m - decimal
ListUnitPrice o n decimal
PricingQuantity m n decimal
PricingUnit m n unit
ResourceId o n text
ResourceName o n text
ResourceType o n text
ServiceCategory m - AI_and_Machine_Learning
ServiceName m - text
ServiceProviderName m - text
ServiceSubcategory o - Generative_AI
SkuId o n text
SkuMeter o n text
SkuPriceId o n text
SubAccountId o n text
`;

const INVOICE_DETAIL_TABLE = `
BilledCost m - decimal
BillingAccountId m - text
BillingCurrency m - currency
BillingPeriodEnd m - time
BillingPeriodStart m - time
ChargeCategory m - Usage|Purchase|Tax|Credit|Adjustment
InvoiceDetailCreated m - time
InvoiceDetailDescription m n text
InvoiceDetailGrain m n keyvalues
InvoiceDetailId m - text
InvoiceDetailLastUpdated m - time
InvoiceId m - text
InvoiceIssueDate m n time
InvoiceIssueStatus m - Open|Issued|Voided
InvoiceIssuerName m - text
PaymentCurrency m - currency
PaymentDueDate m n time
PaymentTerms m - text
PurchaseOrderNumber o n text
ReferenceInvoiceId m - text
`;

const GRAIN_PROPERTIES = new Set([
  'ContractId',
  'RegionId',
  'ResourceId',
  'ResourceType',
  'ServiceName',
  'SkuId',
  'SkuMeter',
  'SkuPriceId',
  'SubAccountId',
]);

class FocusFault extends Error {}

const fail = (message: string): never => {
  throw new FocusFault(message);
};

const isKeyValues = (text: string): boolean => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([key, field]) => (GRAIN_PROPERTIES.has(key) || key.startsWith('x_')) && (field === null || typeof field !== 'object'),
  );
};

const KINDS: Readonly<Record<string, (text: string) => boolean>> = {
  // FOCUS forbids a plus sign and grouping. E-notation, which it allows for large numbers, has no plus sign either.
  decimal: (text) => /^-?(0|[1-9]\d*)(\.\d+)?(E-?\d+)?$/.test(text),
  text: (text) => text.trim() !== '' && !/^(n\/?a|not applicable|null|none)$/i.test(text),
  currency: (text) => /^[A-Z]{3}$/.test(text),
  time: (text) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(text) && !Number.isNaN(Date.parse(text)),
  unit: (text) => /^([1-9]\d* )?[A-Z][A-Za-z]*s(-[A-Z][a-z]*s)?$/.test(text),
  keyvalues: isKeyValues,
};

const isOfKind = (kind: string, text: string): boolean =>
  KINDS[kind]?.(text) ??
  kind
    .split('|')
    .map((allowed) => allowed.replaceAll('_', ' '))
    .includes(text);

interface Column {
  name: string;
  isMandatory: boolean;
  isNullable: boolean;
  kind: string;
}

const columnsOf = (table: string): Column[] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([name = '', level, nulls, kind = '']) => ({ name, isMandatory: level === 'm', isNullable: nulls === 'n', kind }));

const checkHeader = (header: readonly string[], columns: readonly Column[]): void => {
  const own = header.filter((name) => !name.startsWith('x_'));
  const custom = header.filter((name) => name.startsWith('x_'));
  const known = new Set(columns.map(({ name }) => name));
  const missing = columns.filter(({ name, isMandatory }) => isMandatory && !own.includes(name)).map(({ name }) => name);
  if (missing.length > 0) fail(`The file lacks the mandatory columns ${missing.join(', ')}.`);
  for (const name of own) if (!known.has(name)) fail(`FOCUS has no column ${name}.`);
  if (new Set(header).size !== header.length) fail('A column occurs twice.');
  const expected = [...[...own].sort(), ...[...custom].sort()];
  if (expected.join() !== header.join()) fail(`The columns are not in order: ${header.join(', ')}.`);
  for (const name of custom) if (!/^x_[A-Z][A-Za-z0-9]*$/.test(name)) fail(`The custom column ${name} is not in Pascal case.`);
};

const checkCells = (rows: readonly Row[], columns: readonly Column[]): void => {
  for (const [i, row] of rows.entries())
    for (const { name, isNullable, kind } of columns) {
      const text = row[name];
      if (text === undefined) continue;
      if (text === '' ? !isNullable : !isOfKind(kind, text)) fail(`Row ${i + 1}: ${name} must not be '${text}'.`);
    }
};

// A numerator and a power of ten.
const rational = (text: string): { units: bigint; decimals: number } => {
  const [mantissa = '', exponent = '0'] = text.split('E');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const decimals = fraction.length - Number(exponent);
  const units = BigInt(whole + fraction);
  return decimals >= 0 ? { units, decimals } : { units: units * 10n ** BigInt(-decimals), decimals: 0 };
};
const SCALE = 40;
const scaled = (text: string): bigint => {
  const { units, decimals } = rational(text);
  return units * 10n ** BigInt(SCALE - decimals);
};
const isProduct = (product: string, a: string, b: string): boolean => scaled(a) * scaled(b) === scaled(product) * 10n ** BigInt(SCALE);

// In units of 10⁻⁴⁰.
const sumOf = (rows: readonly Row[], name: string): bigint => rows.reduce((sum, row) => sum + scaled(row[name] ?? ''), 0n);

const isMonth = (start: string, end: string): boolean => {
  const from = new Date(start);
  const next = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1));
  return start.endsWith('-01T00:00:00Z') && next.getTime() === Date.parse(end);
};

const read = (text: string, columns: readonly Column[]): Row[] => {
  const [header = [], ...lines] = parse(text) as string[][];
  checkHeader(header, columns);
  const rows = lines.map((cells) => Object.fromEntries(header.map((name, i) => [name, cells[i] ?? ''])));
  checkCells(rows, columns);
  for (const { BillingPeriodStart = '', BillingPeriodEnd = '' } of rows)
    if (!isMonth(BillingPeriodStart, BillingPeriodEnd))
      fail(`${BillingPeriodStart} to ${BillingPeriodEnd} is not a month with an exclusive end.`);
  return rows;
};

/** Checks a file of Invoice Detail. @param payable the amount of its only invoice @returns its rows */
export const checkInvoiceDetail = (text: string, payable: string): Row[] => {
  const rows = read(text, columnsOf(INVOICE_DETAIL_TABLE));
  if (sumOf(rows, 'BilledCost') !== scaled(payable)) fail(`The costs do not add up to ${payable}.`);
  if (new Set(rows.map(({ InvoiceDetailId }) => InvoiceDetailId)).size !== rows.length) fail('An InvoiceDetailId occurs twice.');
  if (new Set(rows.map(({ InvoiceId }) => InvoiceId)).size > 1) fail('The file has more than one invoice.');
  return rows;
};

const COSTS = ['ListCost', 'ContractedCost', 'EffectiveCost'];
const PRICED = ['SkuMeter', 'SkuPriceId', 'ListUnitPrice', 'PricingQuantity', 'PricingUnit'];

const checkCharge = (row: Row, i: number): void => {
  const { ChargeCategory, ChargeClass, SkuPriceId, ListUnitPrice = '', PricingQuantity = '', ListCost = '', ChargePeriodStart = '' } = row;
  const isUncorrectedUsage = ChargeCategory === 'Usage' && ChargeClass === '';
  if (isUncorrectedUsage && SkuPriceId === '') fail(`Row ${i}: usage needs a SkuPriceId.`);
  if (isUncorrectedUsage && row.ConsumedQuantity === '') fail(`Row ${i}: usage needs a ConsumedQuantity.`);
  if (ChargeCategory !== 'Usage' && row.ConsumedQuantity !== '') fail(`Row ${i}: only usage has a ConsumedQuantity.`);
  const filled = PRICED.filter((name) => row[name] !== '');
  if (filled.length !== 0 && filled.length !== PRICED.length) fail(`Row ${i}: only ${filled.join(', ')} of its price are there.`);
  if (ChargeCategory === 'Tax' && filled.length > 0) fail(`Row ${i}: a tax has no price.`);
  if (filled.length > 0 && !isProduct(ListCost, ListUnitPrice, PricingQuantity)) fail(`Row ${i}: ListCost is not price × quantity.`);
  if (ListUnitPrice.startsWith('-')) fail(`Row ${i}: a price is negative.`);
  if ((row.ConsumedQuantity === '') !== (row.ConsumedUnit === '')) fail(`Row ${i}: a quantity without its unit.`);
  if (ChargeCategory === 'Credit' && row.ContractedCost !== row.BilledCost) fail(`Row ${i}: the costs of a credit differ.`);
  if (!(Date.parse(ChargePeriodStart) < Date.parse(row.ChargePeriodEnd ?? ''))) fail(`Row ${i}: its period is empty.`);
  const isEarlier = ChargePeriodStart < (row.BillingPeriodStart ?? '');
  if (isEarlier !== (ChargeClass === 'Correction')) fail(`Row ${i}: only charges of an earlier month are corrections, and all of them.`);
  if (!isEarlier && (row.ChargePeriodEnd ?? '') > (row.BillingPeriodEnd ?? '')) fail(`Row ${i}: it is charged before it was used.`);
  if (row.InvoiceDetailId !== '' && row.InvoiceId === '') fail(`Row ${i}: a line of no invoice.`);
};

/**
 * Checks a file of Cost and Usage.
 * @param payable the amounts of the invoices whose months are whole, by number
 * @returns its rows
 */
export const checkCostAndUsage = (text: string, payable: Readonly<Record<string, string>> = {}): Row[] => {
  const rows = read(text, columnsOf(COST_AND_USAGE_TABLE));
  for (const [i, row] of rows.entries()) checkCharge(row, i + 1);
  const skus = new Map<string, string>();
  for (const { SkuPriceId = '', SkuId = '' } of rows)
    if (SkuPriceId !== '' && (skus.get(SkuPriceId) ?? SkuId) !== SkuId) fail(`${SkuPriceId} has more than one SkuId.`);
    else skus.set(SkuPriceId, SkuId);
  for (const [invoice, amount] of Object.entries(payable)) {
    const own = rows.filter(({ InvoiceId }) => InvoiceId === invoice);
    if (sumOf(own, 'BilledCost') !== scaled(amount)) fail(`The costs of ${invoice} do not add up to ${amount}.`);
  }
  for (const name of COSTS) if (sumOf(rows, name) !== sumOf(rows, 'BilledCost')) fail(`The sums of ${name} and BilledCost differ.`);
  return rows;
};

/** The sum of some rows' costs, as a decimal number in units of 10⁻⁴⁰. */
export const billedSum = (rows: readonly Row[]): bigint => sumOf(rows, 'BilledCost');
/** An amount in the same units. */
export const amountOf = scaled;
