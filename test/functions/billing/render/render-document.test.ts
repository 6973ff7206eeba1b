import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { inflateSync } from 'node:zlib';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { creditNotePdf } from '../../../../functions/billing/render/credit-note-pdf.ts';
import type { Fonts } from '../../../../functions/billing/render/fonts.ts';
import { invoicePdf } from '../../../../functions/billing/render/invoice-pdf.ts';
import { renderDocument } from '../../../../functions/billing/render/render-document.ts';
import { createWriteOnceFiles } from '../../../../functions/billing/render/write-once-files.ts';
import { createMemoryStore } from '../../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../../infra/local/s3/server.ts';
import { sha256Of } from '../../../../shared/billing/billing-files.ts';
import { canonicalJson } from '../../../../shared/billing/canonical-json.ts';
import { createCreditNoteStore } from '../../../../shared/billing/credit-note-store.ts';
import type { CreditNote, Invoice, InvoiceLine } from '../../../../shared/billing/invoice.ts';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { textsOf } from '../../../support/clients/pdf-text.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { creditNoteWith, invoiceWith, lineWith, manyLines, SERVICE_CREDIT, testFonts } from '../documents.ts';
import { checkInvoiceDetail } from '../focus/validator.ts';

const BUCKET = 'billing-files';
let db: TestDatabase;
let s3: S3Emulator;
let client: S3Client;
let organization: string;

beforeAll(async () => {
  db = await startTestDatabase();
  s3 = await startS3(new Set([BUCKET]), createMemoryStore());
  client = new S3Client({ endpoint: s3.url, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
});

afterAll(async () => {
  client.destroy();
  await s3.close();
  await db.close();
});

beforeEach(() => {
  organization = newId('organization');
});

const setUp = () => {
  const table = createRecordTable(db.database, db.tables.Billing as string);
  const invoices = createInvoiceStore(table);
  const creditNotes = createCreditNoteStore(table);
  const files = createWriteOnceFiles(client, BUCKET);
  const deps = { database: db.database, invoices, creditNotes, files, fonts: testFonts };
  return {
    deps,
    stored: async (facts: Partial<Invoice> = {}): Promise<Invoice> => {
      const invoice = { ...invoiceWith(undefined, { id: newId('invoice'), organization }), ...facts };
      await transact(db.database, invoices.toCreate(invoice));
      return invoice;
    },
    storedNote: async (facts: Partial<CreditNote>): Promise<CreditNote> => {
      const note = creditNoteWith({ id: newId('creditNote'), organization, ...facts });
      await transact(db.database, creditNotes.toCreate(note));
      return note;
    },
    render: (document: string) => renderDocument(deps, { organization, document }),
  };
};

const read = async (key: string): Promise<Buffer> =>
  Buffer.from((await (await client.send(new GetObjectCommand({ Bucket: BUCKET, Key: key }))).Body?.transformToByteArray()) ?? []);

const contentOf = (pdf: Buffer): string => {
  const streams: string[] = [];
  for (let at = pdf.indexOf('stream\n'); at !== -1; at = pdf.indexOf('stream\n', at + 1)) {
    const end = pdf.indexOf('\nendstream', at);
    if (end === -1) continue;
    try {
      streams.push(inflateSync(pdf.subarray(at + 'stream\n'.length, end)).toString('latin1'));
    } catch {
      // A font, or the end of a stream.
    }
  }
  return streams.join('\n');
};
const pagesOf = (pdf: Buffer): number => pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0;

describe('renderDocument, for an issued invoice', () => {
  test('stores JSON, CSV, FOCUS and PDF files, and their hashes on the row', async () => {
    const { deps, stored, render } = setUp();
    const { id } = await stored();
    await render(id);
    const { files, state, version } = await deps.invoices.get(organization, id);
    expect([state, version]).toEqual(['issued', 3]);
    expect(Object.values(files).map(({ key }) => key)).toEqual(
      expect.arrayContaining(['.json', '.csv', '-focus.csv', '.pdf'].map((ending) => `invoices/${organization}/${id}${ending}`)),
    );
    for (const { key, sha256, bytes } of Object.values(files)) {
      const content = await read(key);
      expect([sha256Of(content), content.length]).toEqual([sha256, bytes]);
    }
    expect((await read(files.pdf?.key ?? '')).subarray(0, 5).toString()).toBe('%PDF-');
  });

  test('changes nothing the second time', async () => {
    const { deps, stored, render } = setUp();
    const { id } = await stored();
    await render(id);
    const before = await deps.invoices.get(organization, id);
    await render(id);
    expect(await deps.invoices.get(organization, id)).toEqual(before);
  });

  test('keeps a file that a crash left behind, although another release would make other bytes', async () => {
    const { deps, stored, render } = setUp();
    const { id } = await stored();
    const Key = `invoices/${organization}/${id}.pdf`;
    await client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'of an older release' }));
    await render(id);
    expect((await deps.invoices.get(organization, id)).files.pdf).toEqual({
      key: Key,
      sha256: sha256Of('of an older release'),
      bytes: 19,
    });
    expect((await read(Key)).toString()).toBe('of an older release');
  });

  test('renders again instead of losing a parallel change of the invoice', async () => {
    const { deps, stored, render } = setUp();
    const { id } = await stored();
    const paying = {
      ...deps,
      files: {
        putOnce: async (...[key, content, type]: Parameters<typeof deps.files.putOnce>) => {
          const current = await deps.invoices.get(organization, id);
          if (current.state === 'issued')
            await transact(db.database, [...deps.invoices.toReplace(current, { state: 'paid', paid_at: Date.parse('2026-11-05') })]);
          return deps.files.putOnce(key, content, type);
        },
      },
    };
    await expect(renderDocument(paying, { organization, document: id })).rejects.toMatchObject({ status: 412 });
    await render(id);
    const { state, files } = await deps.invoices.get(organization, id);
    expect([state, Object.keys(files)]).toEqual(['paid', expect.arrayContaining(['pdf'])]);
  });

  test('rejects another organization’s invoice, and a draft', async () => {
    const { deps, stored } = setUp();
    const { id } = await stored();
    await expect(renderDocument(deps, { organization: newId('organization'), document: id })).rejects.toMatchObject({ status: 404 });
    const draft = await stored({ id: newId('invoice'), month: '2026-11', state: 'draft', number: null, issued_at: null });
    await expect(renderDocument(deps, { organization, document: draft.id })).rejects.toThrow(/not issued/);
  });

  test('writes canonical JSON with exact amounts as text, and nothing that changes after the issue', async () => {
    const { stored, render } = setUp();
    const { id } = await stored();
    await render(id);
    const text = (await read(`invoices/${organization}/${id}.json`)).toString();
    const document = JSON.parse(text);
    expect(canonicalJson(document)).toBe(text);
    expect(document).toMatchObject({
      object: 'invoice',
      number: 'INV-000042',
      total: '1397.21',
      issued_at: 1793494992,
      tax: '184.012345678',
    });
    expect(document.lines[0]).toMatchObject({ quantity: 812_345_678, unit_price: '0.5', amount: '406.172839' });
    for (const name of ['state', 'paid_at', 'files', 'version', 'credited']) expect(document).not.toHaveProperty(name);
  });

  test('names an adjustment’s earlier price version in JSON and FOCUS, unless its line lacks it', async () => {
    const { deps, render } = setUp();
    const adjusted = lineWith({ kind: 'adjustment', description: 'small', model: 'small', price_version: 'price_9', amount_nanos: 10n });
    const filesOf = async (line: InvoiceLine) => {
      const invoice = invoiceWith([line], { id: newId('invoice'), organization });
      await transact(db.database, deps.invoices.toCreate(invoice));
      await render(invoice.id);
      return Promise.all(['.json', '-focus.csv'].map(async (end) => String(await read(`invoices/${organization}/${invoice.id}${end}`))));
    };
    const [json, focus] = await filesOf({ ...adjusted, rerate_from: 'price_7' });
    expect(json).toContain('"rerate_from":"price_7"');
    expect(focus).toContain('""x_RerateFrom"":""price_7""');
    expect((await filesOf(adjusted)).join()).not.toMatch(/rerate_?from/i);
  });

  test('writes CSV that adds up to the total, without formulas for a spreadsheet in names', async () => {
    const { deps, render } = setUp();
    const names = ['=HYPERLINK("http://a")', '+1+1', '@SUM(A1)', '-2+3', '\tx', 'plain, "quoted"\nname'];
    const lines = names.map((description) => lineWith({ kind: 'tokens', description, model: description, amount_nanos: -10_000_000n }));
    const invoice = invoiceWith([...lines, lineWith({ kind: 'tokens', description: 'rest', amount_nanos: 1_000_000_000n })], {
      id: newId('invoice'),
      organization,
    });
    await transact(db.database, deps.invoices.toCreate(invoice));
    await render(invoice.id);
    const rows: Record<string, string>[] = parse(await read(`invoices/${organization}/${invoice.id}.csv`), { columns: true });
    const total = rows.pop();
    expect(rows.map(({ description }) => description)).toEqual([
      ...names.slice(0, 5).map((name) => `'${name}`),
      'plain, "quoted"\nname',
      'rest',
    ]);
    expect(rows.map(({ amount }) => amount)).toEqual([...names.map(() => '-0.01'), '1']);
    expect(total).toMatchObject({ kind: 'total', amount: '0.94' });
  });

  test('writes CSV with customer, buyer, dates, period and purchase order in each row, and the total last', async () => {
    const { stored, render } = setUp();
    const { id, lines } = await stored();
    await render(id);
    const rows: Record<string, string>[] = parse(await read(`invoices/${organization}/${id}.csv`), { columns: true });
    expect(rows).toHaveLength(lines.length + 1);
    for (const row of rows)
      expect(row).toMatchObject({
        invoice: 'INV-000042',
        issued_at: '2026-11-01T01:03:12Z',
        due_at: '2026-12-01T01:03:12Z',
        organization,
        buyer: invoiceWith().buyer.legal_name,
        buyer_tax_id: 'EL094019245',
        purchase_order: 'PO-2026/1187',
        period_start: '2026-10-01T00:00:00Z',
        period_end: '2026-11-01T00:00:00Z',
        currency: 'EUR',
      });
    expect(rows.at(-1)).toMatchObject({ line: '', kind: 'total', description: 'Total due', month: '', quantity: '', amount: '1397.21' });
  });

  test('names an adjustment’s earlier price version in CSV', async () => {
    const { deps, render } = setUp();
    const line = lineWith({ kind: 'adjustment', description: 'small', price_version: 'price_9', amount_nanos: 10_000_000n });
    const invoice = invoiceWith([{ ...line, rerate_from: 'price_7' }], { id: newId('invoice'), organization });
    await transact(db.database, deps.invoices.toCreate(invoice));
    await render(invoice.id);
    const [row] = parse(await read(`invoices/${organization}/${invoice.id}.csv`), { columns: true }) as Record<string, string>[];
    expect(row).toMatchObject({ kind: 'adjustment', price_version: 'price_9', rerate_from: 'price_7' });
  });

  test('writes a valid FOCUS file whose costs add up to the total', async () => {
    const { stored, render } = setUp();
    const { id } = await stored();
    await render(id);
    const rows = checkInvoiceDetail((await read(`invoices/${organization}/${id}-focus.csv`)).toString(), '1397.21');
    expect(rows.map(({ ReferenceInvoiceId, InvoiceDetailId }) => [ReferenceInvoiceId, InvoiceDetailId])).toEqual(
      rows.map((_, i) => ['INV-000042', `INV-000042/${i + 1}`]),
    );
  });
});

describe('renderDocument, for a credit note', () => {
  test('stores its files, in which it corrects its invoice', async () => {
    const { deps, stored, storedNote, render } = setUp();
    const invoice = await stored();
    const { id } = await storedNote({ invoice: invoice.id });
    await render(id);
    await render(id);
    const { files } = await deps.creditNotes.get(organization, id);
    expect(Object.keys(files).sort()).toEqual(['csv', 'focus', 'json', 'pdf']);
    const [row] = checkInvoiceDetail((await read(files.focus?.key ?? '')).toString(), '-12.5');
    expect([row?.InvoiceId, row?.ReferenceInvoiceId]).toEqual(['CN-000003', 'INV-000042']);
    const json = await read(files.json?.key ?? '');
    expect(JSON.parse(json.toString())).toMatchObject({ object: 'credit_note', amount: '12.5', month: '2026-10' });
    const [csv] = parse(await read(files.csv?.key ?? ''), { columns: true }) as Record<string, string>[];
    expect(csv).toEqual({
      credit_note: 'CN-000003',
      issued_at: '2026-11-12T09:30:00Z',
      invoice: 'INV-000042',
      reason: 'Two hours on 7 October in which your deployment did not answer.',
      amount: '-12.5',
      currency: 'EUR',
      invoice_issued_at: '2026-11-01T01:03:12Z',
      organization,
      buyer: invoice.buyer.legal_name,
      buyer_tax_id: 'EL094019245',
      purchase_order: 'PO-2026/1187',
      period_start: '2026-10-01T00:00:00Z',
      period_end: '2026-11-01T00:00:00Z',
    });
    const printed = textsOf(await read(files.pdf?.key ?? '')).map(({ text }) => text);
    expect(printed).toContain(sha256Of(json));
  });

  test('has a row in CSV and a line in JSON for each promise that was missed', async () => {
    const { deps, stored, storedNote, render } = setUp();
    const { id } = await storedNote({ invoice: (await stored()).id, ...SERVICE_CREDIT });
    await render(id);
    const { files } = await deps.creditNotes.get(organization, id);
    const { lines, amount } = JSON.parse((await read(files.json?.key ?? '')).toString());
    const missed = { model: 'qwen3-8b', measure: 'availability', threshold: '0.999' };
    expect(lines).toMatchObject([
      { ...missed, requests: 100_000, answered: 99_812, base: '1234.567891234', percent: 10, amount: '123.456789123' },
      { kind: 'rounding', base: null, amount: '-0.006789123' },
    ]);
    const rows = parse(await read(files.csv?.key ?? ''), { columns: true }) as Record<string, string>[];
    expect(rows).toMatchObject([
      { ...missed, line: '1', requests: '100000', answered: '99812', base: '1234.567891234', percent: '10', amount: '-123.456789123' },
      { line: '2', kind: 'rounding', base: '', amount: '0.006789123' },
    ]);
    expect(amount).toBe('123.45');
  });
});

describe('a PDF', () => {
  test('has the same bytes in every process', async () => {
    const here = sha256Of(await invoicePdf(await testFonts(), invoiceWith(manyLines(30))));
    const script = path.join(import.meta.dirname, 'print-hash.ts');
    const there = ['UTC', 'Pacific/Auckland'].map((TZ) =>
      execFileSync(process.execPath, ['--no-warnings', script], {
        env: { ...process.env, NODE_OPTIONS: '', TZ, LANG: 'de_DE' },
      }).toString(),
    );
    expect(there).toEqual([here, here]);
  });

  test('has the same bytes after a PDF with other letters that look the same', async () => {
    const printed = (fonts: Fonts, letters: string) =>
      invoicePdf(fonts, invoiceWith([lineWith({ kind: 'tokens', description: `model-${letters}`, amount_nanos: 1n })]));
    const fonts = await testFonts();
    const unused = { regular: Buffer.from(fonts.regular), bold: Buffer.from(fonts.bold) };
    // A hyphen that does not break and a space that does not, Kelvin, Ohm and Ångström.
    await printed(fonts, '\u2011 \u00a0 \u212a \u2126 \u212b');
    const plain = '\u2010 \u0020 K \u03a9 \u00c5';
    expect(sha256Of(await printed(fonts, plain))).toBe(sha256Of(await printed(unused, plain)));
  });

  test('names the time of the issue and no other time, and embeds its fonts', async () => {
    const text = (await invoicePdf(await testFonts(), invoiceWith())).toString('latin1');
    expect(text.match(/D:\d{14}Z/g)).toEqual(['D:20261101010312Z', 'D:20261101010312Z']);
    expect(text).toContain('/FontFile2');
    expect(text).not.toContain('Helvetica');
  });

  test.each([
    ['DE', '[0 0 595.28 841.89]'],
    ['US', '[0 0 612 792]'],
  ])('has the paper size of a seller in %s', async (country, box) => {
    const seller = { legal_name: 'Seller', address: { lines: ['Street 1'], country }, tax_id: null, email: null };
    expect((await invoicePdf(await testFonts(), invoiceWith(undefined, { seller }))).toString('latin1')).toContain(`/MediaBox ${box}`);
  });

  test('has several pages for many lines, without losing one', async () => {
    const few = await invoicePdf(await testFonts(), invoiceWith(manyLines(2)));
    const many = await invoicePdf(await testFonts(), invoiceWith(manyLines(200)));
    expect(pagesOf(few)).toBe(1);
    expect(pagesOf(many)).toBeGreaterThan(10);
    // Each line sets five cells, and each page its head and foot.
    expect(contentOf(many).match(/\bTJ\b/g)?.length ?? 0).toBeGreaterThan(200 * 5);
  });

  test('has the same bytes each time for a credit note', async () => {
    const [one, other] = [
      await creditNotePdf(await testFonts(), creditNoteWith(), { invoice: invoiceWith(), sha256: '' }),
      await creditNotePdf(await testFonts(), creditNoteWith(), { invoice: invoiceWith(), sha256: '' }),
    ];
    expect(one.equals(other)).toBe(true);
  });
});
