import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { revokeApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { createOrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import { noteUse } from '../../../support/fixtures/note-use.ts';
import { eventOf, NOW, rowsOf } from '../usage/usage-fixtures.ts';
import { type SummaryWorld, startSummaryWorld } from './summary-world.ts';

const DOLLAR = 1_000_000_000n;

let world: SummaryWorld;
beforeAll(async () => {
  world = await startSummaryWorld();
});
afterAll(() => world.close());
afterEach(() => {
  jest.restoreAllMocks();
});

const newKey = (actor: Actor, fields: object = {}) => createApiKey(world.stores, actor, NewApiKey.parse({ name: 'key', ...fields }));

const addUsage = async (organization: string, events: readonly Parameters<typeof eventOf>[1][]): Promise<void> => {
  const totals = createOrganizationTotalsStore(world.emulator.database, world.emulator.tables.Usage as string);
  const rows = rowsOf(
    events.map((facts) => eventOf(organization, facts)),
    ['hour', 'day'],
    ['model', 'key'],
  );
  for (const row of rows) await totals.put(row);
};

describe('the sections of usage', () => {
  test('show owners the costs and requests of the organization, and members those of their keys', async () => {
    const organization = await world.newOrganization();
    const [owner, member] = [await world.newUser('owner', organization), await world.newUser('member', organization)];
    const [ofOwner, ofMember] = [await newKey(owner), await newKey(member)];
    await addUsage(organization, [
      { atMs: NOW, key: ofOwner.id, model: 'small', costNanos: DOLLAR },
      { atMs: NOW - 5 * HOUR_MS, key: ofMember.id, model: 'small', costNanos: 2n * DOLLAR },
      { atMs: NOW - 24 * HOUR_MS, key: ofMember.id, model: 'small', costNanos: 4n * DOLLAR },
      { atMs: NOW - 30 * DAY_MS, key: ofMember.id, model: 'small', costNanos: 8n * DOLLAR },
    ]);
    expect((await world.summaryFor(owner)).summary).toMatchObject({
      costs: { today: '3', month_to_date: '7', last_month: '8' },
      requests: { requests: 2, errors: 0, refusals: 0 },
    });
    expect((await world.summaryFor(member)).summary).toMatchObject({
      costs: { today: '2', month_to_date: '6', last_month: '8' },
      requests: { requests: 1, errors: 0, refusals: 0 },
    });
  });

  test('show nothing of another organization', async () => {
    const [organization, other] = [await world.newOrganization(), await world.newOrganization()];
    await addUsage(other, [{ atMs: NOW, key: 'key_other', model: 'small', costNanos: DOLLAR }]);
    expect((await world.summaryFor(await world.newUser('owner', organization))).summary).toMatchObject({
      costs: { today: '0', month_to_date: '0' },
      requests: { requests: 0 },
    });
  });
});

describe('the section api_keys', () => {
  test('counts active keys, those that expire within a week, and how many more are allowed', async () => {
    const organization = await world.newOrganization();
    const [owner, member] = [await world.newUser('owner', organization), await world.newUser('member', organization)];
    const inDays = (days: number): number => Math.floor((NOW + days * DAY_MS) / SECOND_MS);
    await newKey(owner);
    await newKey(owner, { expires_at: inDays(8) });
    await newKey(member, { expires_at: inDays(6) });
    const revoked = await newKey(member, { expires_at: inDays(6) });
    await revokeApiKey(world.stores, member, revoked.id);
    expect((await world.summaryFor(owner)).summary.api_keys).toEqual({ open: 3, expiring_soon: 1, left: 997 });
    expect((await world.summaryFor(member)).summary.api_keys).toEqual({ open: 1, expiring_soon: 1, left: 4 });
  });
});

describe('the section onboarding', () => {
  test.each(['owner', 'member'] as const)('follows the first key and the first request of a %s', async (role) => {
    const organization = await world.newOrganization();
    const actor = await world.newUser(role, organization);
    const other = await newKey(await world.newUser('member', await world.newOrganization()));
    await noteUse(world.emulator, other.id, NOW);
    const done = async () => (await world.summaryFor(actor)).summary.onboarding;
    expect(await done()).toEqual({ has_key: false, has_request: false });
    const { id } = await newKey(actor);
    expect(await done()).toEqual({ has_key: true, has_request: false });
    await noteUse(world.emulator, id, NOW);
    expect(await done()).toEqual({ has_key: true, has_request: true });
  });
});
