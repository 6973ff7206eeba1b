import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Actor } from '../../../../../functions/control/access/actor.ts';
import { Text } from '../../../../../functions/control/access/route.ts';
import { NewApiKey } from '../../../../../functions/control/api-keys/api-key.ts';
import { createApiKey } from '../../../../../functions/control/api-keys/create-api-key.ts';
import { type CurrencyReads, currencyOf } from '../../../../../functions/control/billing/currency.ts';
import { RequestDetail } from '../../../../../functions/control/observability/requests/request-detail.ts';
import {
  RequestDetailQuery,
  type RetrieveDependencies,
  retrieveRequest,
} from '../../../../../functions/control/observability/requests/retrieve-request.ts';
import { createOrganization } from '../../../../../functions/control/organizations/create-organization.ts';
import { newRequestId } from '../../../../../shared/ids/request-id.ts';
import { SERVERLESS_POOL } from '../../../../../shared/models/model-store.ts';
import { requestRowOf } from '../../../../../shared/observability/request-row.ts';
import { createRequestRowStore } from '../../../../../shared/observability/request-row-store.ts';
import type { UsageEvent } from '../../../../../shared/usage/event.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { accountStores } from '../../../../support/fixtures/account-stores.ts';
import { storeUser } from '../../../../support/fixtures/stored-users.ts';
import { fullEvent, LOWER, NOW, PRICE, ratedAgain } from './request-fixtures.ts';

let database: TestDatabase;
let stores: ReturnType<typeof accountStores>;
let deps: RetrieveDependencies & CurrencyReads;
let rows: ReturnType<typeof createRequestRowStore>;
let organization: string;
let admin: Actor;
let owner: Actor;
let member: Actor;
let foreignOwner: Actor;

beforeAll(async () => {
  database = await startTestDatabase();
  stores = accountStores(database);
  rows = createRequestRowStore(database.database, database.tables.Observability as string);
  deps = { ...stores, usage: database.usage, models: database.models, requestRows: rows };
  admin = await storeUser(stores, { role: 'admin', organization: null });
  ({ id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' }));
  const { id: other } = await createOrganization(stores, admin.origin, { name: 'Other' });
  owner = await storeUser(stores, { role: 'owner', organization });
  member = await storeUser(stores, { role: 'member', organization });
  foreignOwner = await storeUser(stores, { role: 'owner', organization: other });
  await database.models.put(SERVERLESS_POOL, {
    name: 'qwen3-8b',
    status: 'published',
    created: 0,
    version: 1,
    context_length: 100,
    max_output_tokens: 50,
    default_output_tokens: 50,
    targets: [{ endpoint: 'qwen-endpoint' }],
    prices: [PRICE, LOWER],
  });
});
afterAll(async () => {
  await database.close();
});

const newKey = async (actor: Actor, fields = {}): Promise<string> =>
  (await createApiKey(stores, actor, NewApiKey.parse({ name: 'key', ...fields }))).id;

const shardsOfKey = async (key: string): Promise<number> => Number((await database.limiters.get(key))?.shards ?? 1);

// As the request path does; the first event also as a row, as the function `rollup` does.
const store = async (original: UsageEvent, { again = [] as UsageEvent[], hasRow = true } = {}): Promise<string> => {
  const shards = await shardsOfKey(original.key_id);
  for (const event of [original, ...again]) await database.usage.putIfAbsent(event, shards);
  const row = requestRowOf(original);
  if (row && hasRow) await rows.put(row);
  return original.request_id;
};

const retrieve = async (actor: Actor, id: string, query: object = {}): Promise<RequestDetail> =>
  RequestDetail.strict().parse(await retrieveRequest(deps, actor, id, RequestDetailQuery.parse(query)));

test('shows a request’s phases, target, limits, usage, cost, ignored fields and trace', async () => {
  const key = await newKey(owner);
  const id = await store(fullEvent(organization, key, { project_id: 'prj_1' }));
  expect(await retrieve(owner, id)).toMatchObject({
    id,
    api_key_id: key,
    project_id: 'prj_1',
    created_at: Math.floor(NOW / 1_000),
    status: 200,
    error: null,
    target: { deployment: null, endpoint: 'qwen-endpoint', component: 'qwen-component', tries: 2 },
    limiter: { in_flight: 3, concurrency: 32, requests_left: 57, tokens_left: 9_000 },
    usage: { input_tokens: 120, cached_tokens: 100, output_tokens: 40 },
    ignored: ['logit_bias', 'speculation'],
    trace: { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', parent_id: '00f067aa0ba902b7', is_sampled: true },
    metadata: { team: 'docs', depth: { n: 1 } },
  });
});

test('finds each request of a key that lost its first limiter', async () => {
  const key = await newKey(owner, { limits: { concurrency: 100 } });
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) ids.push(await store(fullEvent(organization, key)));
  await database.database.delete({ TableName: database.tables.Keys as string, Key: { id: key } });
  for (const id of ids) expect(await retrieve(owner, id)).toMatchObject({ id, api_key_id: key });
});

test('the cost follows from tokens and prices, by the version that each rating used', async () => {
  const original = fullEvent(organization, await newKey(owner));
  const id = await store(original, { again: [ratedAgain(original)] });
  const { cost } = await retrieve(owner, id);
  expect(cost).toMatchObject({
    total: '0.0000055',
    ratings: [
      {
        id,
        price_version: 'price_1',
        rerate: null,
        charged: '0.0000095',
        lines: [
          { tokens: 'input', quantity: 20, per_million: '0.05', amount: '0.000001' },
          { tokens: 'cached_input', quantity: 100, per_million: '0.005', amount: '0.0000005' },
          { tokens: 'output', quantity: 40, per_million: '0.2', amount: '0.000008' },
        ],
      },
      { id: `${id}#2`, price_version: 'price_2', rerate: 'rr_1', charged: '-0.000004' },
    ],
  });
  expect(cost.ratings[1]?.lines?.at(-1)).toEqual({ tokens: 'output', quantity: 40, per_million: '0.1', amount: '0.000004' });
});

test('finds the request of a key whose events are spread over shards, among later requests', async () => {
  const limits = { requests_per_minute: 100_000, tokens_per_minute: 100_000_000, concurrency: 100 };
  const key = await newKey(admin, { organization, limits });
  expect(await shardsOfKey(key)).toBeGreaterThan(1);
  const events = Array.from({ length: 8 }, () => fullEvent(organization, key));
  for (const event of events) await store(event, { again: [ratedAgain(event)] });
  for (const { request_id } of events)
    expect((await retrieve(owner, request_id)).cost.ratings.map(({ id }) => id)).toEqual([request_id, `${request_id}#2`]);
});

test('members see requests of the keys that they created, and no others', async () => {
  const own = await store(fullEvent(organization, await newKey(member)));
  const othersKey = await newKey(owner);
  const others = await store(fullEvent(organization, othersKey));
  expect((await retrieve(member, own)).id).toBe(own);
  await expect(retrieve(member, others)).rejects.toMatchObject({ status: 404, code: 'request_not_found' });
  await expect(retrieve(member, others, { api_key_id: othersKey })).rejects.toMatchObject({ status: 404, code: 'request_not_found' });
});

test('requests of another organization return 404, also with its key or its id', async () => {
  const key = await newKey(owner);
  const id = await store(fullEvent(organization, key));
  for (const query of [{}, { api_key_id: key }])
    await expect(retrieve(foreignOwner, id, query)).rejects.toMatchObject({ status: 404, code: 'request_not_found' });
  await expect(retrieve(foreignOwner, id, { organization })).rejects.toMatchObject({ status: 404 });
});

test('admins see requests of the organization that they name', async () => {
  const id = await store(fullEvent(organization, await newKey(owner)));
  expect((await retrieve(admin, id, { organization })).id).toBe(id);
  await expect(retrieve(admin, id)).rejects.toMatchObject({ status: 400, param: 'organization' });
});

test('finds a request by its key before it can be searched', async () => {
  const key = await newKey(owner);
  const id = await store(fullEvent(organization, key), { hasRow: false });
  await expect(retrieve(owner, id)).rejects.toMatchObject({ status: 404 });
  expect((await retrieve(owner, id, { api_key_id: key })).id).toBe(id);
});

test('an unknown or malformed id returns 404', async () => {
  const key = await newKey(owner);
  for (const id of [newRequestId(NOW), 'req_1', `${newRequestId(NOW)}#2`])
    await expect(retrieve(owner, id, { api_key_id: key })).rejects.toMatchObject({ status: 404, code: 'request_not_found' });
});

test('shows a request of which only the end is known, and one whose price is unknown by now', async () => {
  const { step_ends_ms: _, limiter: __, endpoint: ___, traceparent: ____, ...old } = fullEvent(organization, await newKey(owner));
  const id = await store({ ...old, model: 'gone', outcome: 'orphaned' });
  expect(await retrieve(owner, id)).toMatchObject({
    phases: [],
    target: null,
    limiter: null,
    trace: null,
    status: null,
    cost: { total: '0.0000095', ratings: [{ lines: null }] },
  });
});

test('draws it as text for a terminal', async () => {
  const id = await store(fullEvent(organization, await newKey(owner)));
  const reply = await retrieveRequest(deps, owner, id, RequestDetailQuery.parse({ format: 'text' }));
  expect(reply).toBeInstanceOf(Text);
  expect((reply as Text).text).toMatch(new RegExp(`^${id} {2}completed {2}status 200\n`));
  expect((reply as Text).text).toMatch(/^cost +\$0\.\d+ by price_/m);
  const inEuro = { ...deps, currency: async () => currencyOf({ currency: 'EUR', currency_symbol: '€' }) };
  const euro = await retrieveRequest(inEuro, owner, id, RequestDetailQuery.parse({ format: 'text' }));
  expect((euro as Text).text).toBe((reply as Text).text.replaceAll('$', '€'));
});
