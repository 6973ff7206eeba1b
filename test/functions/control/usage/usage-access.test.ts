import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { CompletionsQuery, CostsQuery } from '../../../../functions/control/query/usage-query.ts';
import { completionsUsage } from '../../../../functions/control/usage/completions-usage.ts';
import { costs } from '../../../../functions/control/usage/costs.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { DAY_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { eventOf, MODELS, NOW, ROUTES, rowsOf, seconds, usageStores } from './usage-fixtures.ts';

let database: TestDatabase;
let reads = 0;
let stores: ReturnType<typeof usageStores>;
let admin: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  const counted: Database = {
    ...database.database,
    query: (input) => {
      reads++;
      return database.database.query(input);
    },
  };
  stores = usageStores(database, counted);
  admin = await stores.actor('admin', null);
});
afterAll(async () => {
  await database.close();
});

const TODAY = { start_time: String(seconds(Date.UTC(2026, 10, 21))) };

// biome-ignore lint/suspicious/noExplicitAny: the reply is compared as JSON.
const ask = async (actor: Actor, query: Record<string, unknown> = {}): Promise<any> =>
  JSON.parse(JSON.stringify(await completionsUsage(stores.deps, actor, validate(CompletionsQuery, { ...TODAY, ...query }))));

const newOrganization = async (name: string): Promise<string> => (await createOrganization(stores.stores, admin.origin, { name })).id;

const addUsage = (organization: string, key: string, tokens: number): Promise<void> =>
  stores.addRows(rowsOf([eventOf(organization, { atMs: NOW, key, model: 'small', tokens })], ['day']));

test('a member sees only usage of the keys that they created, and no GPU time, whatever they ask for', async () => {
  const organization = await newOrganization('Acme');
  const [owner, member, other] = await Promise.all([
    stores.actor('owner', organization),
    stores.actor('member', organization),
    stores.actor('member', organization),
  ]);
  const { id: own } = await createApiKey(stores.stores, member, NewApiKey.parse({ name: 'own' }));
  const { id: foreign } = await createApiKey(stores.stores, owner, NewApiKey.parse({ name: 'foreign' }));
  await addUsage(organization, own, 1);
  await addUsage(organization, foreign, 100);
  const tokensOf = async (actor: Actor, query = {}) =>
    (await ask(actor, query)).data[0].results.map(({ input_tokens }: { input_tokens: number }) => input_tokens);
  // Both keys have the same model: the rows by model are sums that only the owner may see.
  expect(await tokensOf(member)).toEqual([1]);
  expect(await tokensOf(member, { api_key_ids: [own, foreign] })).toEqual([1]);
  expect(await tokensOf(member, { api_key_ids: [foreign] })).toEqual([]);
  expect(await tokensOf(other)).toEqual([]);
  expect(await tokensOf(owner, { api_key_ids: [foreign] })).toEqual([100]);
  const { data } = JSON.parse(
    JSON.stringify(await costs(stores.deps, member, validate(CostsQuery, { ...TODAY, group_by: ['line_item'] }))),
  );
  expect(data[0].results).toMatchObject([{ line_item: 'small', quantity: 3 }]);
});

test('an owner gets 404 for another organization, and an admin for one that does not exist', async () => {
  const owner = await stores.actor('owner', await newOrganization('Acme'));
  for (const actor of [owner, admin])
    await expect(ask(actor, { organization: newId('organization') })).rejects.toMatchObject({
      status: 404,
      code: 'organization_not_found',
    });
});

test('an admin sees the organization that they name, or all of them, 20 at a time', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 23; i++) ids.push(await newOrganization(`Acme ${i}`));
  for (const [i, id] of ids.entries()) await addUsage(id, 'key_a', i + 1);
  expect((await ask(admin, { organization: ids[4] })).data[0].results).toMatchObject([{ input_tokens: 5 }]);
  const seen = new Map<string, number>();
  let pages = 0;
  for (let page: string | undefined; pages < 20; ) {
    const reply = await ask(admin, { group_by: ['organization'], ...(page && { page }) });
    pages++;
    for (const { results } of reply.data)
      for (const { organization, input_tokens } of results) {
        expect(seen.has(organization)).toBe(false);
        seen.set(organization, input_tokens);
      }
    if (!reply.has_more) break;
    page = reply.next_page;
  }
  expect(pages).toBeGreaterThan(1);
  expect(ids.map((id) => seen.get(id))).toEqual(ids.map((_, i) => i + 1));
});

test('a month by day takes a few reads, however many events there were', async () => {
  const organization = newId('organization');
  const owner = await stores.actor('owner', organization);
  const rows = rowsOf(
    Array.from({ length: 30 }, (_, day) => day).flatMap((day) =>
      MODELS.flatMap((model) =>
        ROUTES.flatMap((route) =>
          [0, 1, 2, 3, 4].map((key) => eventOf(organization, { atMs: NOW - day * DAY_MS, key: `key_${key}`, model, route })),
        ),
      ),
    ),
    ['day'],
    ['model', 'key'],
  );
  // 600 rows by key and 120 by model, each set of which counts a million events.
  const PER_DAY_AND_MODEL = 1_000_000 / 120;
  for (const { totals, detail } of rows) totals.requests = totals.events = Math.floor(PER_DAY_AND_MODEL / (detail === 'key' ? 5 : 1));
  await stores.addRows(rows);
  const month = { start_time: String(seconds(Date.UTC(2026, 9, 23))), limit: '31' };
  const measured: Record<string, number> = {};
  for (const group_by of [[], ['model'], ['api_key_id']]) {
    reads = 0;
    const { data, has_more } = await ask(owner, { ...month, group_by });
    const requests = data.flatMap(({ results }: { results: { num_model_requests: number }[] }) =>
      results.map((result) => result.num_model_requests),
    );
    expect(has_more).toBe(false);
    expect(requests.reduce((sum: number, count: number) => sum + count, 0)).toBeGreaterThan(995_000);
    measured[`by ${group_by.join() || 'nothing'}`] = reads;
  }
  process.stdout.write(`queries for a month of a million events: ${JSON.stringify(measured)}\n`);
  expect(Math.max(...Object.values(measured))).toBeLessThanOrEqual(3);
});
