import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type IssuedInvoice, issued } from '../../../functions/billing/focus/invoice-detail.ts';
import { FONT_FILES, type Fonts } from '../../../functions/billing/render/fonts.ts';
import { CreditNote, Invoice, type InvoiceLine } from '../../../shared/billing/invoice.ts';
import type { CreditLine } from '../../../shared/service-levels/service-level.ts';

const require = createRequire(import.meta.url);
const fontOf = (name: string): Buffer => readFileSync(require.resolve(FONT_FILES[name] as string));

const fonts: Fonts = { regular: fontOf('regular.ttf'), bold: fontOf('bold.ttf') };

/** The fonts as the package has them; next to a bundle they have the same bytes. */
export const testFonts = async (): Promise<Fonts> => fonts;

const MONTH = '2026-10';
const NO_FACTS = {
  month: MONTH,
  is_correction: false,
  model: null,
  token_kind: null,
  deployment: null,
  deployment_name: null,
  instance_type: null,
  price_version: null,
  quantity: null,
  unit: null,
  unit_price_nanos: null,
};

/** A line without a quantity, with these facts. */
export const lineWith = (facts: Pick<InvoiceLine, 'kind' | 'description' | 'amount_nanos'> & Partial<InvoiceLine>): InvoiceLine => ({
  ...NO_FACTS,
  ...facts,
});

const tokens = (model: string, token_kind: 'prompt' | 'cached_prompt' | 'completion', quantity: bigint, price: bigint): InvoiceLine =>
  lineWith({
    kind: 'tokens',
    description: `${model}, ${token_kind.replace('_', ' ')} tokens`,
    model,
    token_kind,
    price_version: 'price_1',
    quantity,
    unit: 'token',
    unit_price_nanos: price,
    amount_nanos: (quantity * price + 500_000n) / 1_000_000n,
  });

// Lines of every kind. With the rounding that `invoiceWith` adds, they are whole cents.
const someLines = (): InvoiceLine[] => [
  tokens('meta-llama/Llama-3.3-70B-Instruct', 'prompt', 812_345_678n, 500_000_000n),
  tokens('meta-llama/Llama-3.3-70B-Instruct', 'cached_prompt', 12_345_678n, 50_000_000n),
  tokens('meta-llama/Llama-3.3-70B-Instruct', 'completion', 98_765_433n, 1_500_000_001n),
  lineWith({
    kind: 'metering_difference',
    description: 'meta-llama/Llama-3.3-70B-Instruct, rounding of each request',
    model: 'meta-llama/Llama-3.3-70B-Instruct',
    price_version: 'price_1',
    amount_nanos: -1_234n,
  }),
  lineWith({
    kind: 'gpu_time',
    description: 'acme-support on ml.g5.2xlarge, instance-hours',
    deployment: 'dep_1',
    deployment_name: 'acme-support',
    instance_type: 'ml.g5.2xlarge',
    price_version: 'price_2',
    quantity: 1_801_805n,
    unit: 'second',
    unit_price_nanos: 1_515_000_000n,
    amount_nanos: 758_259_604_167n,
  }),
  lineWith({ kind: 'prepaid_credit', description: 'Paid from prepaid credit in October 2026', amount_nanos: -100_000_000_000n }),
  lineWith({
    ...tokens('small', 'prompt', -1_000n, 500_000_000n),
    description: 'small, prompt tokens',
    month: '2026-09',
    is_correction: true,
    amount_nanos: -500_000n,
  }),
  lineWith({ kind: 'tax', description: 'VAT 19 %', amount_nanos: 184_012_345_678n }),
];

const CENT = 10_000_000n;
const sum = (lines: readonly InvoiceLine[]): bigint => lines.reduce((total, { amount_nanos }) => total + amount_nanos, 0n);

/** An issued invoice with these lines, and one for the rounding to whole cents. */
export const invoiceWith = (lines: readonly InvoiceLine[] = someLines(), facts: Partial<Invoice> = {}): IssuedInvoice => {
  const exact = sum(lines);
  const rounding = ((exact + CENT / 2n) / CENT) * CENT - exact;
  const all =
    rounding === 0n
      ? [...lines]
      : [...lines, lineWith({ kind: 'rounding', description: 'Rounding', amount_nanos: rounding, month: facts.month ?? MONTH })];
  const tax = sum(lines.filter(({ kind }) => kind === 'tax'));
  return issued(
    Invoice.parse({
      id: 'inv_1',
      organization: 'org_1',
      month: MONTH,
      state: 'issued',
      number: 'INV-000042',
      currency: 'EUR',
      currency_symbol: '€',
      seller: {
        legal_name: 'Schleuse Rechenbetriebe GmbH',
        address: { lines: ['Straße der Brücken 7', '20457 Hamburg'], country: 'DE' },
        tax_id: 'DE123456789',
        email: 'rechnung@schleuse.example',
      },
      buyer: {
        legal_name: 'Ακμή Τεχνολογίες ΑΕ – Общество «Ромашка» & Zażółć Gęślą Jaźń Spółka z ograniczoną odpowiedzialnością',
        address: { lines: ['Οδός Ερμού 12', '105 63 Αθήνα'], country: 'GR' },
        tax_id: 'EL094019245',
        email: null,
      },
      purchase_order: 'PO-2026/1187',
      payment_terms_days: 30,
      payment_instructions: 'IBAN DE02 1203 0000 0000 2020 51, BIC BYLADEM1001\nPlease state the number of the invoice.',
      lines: all,
      subtotal_nanos: exact - tax,
      tax_nanos: tax,
      total_nanos: exact + rounding,
      carried_forward_nanos: 0n,
      credited_nanos: 0n,
      inputs_sha256: 'c0ffee'.padEnd(64, '0'),
      inputs: null,
      release: '1.0.0',
      created_at: Date.parse('2026-11-01T01:00:00Z'),
      issued_at: Date.parse('2026-11-01T01:03:12.345Z'),
      due_at: Date.parse('2026-12-01T01:03:12.345Z'),
      paid_at: null,
      voided_at: null,
      void_reason: null,
      files: {},
      version: 2,
      ...facts,
    }),
  );
};

/** A credit note for the invoice above. */
export const creditNoteWith = (facts: Partial<CreditNote> = {}): CreditNote => {
  const { seller, buyer, currency, currency_symbol, id, number, organization } = invoiceWith();
  return CreditNote.parse({
    id: 'cn_1',
    organization,
    number: 'CN-000003',
    invoice: id,
    invoice_number: number,
    currency,
    currency_symbol,
    seller,
    buyer,
    reason: 'Two hours on 7 October in which your deployment did not answer.',
    amount_nanos: 12_500_000_000n,
    issued_at: Date.parse('2026-11-12T09:30:00Z'),
    files: {},
    version: 1,
    ...facts,
  });
};

const creditLine = (line: Partial<CreditLine> & Pick<CreditLine, 'kind' | 'description' | 'amount_nanos'>): CreditLine => ({
  model: null,
  measure: null,
  threshold: null,
  requests: null,
  answered: null,
  p95_ms: null,
  base_nanos: null,
  percent: null,
  ...line,
});

/** The fields of a credit note for service levels. */
export const SERVICE_CREDIT = {
  reason: 'Service levels of 2026-10',
  amount_nanos: 123_450_000_000n,
  lines: [
    creditLine({
      kind: 'service_credit',
      description: 'qwen3-8b: 99,812 of 100,000 requests answered, below 0.999',
      model: 'qwen3-8b',
      measure: 'availability',
      threshold: '0.999',
      requests: 100_000,
      answered: 99_812,
      base_nanos: 1_234_567_891_234n,
      percent: 10,
      amount_nanos: 123_456_789_123n,
    }),
    creditLine({ kind: 'rounding', description: 'Rounding to whole cents', amount_nanos: -6_789_123n }),
  ],
};

/** Many lines with long names, for several pages. */
export const manyLines = (count: number): InvoiceLine[] =>
  Array.from({ length: count }, (_, i) =>
    tokens(
      `organization-with-a-long-name/model-${i}-with-a-name-that-is-longer-than-its-column-${'x'.repeat(i % 70)}`,
      i % 2 === 0 ? 'prompt' : 'completion',
      BigInt(1_000_003 * (i + 1)),
      333_333_333n,
    ),
  );
