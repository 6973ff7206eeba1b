import { createHash } from 'node:crypto';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createInvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { type Control, controlOf } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { newInvoice } from '../../support/fixtures/invoices.ts';

let run: TestRun;
let control: Control;
let admin: string;
beforeAll(async () => {
  run = await shareTestRun();
  control = controlOf(run);
  ({ token: admin } = await control.asAdmin());
});
afterAll(async () => {
  await run.control('s3');
  await run.close();
});

const SELLER = { legal_name: 'Example GmbH', address: { lines: ['Hafenstraße 1', 'Hamburg'], country: 'DE' }, issue: 'manual' };

const CONTENT = 'kind,amount\ntokens,100\n';

const store = async (key: string): Promise<void> => {
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const s3 = new S3Client({ endpoint: run.s3_endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
  await s3.send(new PutObjectCommand({ Bucket: run.buckets.BillingFiles, Key: key, Body: CONTENT }));
  s3.destroy();
};

test('a draft is issued, downloaded, credited and paid by requests', async () => {
  await control.done('PUT', '/v1/billing/seller', { token: admin, body: SELLER });
  const { id: organization } = await control.createOrganization();
  const owner = await control.createUser({ role: 'owner', organization });
  const profile = { legal_name: 'Acme Corporation', purchase_order: 'PO-4711' };
  const changed = await control.call('PATCH', '/v1/billing/profile', { token: owner.token, body: profile });
  expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"1"']);

  const invoices = createInvoiceStore(createRecordTable(run.database, run.tables.Billing as string));
  // Nothing is billed in this run, so there is nothing to give back.
  const draft = newInvoice({ organization, replaced: [] });
  await transact(run.database, invoices.toCreate(draft));
  const csv = {
    key: `invoices/${organization}/${draft.id}.csv`,
    sha256: createHash('sha256').update(CONTENT).digest('hex'),
    bytes: CONTENT.length,
  };
  await store(csv.key);
  // Documents that are rendered meanwhile would change between two requests.
  await run.control('s3', { kind: 'unavailable', method: 'PUT' });
  const path = `/v1/billing/invoices/${draft.id}`;
  expect((await control.call('GET', path, { token: owner.token })).status).toBe(404);
  const issued = await control.done('POST', `${path}/issue`, { token: admin, headers: { 'if-match': '"1"' } });
  expect(issued).toMatchObject({
    state: 'issued',
    number: expect.stringMatching(/^INV-\d{6}$/),
    buyer: { legal_name: 'Acme Corporation' },
    purchase_order: 'PO-4711',
    total: '100',
  });
  expect(await control.done('GET', path, { token: owner.token })).toEqual(issued);

  await transact(run.database, [...invoices.toReplace(await invoices.get(organization, draft.id), { files: { csv } })]);
  const pending = await control.call('GET', `${path}/files/pdf`, { token: owner.token });
  expect([pending.status, pending.body.error.code, pending.headers.get('retry-after')]).toEqual([409, 'not_rendered_yet', '5']);
  const download = await control.done('GET', `${path}/files/csv`, { token: owner.token });
  const file = await fetch(download.url);
  expect([file.status, await file.text(), download.sha256]).toEqual([200, CONTENT, csv.sha256]);

  const credit = { token: admin, body: { amount: '12.50', reason: 'Outage' }, headers: { 'idempotency-key': 'outage-1' } };
  const note = await control.done('POST', `${path}/credit-notes`, credit);
  expect(note).toMatchObject({ number: expect.stringMatching(/^CN-\d{6}$/), invoice_number: issued.number, amount: '12.5' });
  expect(await control.done('POST', `${path}/credit-notes`, credit)).toEqual(note);
  expect(await control.done('POST', `${path}/pay`, { token: admin, body: { reference: 'Transfer 7' } })).toMatchObject({
    state: 'paid',
    credited: '12.5',
    payment_reference: 'Transfer 7',
  });
  const list = await control.done('GET', '/v1/billing/credit-notes', { token: owner.token });
  expect(list).toMatchObject({ data: [note], has_more: false });
});
