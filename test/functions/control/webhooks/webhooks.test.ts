import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { setSuspended } from '../../../../functions/control/organizations/update-organization.ts';
import type { SignedInUser } from '../../../../functions/control/sessions/authenticate.ts';
import { webhookRoutes } from '../../../../functions/control/webhooks/routes.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { ApiError } from '../../../../shared/http/errors.ts';
import { createNetworks } from '../../../../shared/network/networks.ts';
import { type Delivery, deliveryIdOf } from '../../../../shared/notifications/delivery.ts';
import { createDeliveryStore } from '../../../../shared/notifications/delivery-store.ts';
import { newNotification } from '../../../../shared/notifications/notification.ts';
import { createOutbox, OUTBOX_PREFIX, readOutboxEntry } from '../../../../shared/notifications/outbox.ts';
import { createWebhookStore } from '../../../../shared/notifications/webhook-store.ts';
import { DAY_SECONDS } from '../../../../shared/time/units.ts';
import { eventOf } from '../../../support/emulators/api-event.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

const NOW_MS = Date.UTC(2026, 10, 1);
const URL = 'https://example.com/hook';

let emulator: TestDatabase;
let stores: ReturnType<typeof accountStores>;
let table: ReturnType<typeof createRecordTable>;
let organization: string;
let owner: Actor;
let member: Actor;
let otherOwner: Actor;
let admin: Actor;
let lines: string[];

beforeAll(async () => {
  emulator = await startTestDatabase();
  stores = accountStores(emulator);
  table = createRecordTable(emulator.database, emulator.tables.Notifications as string);
  admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: NOW_MS });
});
afterAll(() => emulator.close());
beforeEach(async () => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  ({ id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' }));
  const { id: other } = await createOrganization(stores, admin.origin, { name: 'Other' });
  owner = await storeUser(stores, { role: 'owner', organization, nowMs: NOW_MS });
  member = await storeUser(stores, { role: 'member', organization, nowMs: NOW_MS });
  otherOwner = await storeUser(stores, { role: 'owner', organization: other, nowMs: NOW_MS });
});

interface Sent {
  as?: Actor;
  id?: string;
  delivery?: string;
  body?: object;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  atMs?: number;
}

const send = async (operationId: string, { as = owner, id, delivery, body, query, headers = {}, atMs = NOW_MS }: Sent = {}) => {
  const found = webhookRoutes.find((route) => route.operationId === operationId);
  if (!found) throw new Error(`There is no ${operationId}.`);
  const event = { ...eventOf(found.path, { method: found.method, headers }), requestContext: {} } as ReturnType<typeof eventOf>;
  const request = {
    ...event,
    pathParameters: id === undefined ? null : { id, ...(delivery !== undefined && { delivery }) },
    queryStringParameters: query ?? null,
    body: body ? JSON.stringify(body) : null,
  };
  const actor = { ...as, origin: { ...as.origin, nowMs: atMs } };
  const deps = {
    ...stores,
    webhooks: createWebhookStore(table),
    deliveries: createDeliveryStore(table),
    outbox: createOutbox(table),
    networks: createNetworks(''),
    authenticate: async () => ({ actor }) as SignedInUser,
  };
  try {
    const reply = await found.handle(deps, request as never);
    return { status: reply.statusCode, etag: reply.headers.etag, body: JSON.parse(reply.body) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { status: error.status, code: error.code, param: error.param, body: { message: error.message } as never };
  }
};

const create = async (fields: object = {}): Promise<{ id: string; secret: string; version: number }> =>
  (await send('createWebhook', { body: { url: URL, ...fields } })).body;

const outboxEntries = async () => {
  const rows = await Array.fromAsync(table.all({ account: organization, prefix: OUTBOX_PREFIX }));
  return rows.map(readOutboxEntry);
};

const deliver = async (webhook: string, fields: Partial<Delivery> = {}): Promise<Delivery> => {
  const created_at = fields.created_at ?? NOW_MS;
  const { id: event } = newNotification({ type: 'sluice.invoice.paid.v1', organization, subject: 'inv_1', at: created_at, data: {} });
  const delivery: Delivery = {
    ...{ id: deliveryIdOf(event, webhook), webhook, organization, event, type: 'sluice.invoice.paid.v1', body: '{}' },
    ...{ state: 'delivered', attempts: [{ at: created_at, duration_ms: 7, status: 200, error: null }], begun: 1 },
    ...{ next_attempt_at: created_at, leased_until: 0, created_at, delivered_at: created_at, expires_at: 2_000_000_000, version: 1 },
    ...fields,
  };
  await transact(emulator.database, [createDeliveryStore(table).toCreate(delivery)]);
  return delivery;
};

test('a creation shows the secret once: it is in no list, no later reply, no audit entry and no log', async () => {
  const created = await send('createWebhook', { body: { url: URL, types: ['sluice.invoice.paid.v1'], description: 'Accounting' } });
  expect([created.status, created.etag]).toEqual([201, '"1"']);
  expect(created.body).toEqual({
    id: expect.stringMatching(/^wh_/),
    object: 'webhook',
    organization,
    url: URL,
    types: ['sluice.invoice.paid.v1'],
    description: 'Accounting',
    enabled: true,
    disabled_reason: null,
    previous_secret_until: null,
    created_at: NOW_MS / 1_000,
    updated_at: NOW_MS / 1_000,
    version: 1,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  const { id, secret, ...rest } = created.body;
  const rotated = await send('rotateWebhook', { id, body: { overlap_seconds: 60 } });
  const replies = [
    await send('retrieveWebhook', { id }),
    await send('listWebhooks'),
    await send('updateWebhook', { id, body: { description: null } }),
    await send('deleteWebhook', { id }),
  ];
  expect(replies[1]?.body.data).toEqual([{ ...rest, id, version: 2, previous_secret_until: NOW_MS / 1_000 + 60 }]);
  const { data } = await stores.audit.list(organization, { limit: 100 });
  expect(data.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['webhook.deleted', 'webhook.updated', 'webhook.rotated', 'webhook.created']),
  );
  for (const hidden of [secret, rotated.body.secret]) expect(JSON.stringify([replies, data, lines])).not.toContain(hidden);
});

test('only those who can change a webhook see the path and the query of its URL', async () => {
  const url = 'https://hooks.example.com:8443/services/hidden-path?token=hidden-token';
  const [{ id }, bare] = [await create({ url }), await create({ url: 'https://hooks.example.com' })];
  const viewer = await storeUser(stores, { role: 'viewer', organization, nowMs: NOW_MS });
  const reader: Actor = { ...owner, kind: 'service_account', permissions: new Set(['webhooks:read']) };
  const query = { organization };
  expect((await send('retrieveWebhook', { id })).body.url).toBe(url);
  expect((await send('retrieveWebhook', { id, as: admin, query })).body.url).toBe(url);
  for (const as of [viewer, reader]) {
    const seen = [
      await send('retrieveWebhook', { id, as }),
      await send('listWebhooks', { as }),
      await send('listWebhookDeliveries', { id, as }),
    ];
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(seen[0]?.body.url).toBe('https://hooks.example.com:8443/[hidden]');
    expect(JSON.stringify(seen)).not.toMatch(/hidden-(path|token)/);
    expect((await send('retrieveWebhook', { id: bare.id, as })).body.url).toBe('https://hooks.example.com');
  }
});

test('the audit log has a URL’s origin and a hash of its secret rest, and no description', async () => {
  const rest = '/services/hidden-path/x7Qf?token=hidden-token';
  const { id } = await create({ url: `https://hooks.example.com${rest}`, description: 'For hidden-Ada' });
  await send('updateWebhook', { id, body: { url: 'https://hooks.example.com/services/hidden-path/other', description: null } });
  const { data } = await stores.audit.list(organization, { limit: 100 });
  const changesOf = (action: string) => data.find((entry) => entry.action === action && entry.target.id === id)?.changes;
  const recorded = `https://hooks.example.com/[sha256:${createHash('sha256').update(rest).digest('hex')}]`;
  expect(changesOf('webhook.created')).toMatchObject({
    url: { from: null, to: recorded },
    description: { from: null, to: '[not recorded]' },
  });
  expect(changesOf('webhook.updated')).toEqual({
    url: { from: recorded, to: expect.stringMatching(/^https:\/\/hooks\.example\.com\/\[sha256:[0-9a-f]{64}\]$/) },
    description: { from: '[not recorded]', to: null },
  });
  expect(JSON.stringify(data)).not.toMatch(/hidden-/);
});

test.each([
  'http://example.com/',
  'https://127.0.0.1/',
  'https://[fd00:ec2::254]/',
  'https://user:secret@example.com/',
  'https://example.com:25/',
  'https://@example.com/',
  'https://exam\tple.com/',
  'https://example.com/a\nb',
  'x',
])('%s is rejected with 400, at a creation and at an update', async (url) => {
  const { id } = await create();
  for (const reply of [await send('createWebhook', { body: { url } }), await send('updateWebhook', { id, body: { url } })]) {
    expect(reply).toMatchObject({ status: 400, code: 'invalid_webhook_url', param: 'url' });
    expect(JSON.stringify(reply)).not.toContain('user:secret');
  }
});

test('an admin names the organization of a new webhook in the query or in the body', async () => {
  const other = otherOwner.organization as string;
  const named = await send('createWebhook', { as: admin, body: { url: URL }, query: { organization } });
  expect([named.status, named.body.organization]).toEqual([201, organization]);
  const inBody = await send('createWebhook', { as: admin, body: { url: URL, organization } });
  expect([inBody.status, inBody.body.organization]).toEqual([201, organization]);
  expect((await send('createWebhook', { as: admin, body: { url: URL, organization }, query: { organization } })).status).toBe(201);
  const both = await send('createWebhook', { as: admin, body: { url: URL, organization }, query: { organization: other } });
  expect(both).toMatchObject({ status: 400, param: 'organization' });
  expect((await send('createWebhook', { body: { url: URL }, query: { organization: other } })).status).toBe(404);
  expect(await send('createWebhook', { as: admin, body: { url: URL } })).toMatchObject({ status: 400, param: 'organization' });
});

test('an admin creates no webhook for an organization that does not exist or is suspended', async () => {
  const to = (named: string) => send('createWebhook', { as: admin, body: { url: URL, organization: named } });
  const unknown = newId('organization');
  expect(await to(unknown)).toMatchObject({ status: 404, body: { message: expect.stringContaining(unknown) } });
  await setSuspended(stores, admin.origin, organization, { isSuspended: true, reason: 'Unpaid.' });
  expect(await to(organization)).toMatchObject({ status: 403, code: 'organization_suspended' });
});

test('an organization can have 20 webhooks, and another one after a deletion', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) ids.push((await create()).id);
  expect(await send('createWebhook', { body: { url: URL } })).toMatchObject({ status: 409, code: 'too_many_webhooks' });
  expect((await send('listWebhooks')).body.data).toHaveLength(20);
  await send('deleteWebhook', { id: ids[0] ?? '' });
  expect((await send('createWebhook', { body: { url: URL } })).status).toBe(201);
});

test('a rotation keeps the previous secret for its overlap, and is not repeated by accident', async () => {
  const { id, secret } = await create();
  const overlap_seconds = 7 * DAY_SECONDS;
  expect(await send('rotateWebhook', { id, body: { overlap_seconds: overlap_seconds + 1 } })).toMatchObject({ status: 400 });
  const rotated = await send('rotateWebhook', { id, body: { overlap_seconds } });
  expect(rotated).toMatchObject({ status: 200, etag: '"2"', body: { previous_secret_until: NOW_MS / 1_000 + overlap_seconds } });
  const stored = await createWebhookStore(table).find(organization, id);
  expect(stored).toMatchObject({ secret: rotated.body.secret, previous_secret: secret });
  expect(await send('rotateWebhook', { id, body: { overlap_seconds } })).toMatchObject({ status: 409, code: 'rotation_under_way' });
  const at = await send('retrieveWebhook', { id, atMs: NOW_MS + overlap_seconds * 1_000 });
  expect(at.body.previous_secret_until).toBeNull();
  const leaked = await send('rotateWebhook', { id, body: { overlap_seconds: 0 } });
  expect(leaked.status).toBe(200);
  expect(await createWebhookStore(table).find(organization, id)).toMatchObject({ previous_secret: null, previous_secret_until: null });
});

test('a change needs the version that was read, if it names one', async () => {
  const { id } = await create();
  const headers = { 'If-Match': '"2"' };
  for (const [operation, body] of [
    ['updateWebhook', { enabled: false }],
    ['rotateWebhook', { overlap_seconds: 0 }],
    ['deleteWebhook', undefined],
  ] as const)
    expect(await send(operation, { id, headers, ...(body && { body }) })).toMatchObject({ status: 412 });
});

test('a webhook that was disabled because its receiver is gone can be enabled again', async () => {
  const { id } = await create();
  const store = createWebhookStore(table);
  const webhook = await store.find(organization, id);
  if (!webhook) throw new Error('There is no webhook.');
  await transact(emulator.database, [store.toReplace({ ...webhook, enabled: false, disabled_reason: 'gone' })]);
  expect((await send('retrieveWebhook', { id })).body).toMatchObject({ enabled: false, disabled_reason: 'gone' });
  expect(await send('testWebhook', { id })).toMatchObject({ status: 409, code: 'webhook_disabled' });
  expect((await send('updateWebhook', { id, body: { enabled: true } })).body).toMatchObject({ enabled: true, disabled_reason: null });
});

test('a webhook can be tested 10 times a minute; further tests write no events and audit entries', async () => {
  const { id } = await create();
  const { id: other } = await create();
  const replies = [];
  for (let i = 0; i < 12; i++) replies.push(await send('testWebhook', { id }));
  expect(replies.map(({ status }) => status)).toEqual([...Array(10).fill(202), 429, 429]);
  expect(replies.at(-1)).toMatchObject({ code: 'rate_limit_exceeded', body: { message: expect.stringContaining('10 times a minute') } });
  expect(await outboxEntries()).toHaveLength(10);
  const { data } = await stores.audit.list(organization, { limit: 100 });
  expect(data.filter(({ action }) => action === 'webhook.tested')).toHaveLength(10);
  expect((await send('testWebhook', { id: other })).status).toBe(202);
});

test('a test writes an event for this webhook to the outbox', async () => {
  const { id } = await create();
  const { status, body } = await send('testWebhook', { id });
  expect([status, body]).toEqual([202, { object: 'webhook_test', webhook: id, event: expect.stringMatching(/^evt_/) }]);
  expect(await outboxEntries()).toEqual([
    {
      kind: 'notification',
      notification: { id: body.event, type: 'sluice.webhook.test.v1', organization, subject: id, at: NOW_MS, data: { webhook: id } },
    },
  ]);
});

describe('deliveries', () => {
  test('are listed newest first in pages, without the response or the body', async () => {
    const { id } = await create();
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.unshift((await deliver(id, { created_at: NOW_MS + i })).id);
    const first = (await send('listWebhookDeliveries', { id, query: { limit: '3' } })).body;
    const second = (await send('listWebhookDeliveries', { id, query: { limit: '3', after: first.next } })).body;
    expect([...first.data, ...second.data].map(({ id: each }) => each)).toEqual(made);
    expect([first.has_more, second.has_more, second.next]).toEqual([true, false, null]);
    expect(first.data[0]).toEqual({
      id: made[0],
      object: 'webhook_delivery',
      webhook: id,
      event: expect.stringMatching(/^evt_/),
      type: 'sluice.invoice.paid.v1',
      state: 'delivered',
      attempts: [{ at: Math.floor(NOW_MS / 1_000), duration_ms: 7, status: 200, error: null }],
      next_attempt_at: null,
      created_at: Math.floor(NOW_MS / 1_000),
      delivered_at: Math.floor(NOW_MS / 1_000),
      expires_at: 2_000_000_000,
    });
  });

  test('are all found by the state `dead` among many others', async () => {
    const { id } = await create();
    const dead: string[] = [];
    for (let i = 0; i < 230; i++) {
      const delivery = await deliver(id, { created_at: NOW_MS + i, ...(i % 100 === 5 && { state: 'dead' as const, delivered_at: null }) });
      if (delivery.state === 'dead') dead.unshift(delivery.id);
    }
    const found: string[] = [];
    let after: string | undefined;
    for (let page = 0; page < 5; page++) {
      const query = { state: 'dead', limit: '2', ...(after !== undefined && { after }) };
      const { data, next } = (await send('listWebhookDeliveries', { id, query })).body;
      found.push(...data.map((delivery: Delivery) => delivery.id));
      if (next === null) break;
      after = next;
    }
    expect(found).toEqual(dead);
    expect(await send('listWebhookDeliveries', { id, query: { state: 'lost' } })).toMatchObject({ status: 400 });
  });

  test('can be replayed: the same event is pending again, with all its attempts', async () => {
    const { id } = await create();
    const { id: delivery, event } = await deliver(id, { state: 'dead', begun: 9, delivered_at: null });
    const atMs = NOW_MS + 1_000;
    const { status, body } = await send('replayWebhookDelivery', { id, delivery, atMs });
    expect([status, body]).toEqual([
      202,
      expect.objectContaining({ id: delivery, event, state: 'pending', next_attempt_at: atMs / 1_000, attempts: [expect.anything()] }),
    ]);
    expect(await createDeliveryStore(table).find(id, delivery)).toMatchObject({ state: 'pending', begun: 0, next_attempt_at: atMs });
    expect(await outboxEntries()).toEqual([{ kind: 'replay', replay: { event, webhook: id, delivery, at: atMs } }]);
    expect(await send('replayWebhookDelivery', { id, delivery: 'dlv_unknown' })).toMatchObject({ status: 404, code: 'delivery_not_found' });
  });

  test('count as given up until they are replayed', async () => {
    const deliveries = createDeliveryStore(table);
    const { id } = await create();
    const pending = await deliver(id, { state: 'pending', delivered_at: null });
    const given = () => deliveries.listGivenUp(organization, { sinceMs: NOW_MS, limit: 10 });
    const attempts = [{ at: NOW_MS, duration_ms: 7, status: 500, error: null }];
    expect(await deliveries.change({ ...pending, version: 99 }, { state: 'dead', attempts })).toBeUndefined();
    expect(await given()).toEqual([]);
    await deliveries.change(pending, { state: 'dead', attempts });
    expect(await given()).toEqual([id]);
    expect((await send('replayWebhookDelivery', { id, delivery: pending.id, atMs: NOW_MS + 1 })).status).toBe(202);
    expect(await given()).toEqual([]);
  });

  test('can be replayed once at a time: only after an attempt has ended or was lost', async () => {
    const { id } = await create();
    const underWay = { status: 409, code: 'attempt_under_way' };
    const { id: delivery } = await deliver(id, { state: 'dead', begun: 9, delivered_at: null });
    expect((await send('replayWebhookDelivery', { id, delivery })).status).toBe(202);
    expect(await send('replayWebhookDelivery', { id, delivery })).toMatchObject(underWay);
    expect((await send('replayWebhookDelivery', { id, delivery, atMs: NOW_MS + 15 * 60_000 })).status).toBe(202);
    expect(await outboxEntries()).toHaveLength(2);
    const pending = { state: 'pending', begun: 1, delivered_at: null } as const;
    const { id: attempted } = await deliver(id, { ...pending, created_at: NOW_MS + 1, leased_until: NOW_MS + 60_000 });
    expect(await send('replayWebhookDelivery', { id, delivery: attempted })).toMatchObject(underWay);
    const { id: waiting } = await deliver(id, { ...pending, created_at: NOW_MS + 2, next_attempt_at: NOW_MS + 60_000 });
    expect((await send('replayWebhookDelivery', { id, delivery: waiting })).status).toBe(202);
  });
});

const ITEM_ROUTES = [
  ['retrieveWebhook', undefined],
  ['updateWebhook', { enabled: false }],
  ['rotateWebhook', { overlap_seconds: 0 }],
  ['testWebhook', undefined],
  ['listWebhookDeliveries', undefined],
  ['replayWebhookDelivery', undefined],
  ['deleteWebhook', undefined],
] as const;

test.each(ITEM_ROUTES)('%s returns 404 for another organization’s webhook, and 403 for a member', async (operation, body) => {
  const { id } = await create();
  const { id: delivery } = await deliver(id);
  const parts = { id, delivery, ...(body && { body }) };
  expect(await send(operation, { ...parts, as: otherOwner })).toMatchObject({ status: 404, code: 'webhook_not_found' });
  expect(await send(operation, { ...parts, as: otherOwner, query: { organization } })).toMatchObject({ status: 404 });
  expect(await send(operation, { ...parts, as: member })).toMatchObject({ status: 403, code: 'insufficient_role' });
  expect(await send(operation, { ...parts, as: admin })).toMatchObject({ status: 400, param: 'organization' });
  expect((await send(operation, { ...parts, as: admin, query: { organization } })).status).toBeLessThan(300);
});
