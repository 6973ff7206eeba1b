import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { DOWNLOAD_SECONDS } from '../../../../functions/control/billing/downloads/download.ts';
import { createPresign } from '../../../../functions/control/billing/downloads/presign.ts';
import { exportRoutes } from '../../../../functions/control/billing/exports/routes.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { createMemoryStore } from '../../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../../infra/local/s3/server.ts';
import { BillingTask, createBillingTasks } from '../../../../shared/billing/billing-tasks.ts';
import { exportKey } from '../../../../shared/billing/export.ts';
import { createExportStore } from '../../../../shared/billing/export-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { toApiError } from '../../../../shared/http/errors.ts';
import { eventOf } from '../../../support/emulators/api-event.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { actorOf, admin } from '../../../support/fixtures/managed-models.ts';

const BUCKET = 'billing-files';
const OCTOBER = { format: 'csv', start_time: 1_790_812_800, end_time: 1_793_491_200 };
let db: TestDatabase;
let s3: S3Emulator;
let client: S3Client;
let nowMs = Date.now();
const sent: BillingTask[] = [];

beforeAll(async () => {
  db = await startTestDatabase();
  s3 = await startS3(new Set([BUCKET]), createMemoryStore(), () => nowMs);
  client = new S3Client({ endpoint: s3.url, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
});
afterAll(async () => {
  client.destroy();
  await s3.close();
  await db.close();
});

const setUp = async () => {
  const stores = accountStores(db);
  const exports = createExportStore(createRecordTable(db.database, db.tables.Billing as string));
  const deps = {
    ...stores,
    exports,
    billingTasks: createBillingTasks({ send: async ({ body }) => void sent.push(BillingTask.parse(JSON.parse(body))) }),
    signDownload: createPresign(BUCKET, DOWNLOAD_SECONDS, client),
  };
  const { id } = await createOrganization(stores, admin.origin, { name: 'Acme' });
  const call = async (
    actor: Actor,
    method: string,
    path: string,
    { body, headers, parameters, query }: { body?: unknown; headers?: object; parameters?: object; query?: object } = {},
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its response.
  ): Promise<{ status: number; body: any }> => {
    const route = exportRoutes.find((one) => one.method === method && one.path === path);
    const event = {
      ...eventOf(path, { method, headers: { 'content-type': 'application/json', ...headers } }),
      body: body === undefined ? null : JSON.stringify(body),
      pathParameters: parameters ?? null,
      queryStringParameters: query ?? null,
      requestContext: {},
    };
    try {
      const reply = await route?.handle({ ...deps, authenticate: async () => ({ actor }) } as never, event as never);
      return { status: reply?.statusCode ?? 0, body: JSON.parse(String(reply?.body)) };
    } catch (error) {
      const { status, code, message, param } = toApiError(error);
      return { status, body: { code, message, param } };
    }
  };
  return { deps, organization: id, owner: actorOf('owner', id), member: actorOf('member', id), call };
};

const LIST = '/v1/billing/exports';
const ONE = '/v1/billing/exports/{id}';

describe('POST /v1/billing/exports', () => {
  test('creates a job, sends its task and records it in the audit log', async () => {
    const { deps, organization, owner, call } = await setUp();
    const { status, body } = await call(owner, 'POST', LIST, { body: { ...OCTOBER, models: ['small'] } });
    expect([status, body]).toEqual([
      202,
      expect.objectContaining({
        object: 'export',
        state: 'pending',
        progress: 0,
        organization,
        models: ['small'],
        download_url: null,
        ...OCTOBER,
      }),
    ]);
    expect(sent.at(-1)).toEqual({ task: 'export', organization, export: body.id });
    const { data } = await deps.audit.list(organization, { limit: 10 });
    expect(data.find(({ action }) => action.startsWith('export'))).toMatchObject({
      action: 'export.created',
      target: { type: 'export', id: body.id },
      actor: { id: owner.userId },
    });
  });

  test('returns the same job for a repeated idempotency key, and 422 if the request differs', async () => {
    const { owner, call } = await setUp();
    const headers = { 'idempotency-key': 'october' };
    const first = await call(owner, 'POST', LIST, { body: OCTOBER, headers });
    const again = await call(owner, 'POST', LIST, { body: OCTOBER, headers });
    expect([again.status, again.body.id]).toEqual([202, first.body.id]);
    const other = await call(owner, 'POST', LIST, { body: { ...OCTOBER, format: 'jsonl' }, headers });
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    expect((await call(owner, 'GET', LIST)).body.data).toHaveLength(1);
  });

  test('creates one job for concurrent requests with the same idempotency key', async () => {
    const { owner, call } = await setUp();
    const request = { body: OCTOBER, headers: { 'idempotency-key': 'at-once' } };
    const replies = await Promise.all(Array.from({ length: 4 }, () => call(owner, 'POST', LIST, request)));
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
  });

  test('returns 503 if the queue can’t be reached, and queues the task when the request is repeated', async () => {
    const { deps, owner, call } = await setUp();
    const request = { body: OCTOBER, headers: { 'idempotency-key': 'queue-down' } };
    const { billingTasks } = deps;
    deps.billingTasks = createBillingTasks({ send: () => Promise.reject(new Error('connect ECONNREFUSED')) });
    expect(await call(owner, 'POST', LIST, request)).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    deps.billingTasks = billingTasks;
    const { status, body } = await call(owner, 'POST', LIST, request);
    expect([status, sent.at(-1)]).toEqual([202, expect.objectContaining({ task: 'export', export: body.id })]);
  });

  test('refuses a sixth running job with 409, also if all come at once', async () => {
    const { owner, call } = await setUp();
    const replies = await Promise.all(Array.from({ length: 8 }, () => call(owner, 'POST', LIST, { body: OCTOBER })));
    expect(replies.filter(({ status }) => status === 202)).toHaveLength(5);
    for (const { body } of replies.filter(({ status }) => status !== 202))
      expect(body).toMatchObject({ code: 'too_many_exports', message: expect.stringContaining('Wait until') });
  });

  test.each([
    ['a range of more than 400 days', { ...OCTOBER, end_time: OCTOBER.start_time + 401 * 86_400 }, 'end_time'],
    ['an end before the start', { ...OCTOBER, end_time: OCTOBER.start_time }, 'end_time'],
    ['a part of a day in FOCUS', { ...OCTOBER, format: 'focus', end_time: OCTOBER.end_time + 1 }, 'start_time'],
    ['an unknown format', { ...OCTOBER, format: 'xlsx' }, 'format'],
    ['an unknown field', { ...OCTOBER, color: 'red' }, null],
  ])('rejects %s with 400', async (_name, body, param) => {
    const { owner, call } = await setUp();
    const reply = await call(owner, 'POST', LIST, { body });
    expect([reply.status, reply.body.param]).toEqual([400, param]);
  });

  test('is for owners and admins, of their own or a named organization', async () => {
    const { organization, member, owner, call } = await setUp();
    expect((await call(member, 'POST', LIST, { body: OCTOBER })).status).toBe(403);
    expect((await call(admin, 'POST', LIST, { body: OCTOBER })).body.param).toBe('organization');
    expect((await call(admin, 'POST', LIST, { body: { ...OCTOBER, organization } })).status).toBe(202);
    const other = await setUp();
    expect((await call(owner, 'POST', LIST, { body: { ...OCTOBER, organization: other.organization } })).status).toBe(404);
  });
});

describe('GET /v1/billing/exports', () => {
  test('lists an organization’s exports page by page, newest first', async () => {
    const { owner, call } = await setUp();
    const ids: string[] = [];
    for (const at of [1, 2, 3]) {
      const actor = { ...owner, origin: { ...owner.origin, nowMs: owner.origin.nowMs + at } };
      ids.unshift((await call(actor, 'POST', LIST, { body: OCTOBER })).body.id);
    }
    const first = (await call(owner, 'GET', LIST, { query: { limit: '2' } })).body;
    const second = (await call(owner, 'GET', LIST, { query: { limit: '2', after: first.next } })).body;
    expect([...first.data, ...second.data].map(({ id }: { id: string }) => id)).toEqual(ids);
    expect([first.has_more, second.has_more]).toEqual([true, false]);
    const other = await setUp();
    expect((await call(other.owner, 'GET', LIST)).body.data).toEqual([]);
  });

  test('returns a completed export with a URL that downloads its file for five minutes', async () => {
    const { deps, organization, owner, call } = await setUp();
    const { id } = (await call(owner, 'POST', LIST, { body: OCTOBER })).body;
    const created = await deps.exports.get(organization, id);
    await client.send(new PutObjectCommand({ Bucket: BUCKET, Key: exportKey(created), Body: 'request_id\r\n' }));
    await transact(db.database, deps.exports.toEnd({ ...created, state: 'completed', progress: 1_000, completed_at: 1, bytes: 12 }));
    const { body } = await call(owner, 'GET', ONE, { parameters: { id } });
    expect(body).toMatchObject({ state: 'completed', progress: 1, bytes: 12 });
    nowMs = Date.now();
    const file = await fetch(body.download_url);
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${id}.csv"`);
    expect(await file.text()).toBe('request_id\r\n');
    nowMs = Date.now() + 301_000;
    expect((await fetch(body.download_url)).status).toBe(403);
  });

  test('shows an admin each export by its id, without its organization', async () => {
    const { organization, owner, call } = await setUp();
    const { id } = (await call(owner, 'POST', LIST, { body: OCTOBER })).body;
    expect(await call(admin, 'GET', ONE, { parameters: { id } })).toMatchObject({ status: 200, body: { id, organization } });
    expect((await call(admin, 'GET', ONE, { parameters: { id }, query: { organization } })).status).toBe(200);
    const other = await setUp();
    const notOfOther = await call(admin, 'GET', ONE, { parameters: { id }, query: { organization: other.organization } });
    expect([notOfOther.status, notOfOther.body.code]).toEqual([404, 'export_not_found']);
    const unknown = await call(admin, 'GET', ONE, { parameters: { id: 'exp_none' } });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'export_not_found']);
  });

  test('is a 404 for another organization’s export', async () => {
    const { owner, call } = await setUp();
    const { id } = (await call(owner, 'POST', LIST, { body: OCTOBER })).body;
    const other = await setUp();
    const reply = await call(other.owner, 'GET', ONE, { parameters: { id } });
    expect([reply.status, reply.body.code]).toEqual([404, 'export_not_found']);
  });
});
