import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { lookup } from '../../../../functions/control/lookup/lookup.ts';
import type { LookupDependencies } from '../../../../functions/control/lookup/lookup-dependencies.ts';
import { Lookup } from '../../../../functions/control/lookup/lookup-resource.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { createProject } from '../../../../functions/control/projects/manage-projects.ts';
import { createCreditNoteStore } from '../../../../shared/billing/credit-note-store.ts';
import { createExportStore } from '../../../../shared/billing/export-store.ts';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { createDeploymentStore } from '../../../../shared/deployments/deployment-store.ts';
import { idLike } from '../../../../shared/ids/id.ts';
import { createModelStore, SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { createWebhookStore } from '../../../../shared/notifications/webhook-store.ts';
import { requestRowOf } from '../../../../shared/observability/request-row.ts';
import { createRequestRowStore } from '../../../../shared/observability/request-row-store.ts';
import { createTicketStore } from '../../../../shared/tickets/ticket-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { storeDeployment } from '../../../support/fixtures/deployments.ts';
import { storeInvoice } from '../../../support/fixtures/invoices.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';
import { fullEvent } from '../observability/requests/request-fixtures.ts';

const dependenciesOf = (emulator: TestDatabase, database: Database): LookupDependencies => {
  const { tables } = emulator;
  const table = (name: string) => createRecordTable(database, tables[name] as string);
  return {
    ...accountStores(emulator, database),
    deployments: createDeploymentStore(table('Deployments')),
    models: createModelStore(database, tables.Models as string),
    invoices: createInvoiceStore(table('Billing')),
    creditNotes: createCreditNoteStore(table('Billing')),
    exports: createExportStore(table('Billing')),
    webhooks: createWebhookStore(table('Notifications')),
    tickets: createTicketStore(database, tables.Tickets as string, table('Tickets')),
    requestRows: createRequestRowStore(database, tables.Observability as string),
  };
};

let emulator: TestDatabase;
let stores: ReturnType<typeof accountStores>;
let deps: LookupDependencies;
let admin: Actor;
let support: Actor;
let organization: string;
let owner: Actor;
let member: Actor;
let stranger: Actor;
beforeAll(async () => {
  emulator = await startTestDatabase();
  stores = accountStores(emulator);
  deps = dependenciesOf(emulator, await emulator.as('control'));
  admin = await storeUser(stores, { role: 'admin', organization: null });
  support = await storeUser(stores, { role: 'support', organization: null });
  ({ id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' }));
  const { id: other } = await createOrganization(stores, admin.origin, { name: 'Other' });
  owner = await storeUser(stores, { role: 'owner', organization });
  member = await storeUser(stores, { role: 'member', organization });
  stranger = await storeUser(stores, { role: 'owner', organization: other });
});
afterAll(() => emulator.close());

const ask = async (actor: Actor, text: string): Promise<Lookup> => Lookup.parse(await lookup(deps, actor, text));
const found = async (actor: Actor, text: string): Promise<string[]> => (await ask(actor, text)).data.map(({ url_path }) => url_path);
const newKey = (actor: Actor, name: string) => createApiKey(stores, actor, NewApiKey.parse({ name }));

const newRequest = async (key: string): Promise<string> => {
  const event = fullEvent(organization, key);
  const row = requestRowOf(event);
  if (row) await createRequestRowStore(emulator.database, emulator.tables.Observability as string).put(row);
  return event.request_id;
};

describe('a lookup by id', () => {
  test('finds a key with its name and organization, for admins too', async () => {
    const { id } = await newKey(owner, 'production');
    const match = { object: 'api_key', id, name: 'production', organization, url_path: `/v1/api-keys/${id}` };
    expect(await ask(owner, id)).toEqual({ object: 'list', data: [match], has_more: false });
    expect((await ask(admin, id)).data).toEqual([match]);
  });

  test.each([
    ['an organization', async () => organization, '/v1/organizations/'],
    ['a user', async () => member.userId, '/v1/users/'],
    ['a deployment', async () => (await storeDeployment(emulator, { organization, name: 'by-id' })).id, '/v1/deployments/'],
    ['an invoice', async () => (await storeInvoice(emulator, organization)).invoiceId, '/v1/billing/invoices/'],
    ['a credit note', async () => (await storeInvoice(emulator, organization)).creditNoteId, '/v1/billing/credit-notes/'],
  ])('finds %s for its owner and admins, and for no other organization', async (_, create, path) => {
    const id = await create();
    expect(await found(owner, id)).toEqual([path + id]);
    expect(await found(admin, id)).toEqual([path + id]);
    expect(await found(stranger, id)).toEqual([]);
  });

  test('finds a project for users of its organization only', async () => {
    const { id } = await createProject(stores, owner, { name: 'Search' });
    const match = { object: 'project', id, name: 'Search', organization, url_path: `/v1/projects/${id}` };
    for (const actor of [owner, member]) expect((await ask(actor, id)).data).toEqual([match]);
    for (const actor of [admin, stranger]) expect(await found(actor, id)).toEqual([]);
  });

  test('finds a request by its id and that of its reply, and names its organization to admins', async () => {
    const { id: key } = await newKey(owner, 'requests');
    const id = await newRequest(key);
    const path = `/v1/observability/requests/${id}`;
    expect(await found(owner, id)).toEqual([path]);
    expect(await found(owner, idLike('chatCompletion', id))).toEqual([path]);
    expect((await ask(admin, id)).data).toEqual([
      expect.objectContaining({ organization, url_path: `${path}?organization=${organization}` }),
    ]);
    expect(await found(stranger, id)).toEqual([]);
    expect(await found(member, id)).toEqual([]);
  });

  test('finds a member’s own keys and requests, and no others', async () => {
    const [own, others] = [await newKey(member, 'own'), await newKey(owner, 'others')];
    expect(await found(member, own.id)).toEqual([`/v1/api-keys/${own.id}`]);
    expect(await found(member, others.id)).toEqual([]);
    expect(await found(member, owner.userId)).toEqual([]);
    const request = await newRequest(own.id);
    expect(await found(member, request)).toEqual([`/v1/observability/requests/${request}`]);
  });

  test('finds nothing for which the caller lacks the permission', async () => {
    const { id } = await newKey(owner, 'hidden');
    expect(await found(support, id)).toEqual([]);
    expect(await found(support, owner.userId)).toEqual([]);
    expect(await found({ ...owner, kind: 'service_account', permissions: new Set(['account:read']) }, id)).toEqual([]);
  });

  test.each([
    'key_none',
    'org_none',
    'prj_none',
    'user_none',
    'dep_none',
    'req_none',
    'wh_none',
    'tkt_none',
    'exp_none',
    'idp_none',
    'zzz_none',
  ])('finds nothing by the unknown id %s', async (id) => {
    expect(await ask(owner, id)).toEqual({ object: 'list', data: [], has_more: false });
    expect(await ask(admin, id)).toEqual({ object: 'list', data: [], has_more: false });
  });
});

describe('a lookup by text', () => {
  test('finds a user by their whole address in any case, and of no other organization', async () => {
    expect(await found(owner, member.email.toUpperCase())).toEqual([`/v1/users/${member.userId}`]);
    expect(await found(owner, member.email.slice(1))).toEqual([]);
    expect(await found(stranger, member.email)).toEqual([]);
    expect(await found(admin, member.email)).toEqual([`/v1/users/${member.userId}`]);
  });

  test('finds keys by their hint and by the start of their name', async () => {
    const { id, hint } = await newKey(owner, 'Nightly batch');
    expect(await found(owner, 'nightly')).toEqual([`/v1/api-keys/${id}`]);
    expect(await found(owner, hint)).toContain(`/v1/api-keys/${id}`);
    expect(await found(owner, 'batch')).toEqual([]);
    expect(await found(member, 'nightly')).toEqual([]);
    expect(await found(stranger, 'nightly')).toEqual([]);
  });

  test('finds at most 20 keys, and says that there are more', async () => {
    const { id: busy } = await createOrganization(stores, admin.origin, { name: 'Busy' });
    const busyOwner = await storeUser(stores, { role: 'owner', organization: busy });
    for (let i = 0; i < 21; i++) await newKey(busyOwner, `many ${i}`);
    const { data, has_more } = await ask(busyOwner, 'many');
    expect([data.length, has_more]).toEqual([20, true]);
  });

  test('finds a deployment by its served name, and a shared model that is published', async () => {
    const { id } = await storeDeployment(emulator, { organization, name: 'served' });
    expect(await found(owner, 'served')).toEqual([`/v1/deployments/${id}`]);
    expect(await found(stranger, 'served')).toEqual([]);
    const model = {
      created: 0,
      context_length: 1_000,
      max_output_tokens: 100,
      default_output_tokens: 50,
      targets: [{ endpoint: 'e' }] as [{ endpoint: string }],
      prices: [{ version: 'p1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
    };
    await emulator.models.put(SERVERLESS_POOL, { ...model, name: 'acme/small', status: 'published' });
    await emulator.models.put(SERVERLESS_POOL, { ...model, name: 'acme/next', status: 'unpublished' });
    expect(await found(owner, 'acme/small')).toEqual(['/v1/models/acme/small']);
    expect(await found(owner, 'acme/next')).toEqual([]);
    expect(await found(admin, 'acme/next')).toEqual(['/v1/models/acme/next']);
  });

  test('rejects the secret of a key without repeating it', async () => {
    const { secret } = await newKey(owner, 'secret');
    const error = await lookup(deps, owner, secret).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 400, param: 'q' });
    expect(String((error as Error).message)).not.toContain(secret);
  });
});
