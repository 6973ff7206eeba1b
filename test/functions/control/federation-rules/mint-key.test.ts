import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createRule, deleteRule, updateRule } from '../../../../functions/control/federation-rules/manage-rules.ts';
import { mintKey, mintKeyCalls } from '../../../../functions/control/federation-rules/mint-key.ts';
import { FederationRuleUpdate, NewFederationRule } from '../../../../functions/control/federation-rules/rule-resource.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { setSuspended } from '../../../../functions/control/organizations/update-organization.ts';
import { deleteServiceAccount, updateServiceAccount } from '../../../../functions/control/service-accounts/manage-service-accounts.ts';
import type { KeyItem } from '../../../../shared/admission/item/key-item.ts';
import { parseSecret } from '../../../../shared/admission/item/secret.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { type Permission, permissionsOf } from '../../../../shared/hosts/permissions.ts';
import { newTimedId } from '../../../../shared/ids/id.ts';
import { createNetworks } from '../../../../shared/network/networks.ts';
import { DAY_MS, HOUR_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { acceptingUserPool, storeUser } from '../../../support/fixtures/stored-users.ts';
import { accountOf } from '../../machine-sign-in/machine-sign-in-fixtures.ts';
import { serviceAccountStores } from '../service-accounts/service-account-stores.ts';

const NOW_MS = Date.UTC(2026, 10, 26, 12);
const SETTINGS = { lifetime_seconds: 600, models: ['tiny'], budgets: { total: '2' }, limits: { concurrency: 8 } };

let database: TestDatabase;
let admin: Actor;
let owner: Actor;
let account: string;
let rule: string;
beforeAll(async () => {
  database = await startTestDatabase();
  admin = await storeUser(storesOver(), { role: 'admin', organization: null, nowMs: NOW_MS });
});
afterAll(() => database.close());
beforeEach(async () => {
  const stores = storesOver();
  const { id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' });
  owner = await storeUser(stores, { role: 'owner', organization, nowMs: NOW_MS });
  account = newTimedId('user', NOW_MS);
  await transact(database.database, stores.serviceAccounts.toCreate(accountOf('ci', { id: account, organization })));
  rule = await addRule(SETTINGS);
});

const storesOver = (client: Partial<Database> = {}, nowMs = NOW_MS) => ({
  ...serviceAccountStores(database, { ...database.database, ...client }),
  networks: createNetworks(''),
  userPool: { ...acceptingUserPool, createSilentUser: async () => ({ subject: 'x', isNew: true }) },
  now: () => nowMs,
});

const ISSUER = { issuer: 'https://issuer.example', audience: 'https://control.example.com', claims: { team: '7' } };
const addRule = async (api_key: object | null, as: Actor = owner, of = account): Promise<string> =>
  (await createRule(storesOver(), as, of, NewFederationRule.parse({ ...ISSUER, api_key }))).id;
const change = (fields: object) => updateRule(storesOver(), owner, { account, rule }, FederationRuleUpdate.parse(fields), undefined);

const callOf = (changes: object = {}) => ({
  mint_key: {
    ...{ service_account: account, federation_rule: rule, facts: { run_id: '99', id: 'other' } },
    ...{ ip_address: '203.0.113.7', request_id: 'req_1', ...changes },
  },
});
const mint = (changes: object = {}, { nowMs = NOW_MS, over = {} }: { nowMs?: number; over?: Partial<Database> } = {}) =>
  mintKey(storesOver(over, nowMs), callOf(changes));
const created = async (nowMs = NOW_MS) => {
  const result = await mint({}, { nowMs });
  if (result.outcome !== 'created') throw new Error(result.reason);
  return result;
};
const rowOf = (id: string) => storesOver().apiKeys.get(owner.organization as string, id);
const statusOf = async (id: string) => ((await database.limiters.get(id)) as KeyItem).status;
const refused = (reason: string) => ({ outcome: 'refused', reason });

// Something happens just before the first transaction.
const racing = (before: () => Promise<unknown>): Partial<Database> => {
  let isFirst = true;
  return {
    transactWrite: async (input) => {
      if (isFirst) {
        isFirst = false;
        await before();
      }
      return database.database.transactWrite(input);
    },
  };
};

describe('mintKey', () => {
  test('creates a key of the service account with the settings of the rule', async () => {
    const { id, secret, expires_in } = await created();
    expect(expires_in).toBe(600);
    expect(parseSecret(secret)).toMatchObject({ keyId: id, scope: 'serverless' });
    expect(await rowOf(id)).toMatchObject({
      purpose: 'federated',
      created_by: account,
      expires_at: NOW_MS / 1_000 + 600,
      models: ['tiny'],
      limits: { concurrency: 8, requests_per_minute: 600 },
      budgets: { day: null, month: null, total: '2' },
      project_id: null,
    });
  });

  test('records the proof, and no fact in place of the key’s own', async () => {
    const { id } = await created();
    const { data } = await storesOver().audit.list(owner.organization, { limit: 10 });
    const entry = data.find(({ action }) => action === 'api_key.created');
    expect(entry).toMatchObject({ target: { id }, actor: { id: account }, ip_address: '203.0.113.7', request_id: 'req_1' });
    expect(entry?.changes).toMatchObject({ proof: { to: `rule:${rule}` }, run_id: { to: '99' }, id: { to: id } });
  });

  test('trusts the caller with nothing but the token', async () => {
    expect(await mint({ federation_rule: await addRule(null) })).toEqual(refused('no_api_key'));
    expect(await mint({ federation_rule: 'fed_000000000000000000' })).toEqual(refused('rule_disabled'));
    expect(await mint({ service_account: owner.userId })).toEqual(refused('service_account_disabled'));
    await change({ status: 'disabled' });
    expect(await mint()).toEqual(refused('rule_disabled'));
    await change({ status: 'active' });
    await updateServiceAccount(storesOver(), owner, account, { status: 'disabled' });
    expect(await mint()).toEqual(refused('service_account_disabled'));
  });

  test('creates none in a suspended organization', async () => {
    await setSuspended(storesOver(), admin.origin, owner.organization as string, { isSuspended: true, reason: 'unpaid' });
    expect(await mint()).toEqual(refused('organization_suspended'));
  });

  test('creates at most a hundred at a time, and more when they have ended, under the same ids', async () => {
    const keys = await Promise.all(Array.from({ length: 4 }, () => Promise.all(Array.from({ length: 25 }, () => created()))));
    expect(await mint()).toEqual({ ...refused('too_many_keys'), retry_after_seconds: 600 });
    expect(await mint({ federation_rule: await addRule(SETTINGS) })).toMatchObject({ outcome: 'created' });
    const ids = keys.flat().map(({ id }) => id);
    expect(ids).toContain((await created(NOW_MS + 600_000)).id);
  });

  test('creates at most 2,000 a day', async () => {
    const { quotas } = storesOver();
    await quotas.count({ kind: 'federated_key', span: 'day', account: rule, max: 2_000, by: 2_000 }, NOW_MS);
    expect(await mint()).toEqual({ ...refused('too_many_keys'), retry_after_seconds: (12 * HOUR_MS) / 1_000 });
    expect(await mint({}, { nowMs: NOW_MS + DAY_MS })).toMatchObject({ outcome: 'created' });
  });

  test('leaves a key that only ends if the reply is lost', async () => {
    const transactWrite: Database['transactWrite'] = async (input) => {
      await database.database.transactWrite(input);
      throw new Error('lost');
    };
    const lost = mint({}, { over: { transactWrite } });
    await expect(lost).rejects.toThrow('lost');
    await created();
    const keys = await Array.fromAsync(storesOver().apiKeys.listAll(owner.organization as string));
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(key.expires_at).toBe(NOW_MS / 1_000 + 600);
    expect(keys.map(({ id }) => id)).toContain((await created(NOW_MS + HOUR_MS)).id);
  });
});

describe('mintKeyCalls', () => {
  const handle = (event: object) => mintKeyCalls(storesOver()).before({ event });

  test('handles the event of machine-sign-in, and leaves every request to the routes', async () => {
    expect(await handle(callOf())).toMatchObject({ outcome: 'created' });
    expect(handle({ httpMethod: 'POST', path: '/v1/auth/token', requestContext: {}, body: JSON.stringify(callOf()) })).toBeUndefined();
  });

  test('rejects an event of another shape', () => {
    expect(() => handle({ ...callOf(), requestContext: {} })).toThrow();
    expect(() => handle(callOf({ api_key: {} }))).toThrow();
  });
});

describe('the keys of a rule', () => {
  const ends: [string, () => Promise<unknown>][] = [
    ['the rule is disabled', () => change({ status: 'disabled' })],
    ['the rule creates no more keys', () => change({ api_key: null })],
    ['the rule is deleted', () => deleteRule(storesOver(), owner, { account, rule }, undefined)],
    ['the service account is disabled', () => updateServiceAccount(storesOver(), owner, account, { status: 'disabled' })],
    ['the service account is deleted', () => deleteServiceAccount(storesOver(), owner, account, { revokes: false })],
  ];

  test.each(ends)('are revoked when %s, and none is created after that', async (_, end) => {
    const keys = await Promise.all([created(), created(), created()]);
    const late = await mint({}, { over: racing(end) });
    expect(late.outcome).toBe('refused');
    for (const { id } of keys) expect(await statusOf(id)).toBe('revoked');
  });

  test.each(ends)('are revoked when %s, also those that are created at that moment', async (_, end) => {
    const minting = Array.from({ length: 4 }, () => mint().catch(() => undefined));
    await Promise.all([...minting, end()]);
    const made = (await Promise.all(minting)).flatMap((each) => (each?.outcome === 'created' ? [each.id] : []));
    expect(await Promise.all(made.map(statusOf))).toEqual(made.map(() => 'revoked'));
    expect(await mint()).toMatchObject({ outcome: 'refused' });
  });

  test('are revoked if one is created just before the rule is disabled', async () => {
    let id = '';
    const over = racing(async () => {
      id = (await created()).id;
    });
    await updateRule(storesOver(over), owner, { account, rule }, { status: 'disabled' }, undefined);
    expect(await statusOf(id)).toBe('revoked');
  });

  test('are revoked by the repetition of a request that crashed after it had disabled the rule', async () => {
    const { id } = await created();
    let writes = 0;
    const over: Partial<Database> = {
      transactWrite: async (input) => {
        if (writes++ > 0) throw new Error('crash');
        return database.database.transactWrite(input);
      },
    };
    await expect(updateRule(storesOver(over), owner, { account, rule }, { status: 'disabled' }, undefined)).rejects.toThrow('crash');
    expect(await statusOf(id)).toBe('active');
    await change({ status: 'disabled' });
    expect(await statusOf(id)).toBe('revoked');
  });

  test('stay when another rule is disabled, or the settings change', async () => {
    const { id } = await created();
    const other = await addRule(SETTINGS);
    await updateRule(storesOver(), owner, { account, rule: other }, { status: 'disabled' }, undefined);
    await change({ api_key: { ...SETTINGS, lifetime_seconds: 60 } });
    expect(await statusOf(id)).toBe('active');
    expect(await created()).toMatchObject({ expires_in: 60 });
  });

  test('have no rows of their series when the rule or the service account is gone', async () => {
    await created();
    await deleteRule(storesOver(), owner, { account, rule }, undefined);
    await deleteServiceAccount(storesOver(), owner, account, { revokes: false });
    expect(await Array.fromAsync(storesOver().accounts.allOf(account))).toEqual([]);
  });
});

describe('the api_key of a rule', () => {
  test('requires the rights to create keys with limits', async () => {
    const permissions = new Set(['service_accounts:write', 'keys:write'] as const);
    await expect(addRule(SETTINGS, { ...owner, permissions } as Actor)).rejects.toMatchObject({ status: 403 });
  });

  test('requires them of whoever changes what the rule trusts, and not to disable it or to end its keys', async () => {
    const permissions = new Set<Permission>([...permissionsOf('member'), 'service_accounts:write']);
    const by = (fields: object) =>
      updateRule(storesOver(), { ...owner, permissions }, { account, rule }, FederationRuleUpdate.parse(fields), undefined);
    await expect(by({ claims: { team: '8' } })).rejects.toMatchObject({ status: 403 });
    expect(await by({ status: 'disabled' })).toMatchObject({ status: 'disabled' });
    await expect(by({ status: 'active' })).rejects.toMatchObject({ status: 403 });
    expect(await by({ api_key: null, claims: { team: '8' } })).toMatchObject({ api_key: null, claims: { team: '8' } });
    expect(await by({ status: 'active' })).toMatchObject({ status: 'active' });
  });

  test('is not for service accounts of the platform', async () => {
    const platform = newTimedId('user', NOW_MS);
    const stored = accountOf('platform', { id: platform, organization: null, role: 'support' });
    await transact(database.database, storesOver().serviceAccounts.toCreate(stored));
    await expect(addRule(SETTINGS, admin, platform)).rejects.toMatchObject({ status: 400, param: 'api_key' });
  });

  test.each([
    { lifetime_seconds: 59 },
    { lifetime_seconds: 3_601 },
    { budgets: { day: '1' } },
    { no_content: true },
    { limits: { concurrency: -1 } },
  ])('rejects %j', (api_key) => {
    expect(NewFederationRule.safeParse({ ...ISSUER, api_key }).success).toBe(false);
  });

  test('rejects limits that a temporary key can’t have', async () => {
    await expect(addRule({ limits: { concurrency: 65 } })).rejects.toMatchObject({ status: 400, param: 'api_key' });
    await expect(change({ api_key: { limits: { concurrency: 65 } } })).rejects.toMatchObject({ status: 400 });
  });
});
