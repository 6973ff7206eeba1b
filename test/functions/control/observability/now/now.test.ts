import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../../functions/control/api-keys/api-key.ts';
import { createApiKey } from '../../../../../functions/control/api-keys/create-api-key.ts';
import { now } from '../../../../../functions/control/observability/now/now.ts';
import { Now } from '../../../../../functions/control/observability/now/now-resource.ts';
import { createOrganization } from '../../../../../functions/control/organizations/create-organization.ts';
import { ResourceNotFound } from '../../../../../shared/http/errors.ts';
import { MINUTE_MS, SECOND_MS } from '../../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { eventOf, NOW, rowsOf, usageStores } from '../../usage/usage-fixtures.ts';

let emulator: TestDatabase;
let stores: ReturnType<typeof usageStores>;
let deps: Parameters<typeof now>[0];
let admin: Actor;
beforeAll(async () => {
  emulator = await startTestDatabase();
  stores = usageStores(emulator);
  const reading = usageStores(emulator, await emulator.as('control'));
  deps = { ...reading.deps, ...reading.stores };
  admin = await stores.actor('admin', null);
});
afterAll(() => emulator.close());

const MINUTE = Math.floor(NOW / MINUTE_MS) * MINUTE_MS;

const newOrganization = async (): Promise<string> => (await createOrganization(stores.stores, admin.origin, { name: 'Acme' })).id;
const newKey = async (actor: Actor): Promise<string> => (await createApiKey(stores.stores, actor, NewApiKey.parse({ name: 'key' }))).id;
const addUsage = (organization: string, events: readonly Parameters<typeof eventOf>[1][]): Promise<void> =>
  stores.addRows(
    rowsOf(
      events.map((facts) => eventOf(organization, facts)),
      ['minute'],
      ['key'],
    ),
  );

// As the route's reply.
const ask = async (actor: Actor, organization?: string): Promise<Now> =>
  Now.parse(JSON.parse(JSON.stringify(await now(deps, actor, organization))));

describe('the live minute', () => {
  test('has the newest minute with usage by model and key, with the requests in flight', async () => {
    const organization = await newOrganization();
    const owner = await stores.actor('owner', organization);
    const key = await newKey(owner);
    await addUsage(organization, [
      { atMs: MINUTE - MINUTE_MS, key, model: 'old' },
      { atMs: MINUTE, key, model: 'small', tokens: 30 },
      { atMs: MINUTE, key, model: 'small' },
      { atMs: MINUTE, key, model: 'large' },
    ]);
    const latencies = { p50: expect.closeTo(10, 0), p99: expect.closeTo(10, 0) };
    expect(await ask(owner)).toEqual({
      object: 'observability.now',
      start_time: MINUTE / SECOND_MS,
      refresh_seconds: 10,
      rows: [
        expect.objectContaining({ organization, model: 'small', api_key_id: key, requests: 2, errors: 0, input_tokens: 40, in_flight: 0 }),
        expect.objectContaining({ organization, model: 'large', api_key_id: key, requests: 1, duration_ms: latencies }),
      ],
      others: 0,
      totals: expect.objectContaining({ requests: 3, errors: 0, input_tokens: 50, output_tokens: 100 }),
      is_partial: false,
    });
  });

  test('shows a member only the keys that they created', async () => {
    const organization = await newOrganization();
    const member = await stores.actor('member', organization);
    const key = await newKey(member);
    const other = await newKey(await stores.actor('owner', organization));
    await addUsage(organization, [
      { atMs: MINUTE - MINUTE_MS, key, model: 'small' },
      { atMs: MINUTE, key: other, model: 'small' },
    ]);
    const { start_time, rows, totals } = await ask(member);
    expect([start_time, rows.map(({ api_key_id }) => api_key_id), totals.requests]).toEqual([(MINUTE - MINUTE_MS) / SECOND_MS, [key], 1]);
  });

  test('returns 404 for another organization', async () => {
    const owner = await stores.actor('owner', await newOrganization());
    await expect(ask(owner, await newOrganization())).rejects.toThrow(ResourceNotFound);
    await expect(ask(admin, 'org_none')).rejects.toThrow(ResourceNotFound);
  });

  test('shows admins an organization, or all together with a longer time to wait', async () => {
    const [one, other] = [await newOrganization(), await newOrganization()];
    await addUsage(one, [{ atMs: MINUTE, key: 'key_one', model: 'small' }]);
    await addUsage(other, [{ atMs: MINUTE, key: 'key_other', model: 'small' }]);
    expect((await ask(admin, one)).rows).toEqual([expect.objectContaining({ organization: one, api_key_id: 'key_one' })]);
    const { rows, refresh_seconds, is_partial } = await ask(admin);
    expect(rows.map(({ organization }) => organization)).toEqual(expect.arrayContaining([one, other]));
    expect([refresh_seconds, is_partial]).toEqual([30, false]);
  });

  test('is partial if there are more than 100 organizations', async () => {
    const data = Array.from({ length: 100 }, (_, i) => ({ id: `org_${i}` }));
    const list = (async () => ({ object: 'list', data, has_more: true, next: 'org_100' })) as unknown as typeof deps.organizations.list;
    expect(await now({ ...deps, organizations: { ...deps.organizations, list } }, admin, undefined)).toMatchObject({ is_partial: true });
  });

  test('says that there was no usage in the last minutes', async () => {
    const owner = await stores.actor('owner', await newOrganization());
    expect(await ask(owner)).toMatchObject({ start_time: null, rows: [], totals: { requests: 0, duration_ms: null } });
  });
});
