import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../../functions/control/api-keys/api-key.ts';
import { createApiKey } from '../../../../../functions/control/api-keys/create-api-key.ts';
import { payloadLogRoutes } from '../../../../../functions/control/observability/payload-log/routes.ts';
import { createOrganization } from '../../../../../functions/control/organizations/create-organization.ts';
import type { SignedInUser } from '../../../../../functions/control/sessions/authenticate.ts';
import { isPayloadLogged, type KeyItem } from '../../../../../shared/admission/item/key-item.ts';
import { shardIds } from '../../../../../shared/admission/item/shards.ts';
import { ApiError } from '../../../../../shared/http/errors.ts';
import { newRequestId } from '../../../../../shared/ids/request-id.ts';
import { type Payload, payloadKeyOf } from '../../../../../shared/payload-log/payload.ts';
import { DAY_SECONDS } from '../../../../../shared/time/units.ts';
import { eventOf } from '../../../../support/emulators/api-event.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { accountStores } from '../../../../support/fixtures/account-stores.ts';
import { storeUser } from '../../../../support/fixtures/stored-users.ts';

const NOW_MS = Date.UTC(2026, 10, 1);
const NOW = NOW_MS / 1_000;

let emulator: TestDatabase;
let stores: ReturnType<typeof accountStores>;
let organization: string;
let owner: Actor;
let member: Actor;
let otherOwner: Actor;
let admin: Actor;
let objects: Map<string, Buffer>;

beforeAll(async () => {
  emulator = await startTestDatabase();
  stores = accountStores(emulator, await emulator.as('control'));
  admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: NOW_MS });
});
afterAll(() => emulator.close());
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  objects = new Map();
  ({ id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' }));
  const { id: other } = await createOrganization(stores, admin.origin, { name: 'Other' });
  owner = await storeUser(stores, { role: 'owner', organization, nowMs: NOW_MS });
  member = await storeUser(stores, { role: 'member', organization, nowMs: NOW_MS });
  otherOwner = await storeUser(stores, { role: 'owner', organization: other, nowMs: NOW_MS });
});
afterEach(() => {
  jest.restoreAllMocks();
});

interface Sent {
  as?: Actor;
  id?: string;
  key?: string;
  body?: object;
  headers?: Record<string, string>;
}

const send = async (operationId: string, { as = owner, id, key, body, headers = {} }: Sent = {}) => {
  const found = payloadLogRoutes.find((route) => route.operationId === operationId);
  if (!found) throw new Error(`There is no ${operationId}.`);
  const request = {
    ...eventOf(found.path, { method: found.method, headers }),
    requestContext: {},
    pathParameters: id === undefined ? null : { id },
    queryStringParameters: key === undefined ? null : { api_key: key },
    body: body ? JSON.stringify(body) : null,
  };
  const deps = {
    ...stores,
    readPayload: async (place: string) => objects.get(place),
    authenticate: async () => ({ actor: as }) as SignedInUser,
  };
  try {
    const reply = await found.handle(deps, request as never);
    return { status: reply.statusCode, etag: reply.headers.etag, body: JSON.parse(reply.body) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { status: error.status, code: error.code, param: error.param, body: { message: error.message } as never };
  }
};

const createKey = (fields: object = {}) => createApiKey(stores, owner, NewApiKey.parse({ name: 'key', scope: 'serverless', ...fields }));

// As its limiter items say.
const loggedBy = async (id: string): Promise<boolean[]> => {
  const { shards } = await stores.apiKeys.get(organization, id);
  const items = await stores.limiters.getMany(shardIds(id, shards));
  expect(items).toHaveLength(shards);
  return [...new Set(items.map((item) => isPayloadLogged(item as KeyItem)))];
};

const entries = async () => (await stores.audit.list(organization, { limit: 100 })).data;

test('the payload log is off until an owner switches it on', async () => {
  const { id } = await createKey();
  expect((await send('retrievePayloadLog')).body).toMatchObject({
    object: 'payload_log',
    source: 'default',
    enabled: false,
    retention_days: 30,
    tool_arguments: 'redact',
    version: 0,
  });
  expect(await loggedBy(id)).toEqual([false]);
});

test('applies to every key once the reply is sent, and to keys that are created later', async () => {
  const sharded = { limits: { requests_per_minute: 60_000, concurrency: 500 } };
  const { id } = await createKey(sharded);
  const { status, body, etag } = await send('setPayloadLog', { body: { enabled: true, retention_days: 7 } });
  expect({ status, etag }).toEqual({ status: 200, etag: '"1"' });
  expect(body).toMatchObject({ source: 'organization', enabled: true, retention_days: 7, pending: false, updated_by: owner.userId });
  expect((await send('retrievePayloadLog')).body).toEqual(body);
  expect((await stores.apiKeys.get(organization, id)).shards).toBeGreaterThan(1);
  expect(await loggedBy(id)).toEqual([true]);
  const { id: later } = await createKey();
  expect(await loggedBy(later)).toEqual([true]);
  await send('deletePayloadLog');
  expect(await loggedBy(id)).toEqual([false]);
  expect(await loggedBy(later)).toEqual([false]);
  expect((await send('retrievePayloadLog')).body).toMatchObject({ enabled: false, version: 2 });
});

test("a key's own settings have priority, until they are deleted", async () => {
  const { id } = await createKey();
  expect((await send('setPayloadLog', { key: id, body: { enabled: true, paths: ['$.messages'] } })).body).toMatchObject({
    api_key: id,
    source: 'api_key',
    enabled: true,
    version: 1,
  });
  expect(await loggedBy(id)).toEqual([true]);
  await send('setPayloadLog', { key: id, body: { enabled: false } });
  await send('setPayloadLog', { body: { enabled: true } });
  expect(await loggedBy(id)).toEqual([false]);
  expect((await send('deletePayloadLog', { key: id })).body).toMatchObject({
    api_key: id,
    source: 'organization',
    enabled: true,
    version: 0,
  });
  expect(await loggedBy(id)).toEqual([true]);
});

test('never logs a key with no_content', async () => {
  const { id } = await createKey({ no_content: true });
  await send('setPayloadLog', { body: { enabled: true } });
  await send('setPayloadLog', { key: id, body: { enabled: true } });
  expect(await loggedBy(id)).toEqual([false]);
});

test('ignores an older setting that arrives late', async () => {
  const { id } = await createKey();
  await send('setPayloadLog', { body: { enabled: true } });
  await send('setPayloadLog', { body: { enabled: false } });
  await stores.limiters.setPayloadLog(id, { isOn: true, version: 1 });
  expect(await loggedBy(id)).toEqual([false]);
});

test('records each change in the audit log, with its fields', async () => {
  await send('setPayloadLog', { body: { enabled: true } });
  const entry = (await entries()).find(({ action }) => action === 'payload_log.updated');
  expect(entry).toMatchObject({
    actor: { id: owner.userId },
    target: { type: 'payload_log', id: organization },
    changes: { enabled: { from: false, to: true } },
  });
});

test('changes only the version that the caller expects', async () => {
  await send('setPayloadLog', { body: { enabled: true } });
  expect((await send('setPayloadLog', { body: { enabled: false }, headers: { 'if-match': '"7"' } })).status).toBe(412);
  expect((await send('setPayloadLog', { body: { enabled: false }, headers: { 'if-match': '"1"' } })).status).toBe(200);
});

test.each([
  [{}, 'enabled'],
  [{ enabled: true, retention_days: 2 }, 'retention_days'],
  [{ enabled: true, patterns: ['shoe_size'] }, 'patterns[0]'],
  [{ enabled: true, paths: ['$..content'] }, 'paths[0]'],
  [{ enabled: true, paths: Array(21).fill('$.a') }, 'paths'],
  [{ enabled: true, regex: 'a+' }, null],
])('rejects %j', async (body, param) => {
  const answer = await send('setPayloadLog', { body });
  expect(answer).toMatchObject({ status: 400, param });
});

describe('the content of a request', () => {
  const requestId = newRequestId(NOW_MS);
  const store = (fields: Partial<Payload> = {}): void => {
    const payload: Payload = {
      request_id: requestId,
      api_key_id: 'key_1',
      route: '/v1/chat/completions',
      created_at: NOW,
      expires_at: NOW + DAY_SECONDS,
      request: { content: { model: 'm' }, is_truncated: false },
      response: { status: 200, stream: false, content: { choices: [] }, is_truncated: false },
      redactions: {},
      ...fields,
    };
    objects.set(payloadKeyOf(organization, requestId), gzipSync(JSON.stringify(payload)));
  };

  test('is read by an owner, and each read is in the audit log', async () => {
    store();
    const { status, body } = await send('retrieveRequestPayload', { id: requestId });
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'request.payload', request_id: requestId, request: { content: { model: 'm' } } });
    await send('retrieveRequestPayload', { id: requestId });
    const reads = (await entries()).filter(({ action }) => action === 'payload.read');
    expect(reads).toHaveLength(2);
    expect(reads[0]).toMatchObject({ actor: { id: owner.userId }, target: { type: 'request', id: requestId } });
  });

  test.each([
    ['a member', () => member, 403],
    ['an admin of the platform', () => admin, 403],
    ['an owner of another organization', () => otherOwner, 404],
  ] as const)('is not shown to %s', async (_, actor, status) => {
    store();
    expect((await send('retrieveRequestPayload', { as: actor(), id: requestId })).status).toBe(status);
    expect((await entries()).filter(({ action }) => action === 'payload.read')).toEqual([]);
  });

  test('is gone after its retention, even before the bucket deletes it', async () => {
    store({ expires_at: NOW });
    expect((await send('retrieveRequestPayload', { id: requestId })).status).toBe(404);
  });

  test.each(['../org_other/req_1', 'req_', 'evt_1'])('is a 404 for %s', async (id) => {
    expect((await send('retrieveRequestPayload', { id })).status).toBe(404);
  });
});

test.each(['retrievePayloadLog', 'setPayloadLog', 'deletePayloadLog'])('%s is only for owners', async (operationId) => {
  const body = operationId === 'setPayloadLog' ? { enabled: true } : undefined;
  for (const as of [member, admin]) expect((await send(operationId, { as, ...(body && { body }) })).status).toBe(403);
  const { id } = await createKey();
  expect((await send(operationId, { as: otherOwner, key: id, ...(body && { body }) })).status).toBe(404);
});
