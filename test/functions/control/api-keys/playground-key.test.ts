import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor, UserRole } from '../../../../functions/control/access/actor.ts';
import { type ApiKeyWithSecret, NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { visibleKey } from '../../../../functions/control/api-keys/api-key-rights.ts';
import { revokeApiKey, rotateApiKey, updateApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { openKeysOf, revokeKeysOf } from '../../../../functions/control/api-keys/keys-of-user.ts';
import { KeysQuery, listApiKeys } from '../../../../functions/control/api-keys/list-api-keys.ts';
import { createPlaygroundKey } from '../../../../functions/control/api-keys/playground-key.ts';
import { retrievePayloadLog, setPayloadLog } from '../../../../functions/control/observability/payload-log/manage-payload-log.ts';
import { NewPayloadLog } from '../../../../functions/control/observability/payload-log/payload-log-resource.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { setSuspended, updateOrganization } from '../../../../functions/control/organizations/update-organization.ts';
import { release } from '../../../../functions/inference/admission/admit.ts';
import { isPayloadLogged, type KeyItem, mayStore } from '../../../../shared/admission/item/key-item.ts';
import { type PresentedKey, parseSecret } from '../../../../shared/admission/item/secret.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { attempt, isAdmitted, makeCaller } from '../../../support/fixtures/callers.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

const START = Date.UTC(2026, 10, 21, 12);
const CENT = 10_000_000n;

let database: TestDatabase;
let admin: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  admin = await storeUser(accountStores(database), { role: 'admin', organization: null, nowMs: START });
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const newOrganization = async (): Promise<string> => (await createOrganization(accountStores(database), admin.origin, { name: 'Acme' })).id;
const user = async (role: UserRole = 'member', organization?: string): Promise<Actor> =>
  storeUser(accountStores(database), { role, organization: organization ?? (await newOrganization()), nowMs: START });
const at = (actor: Actor, nowMs: number): Actor => ({ ...actor, origin: { ...actor.origin, nowMs } });
const body = (fields: object = {}): NewApiKey => NewApiKey.parse({ name: 'try', purpose: 'playground', ...fields });
const create = (by: Actor, fields: object = {}, over: Database = database.database): Promise<ApiKeyWithSecret> =>
  createPlaygroundKey(accountStores(database, over), by, body(fields));
const revoke = (by: Actor, id: string) => revokeApiKey(accountStores(database), by, id);
const presented = ({ secret }: ApiKeyWithSecret) => parseSecret(secret) as PresentedKey;
const send = (key: ApiKeyWithSecret, nowMs: number, maxCostNanos = 0n) =>
  attempt(
    makeCaller(database.limiters, () => nowMs),
    presented(key),
    1,
    undefined,
    maxCostNanos,
  );
const item = async (id: string): Promise<KeyItem> => (await database.limiters.get(id)) as KeyItem;
const countIn = async (account: string, record: string): Promise<unknown> => {
  const { Item } = await database.database.get({ TableName: database.tables.Accounts as string, Key: { account, record } });
  return Item?.count;
};

describe('a playground key', () => {
  test('works for the time that was requested, an hour by default', async () => {
    const member = await user();
    const key = await create(member, { expires_in_seconds: 60 });
    expect(key).toMatchObject({ purpose: 'playground', status: 'active', expires_at: START / 1_000 + 60, version: 1 });
    expect(isAdmitted(await send(key, START + 59_000))).toBe(true);
    expect(await send(key, START + 60_000)).toMatchObject({ status: 401 });
    expect(await create(member)).toMatchObject({ expires_at: START / 1_000 + 3_600 });
  });

  test.each([
    [{ expires_in_seconds: 59 }],
    [{ expires_in_seconds: 3_601 }],
    [{ expires_at: START / 1_000 + 60 }],
    [{ purpose: 'standard', expires_in_seconds: 60 }],
    [{ purpose: 'federated' }],
  ])('rejects %j', (fields) => {
    expect(NewApiKey.safeParse({ name: 'try', purpose: 'playground', ...fields }).success).toBe(false);
  });

  test('counts in none of the numbers of other keys', async () => {
    const member = await user();
    const stores = accountStores(database);
    for (let i = 0; i < 5; i++) await createApiKey(stores, member, NewApiKey.parse({ name: 'key' }));
    await create(member);
    expect(await countIn(member.organization as string, 'keys')).toBe(5);
    expect(await countIn(member.organization as string, 'keys-ever')).toBe(5);
    expect(await countIn(member.userId, 'keys')).toBe(5);
  });

  test('is listed for its purpose only', async () => {
    const member = await user();
    const stores = accountStores(database);
    const { id } = await createApiKey(stores, member, NewApiKey.parse({ name: 'key' }));
    const { id: temporary } = await create(member);
    const list = async (purpose: 'standard' | 'playground') =>
      (await listApiKeys(stores, member, KeysQuery.parse({ limit: 10, purpose }))).data.map((key) => key.id);
    expect(await list('standard')).toEqual([id]);
    expect(await list('playground')).toEqual([temporary]);
  });

  test('has no limits that its creator may not set, and none that its limiter has no room for', async () => {
    const organization = await newOrganization();
    const limits = { concurrency: 64 };
    await expect(create(await user('member', organization), { limits })).rejects.toMatchObject({ status: 403 });
    const owner = await user('owner', organization);
    expect(await create(owner, { limits })).toMatchObject({ limits });
    await expect(create(owner, { limits: { concurrency: 65 } })).rejects.toMatchObject({ status: 400, param: 'limits' });
    await expect(create(owner, { limits: { requests_per_minute: 24_001 } })).rejects.toMatchObject({ status: 400 });
  });

  test('can be revoked, but not changed or rotated', async () => {
    const member = await user();
    const key = await create(member);
    const stores = accountStores(database);
    const refused = { status: 409, code: 'temporary_key' };
    await expect(updateApiKey(stores, member, key.id, { name: 'other' })).rejects.toMatchObject(refused);
    await expect(rotateApiKey(stores, member, key.id, { overlap_seconds: 0 })).rejects.toMatchObject(refused);
    await revoke(member, key.id);
    expect(await send(key, START)).toMatchObject({ status: 401 });
  });

  test('is a 404 for other members', async () => {
    const organization = await newOrganization();
    const { id } = await create(await user('owner', organization));
    await expect(visibleKey(accountStores(database), await user('member', organization), id)).rejects.toMatchObject({ status: 404 });
  });

  test('is revoked with the other keys of a user who leaves, unless it has ended', async () => {
    const member = await user();
    const stores = { ...accountStores(database), now: () => START + 2 * MINUTE_MS };
    const live = await create(member);
    await create(member, { expires_in_seconds: 60 });
    const creator = { id: member.userId, organization: member.organization };
    expect(await openKeysOf(stores, creator)).toEqual([live.id]);
    const owner = at(await user('owner', member.organization as string), START + 2 * MINUTE_MS);
    expect(await revokeKeysOf(stores, owner, creator)).toEqual([]);
    expect(await openKeysOf(stores, creator)).toEqual([]);
    expect(await send(live, START)).toMatchObject({ status: 401 });
  });

  test('is revoked with the keys of an admin who leaves', async () => {
    const stores = { ...accountStores(database), now: () => START };
    const organization = await newOrganization();
    const other = await storeUser(stores, { role: 'admin', organization: null, nowMs: START });
    const { id } = await create(other, { organization });
    expect(await openKeysOf(stores, { id: other.userId, organization: null })).toEqual([id]);
    expect(await revokeKeysOf(stores, admin, { id: other.userId, organization: null })).toEqual([]);
  });

  test('is not created in a suspended organization', async () => {
    const member = await user();
    await setSuspended(accountStores(database), admin.origin, member.organization as string, { isSuspended: true, reason: 'unpaid' });
    await expect(create(member)).rejects.toMatchObject({ code: 'organization_suspended' });
  });
});

describe('the bounds of playground keys', () => {
  test('are five live keys of a user, however many are created at the same time', async () => {
    const member = await user();
    const results = await Promise.allSettled(Array.from({ length: 9 }, () => create(member)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    await expect(create(at(member, START + MINUTE_MS))).rejects.toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      headers: { 'retry-after': String(59 * 60) },
    });
    await create(at(member, START + HOUR_MS));
  });

  test('are a hundred creations of a user a day', async () => {
    const member = await user();
    for (let i = 0; i < 100; i++) await revoke(member, (await create(member)).id);
    await expect(create(member)).rejects.toMatchObject({ status: 429, headers: { 'retry-after': String(12 * 3_600) } });
    await create(at(member, START + 12 * HOUR_MS));
  });

  test('are two hundred creations of an organization in any hour, whoever makes them', async () => {
    const organization = await newOrganization();
    const half = START - HOUR_MS / 2;
    for (let i = 0; i < 40; i++) {
      const member = at(await user('member', organization), half);
      await Promise.all(Array.from({ length: 5 }, () => create(member)));
    }
    const late = await user('member', organization);
    await expect(create(at(late, START + MINUTE_MS))).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining('Your organization'),
    });
    await create(at(late, START + HOUR_MS));
  });

  test('are not used up by requests of a user who has five', async () => {
    const organization = await newOrganization();
    const member = await user('member', organization);
    for (let i = 0; i < 5; i++) await create(member);
    for (let i = 0; i < 250; i++) await expect(create(member)).rejects.toMatchObject({ status: 429 });
    await create(await user('member', organization));
  });
});

describe('an id that is used again', () => {
  const LATER = START + HOUR_MS;

  const twice = async (fields: object = {}, between: (first: ApiKeyWithSecret, by: Actor) => Promise<unknown> = async () => undefined) => {
    const member = await user('owner');
    const first = await create(member, fields);
    await between(first, member);
    const second = await create(at(member, LATER), fields);
    return { member, first, second };
  };

  test('has one secret: that of the latest key', async () => {
    const { first, second } = await twice();
    expect(second).toMatchObject({ id: first.id, created_at: LATER / 1_000, version: 2, last_used_at: null });
    expect(await send(first, LATER)).toMatchObject({ status: 401 });
    expect(isAdmitted(await send(second, LATER))).toBe(true);
  });

  test('keeps the numbers of keys and limiters as they are', async () => {
    const member = await user();
    for (let i = 0; i < 30; i++) await create(at(member, START + i * HOUR_MS));
    expect(await countIn(member.organization as string, 'temporary-keys')).toBe(1);
    expect(await countIn(member.organization as string, 'keys-concurrency')).toBe(32);
    expect(await Array.fromAsync(database.limiters.listByOrganization(member.organization as string))).toHaveLength(1);
  });

  test('has counted nothing, but keeps its last use, by which bills find its events', async () => {
    const used = START + MINUTE_MS;
    const { second } = await twice({ budgets: { total: '0.01' } }, async (first) => {
      const keys = makeCaller(database.limiters, () => used);
      const admission = await attempt(keys, presented(first), 100, undefined, CENT);
      if (!isAdmitted(admission)) throw admission;
      await release(keys, admission, { tokens: 100, costNanos: CENT });
      expect(await send(first, used, CENT)).toMatchObject({ status: 429 });
    });
    const { spent, last_used, cfg, fl } = await item(second.id);
    expect({ spent, last_used, cfg, fl }).toEqual({ spent: undefined, last_used: used, cfg: 2, fl: {} });
    expect(isAdmitted(await send(second, LATER, CENT))).toBe(true);
  });

  test('is not given away while a request of its last key is running', async () => {
    const { first, second } = await twice({}, (key) => send(key, START));
    expect(second.id).not.toBe(first.id);
  });

  test('is not given away if its last key is used while the next one is created', async () => {
    const member = await user();
    const first = await create(member);
    let isSent = false;
    const over: Database = {
      ...database.database,
      transactWrite: async (input) => {
        // The clock of this environment is behind.
        if (!isSent) expect(isAdmitted(await send(first, LATER - 1))).toBe(true);
        isSent = true;
        return database.database.transactWrite(input);
      },
    };
    expect((await create(at(member, LATER), {}, over)).id).not.toBe(first.id);
  });

  test('is given to one of two creations at the same time', async () => {
    const { member, second } = await twice();
    const both = await Promise.all([1, 2].map(() => create(at(member, LATER + HOUR_MS))));
    expect(both.map(({ id }) => id)).toContain(second.id);
    expect(new Set(both.map(({ id }) => id)).size).toBe(2);
    for (const key of both) expect(isAdmitted(await send(key, LATER + HOUR_MS))).toBe(true);
  });

  test('follows what its organization has set meanwhile, also after a revocation', async () => {
    const stores = accountStores(database);
    const { second } = await twice({}, async (first, by) => {
      await revoke(by, first.id);
      await updateOrganization(stores, admin, by.organization as string, { no_content: true });
    });
    expect(mayStore(await item(second.id))).toBe(false);
  });

  test('has no payload log of its last key, but that of its organization', async () => {
    const stores = accountStores(database);
    const ofKey = NewPayloadLog.parse({ enabled: true, patterns: [], tool_arguments: 'keep', retention_days: 90 });
    const ofOrganization = NewPayloadLog.parse({ enabled: true, retention_days: 1 });
    const { first, second, member } = await twice({}, async ({ id }, by) => {
      await setPayloadLog(stores, by, undefined, ofOrganization, undefined);
      await setPayloadLog(stores, by, id, ofKey, undefined);
    });
    expect(second.id).toBe(first.id);
    const organization = member.organization as string;
    expect(await retrievePayloadLog(stores, member, second.id)).toMatchObject({ source: 'organization', retention_days: 1 });
    expect(await stores.payloadLogs.ofKey(organization, second.id)).toMatchObject({ retention_days: 1, tool_arguments: 'redact' });
    expect(isPayloadLogged(await item(second.id))).toBe(true);
  });

  test('is given to nobody else', async () => {
    const { first, member } = await twice();
    const other = at(await user('member', member.organization as string), LATER + HOUR_MS);
    expect((await create(other)).id).not.toBe(first.id);
  });

  test('is revoked by its next key’s creator as well', async () => {
    const { member, second } = await twice({}, (first, by) => revoke(by, first.id));
    await revoke(at(member, LATER), second.id);
    expect(await send(second, LATER)).toMatchObject({ status: 401 });
  });
});
