import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { apiKeyUsage } from '../../../../functions/control/api-keys/api-key-usage.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { balanceOf } from '../../../../functions/control/organizations/balance.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { recompute } from '../../../../functions/rollup/rollup.ts';
import { slotOf } from '../../../../shared/admission/item/sliding-window.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { bucketOfKey } from '../../../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { createRollupStore } from '../../../../shared/usage/rollup-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { limitOrganization } from '../../../support/fixtures/limit-organization.ts';
import { rollupStores } from '../../../support/fixtures/rollups.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';
import { creditDepsOf } from '../organizations/credit-fixtures.ts';

const NOON = Date.UTC(2026, 10, 21, 12);

let database: TestDatabase;
let admin: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  admin = await storeUser(accountStores(database), { role: 'admin', organization: null, nowMs: NOON });
});
afterAll(async () => {
  await database.close();
});

const setUp = async () => {
  const stores = accountStores(database);
  const { id: organization } = await createOrganization(stores, admin.origin, { name: 'Big' });
  const { id } = await createApiKey(stores, admin, NewApiKey.parse({ organization, name: 'k' }));
  await limitOrganization(database.limiters, organization, { isPrepaid: true });
  const rollups = createRollupStore(database.database, database.tables.Usage as string);
  const event = (): UsageEvent => ({
    request_id: newRequestId(NOON),
    key_id: id,
    org_id: organization,
    model: 'm',
    prompt_tokens: 1e15,
    cached_tokens: 1e15 - 1,
    completion_tokens: 1e15,
    source: 'runtime',
    outcome: 'completed',
    finish_reason: 'stop',
    admitted_at: NOON,
    time_to_first_token_ms: 5,
    duration_ms: 10,
    cost_nanos: 2n ** 60n + 1n,
    price_version: '1',
    is_prepaid: true,
  });
  const usage = async (): Promise<string> =>
    JSON.stringify(await apiKeyUsage({ ...stores, rollups }, admin, id, { from: '2026-11-21', to: '2026-11-21' }));
  return { organization, id, rollups, event, usage };
};

test('sums beyond 2^53 are exact from the events to the totals, the usage route and the balance', async () => {
  const { organization, id, event, usage } = await setUp();
  const bucket = bucketOfKey(`${id}#2026-11-21T12:00Z`);
  // Totals that fit a number, which are stored as such, are replaced by larger ones.
  await database.usage.putIfAbsent({ ...event(), prompt_tokens: 7, cached_tokens: 0, completion_tokens: 2, cost_nanos: 11n });
  await recompute(rollupStores(database.database, database.tables.Usage as string), [bucket]);
  expect(JSON.parse(await usage()).days).toEqual([
    expect.objectContaining({ requests: 1, prompt_tokens: 7, cached_tokens: 0, completion_tokens: 2, cost: '0.000000011' }),
  ]);
  for (let i = 0; i < 14; i++) await database.usage.putIfAbsent(event());
  await recompute(rollupStores(database.database, database.tables.Usage as string), [bucket]);

  const nanos = 14n * (2n ** 60n + 1n) + 11n;
  const text = await usage();
  expect(text).toContain('"prompt_tokens":14000000000000007,"cached_tokens":13999999999999986,"completion_tokens":14000000000000002');
  expect(JSON.parse(text)).toMatchObject({ cost: '16140901064.495857689', days: [{ requests: 15, failed_requests: 0 }] });
  expect(await balanceOf(creditDepsOf(database), organization)).toMatchObject({ spent: nanos });
});

test('a counter of tokens beyond 2^53 does not make the usage unreadable', async () => {
  const { id, usage } = await setUp();
  await database.database.update({
    TableName: database.tables.Keys as string,
    Key: { id },
    UpdateExpression: 'SET #t = :t',
    ExpressionAttributeNames: { '#t': `t${slotOf(NOON)}` },
    ExpressionAttributeValues: { ':t': 2n ** 60n },
  });
  expect(JSON.parse(await usage()).now.tokens_per_minute).toMatchObject({ remaining: 0 });
});
