import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { federationRuleRoutes } from '../../../../functions/control/federation-rules/routes.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { deleteServiceAccount } from '../../../../functions/control/service-accounts/manage-service-accounts.ts';
import type { SignedInUser } from '../../../../functions/control/sessions/authenticate.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { createRuleStore } from '../../../../shared/federation/rule-store.ts';
import { createSignInEvents } from '../../../../shared/federation/sign-in-events.ts';
import type { Permission } from '../../../../shared/hosts/permissions.ts';
import { ApiError } from '../../../../shared/http/errors.ts';
import { newTimedId } from '../../../../shared/ids/id.ts';
import { createNetworks } from '../../../../shared/network/networks.ts';
import { createServiceAccountStore } from '../../../../shared/service-accounts/service-account-store.ts';
import { eventOf } from '../../../support/emulators/api-event.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { acceptingUserPool, storeUser } from '../../../support/fixtures/stored-users.ts';
import { FORBIDDEN_ADDRESSES } from '../../../support/forbidden-addresses.ts';
import { accountOf } from '../../machine-sign-in/machine-sign-in-fixtures.ts';

const NOW_MS = Date.UTC(2026, 10, 1);
const GITHUB = {
  issuer: 'https://token.actions.githubusercontent.com',
  audience: 'https://control.example.com',
  claims: { repository_id: '7' },
};

let emulator: TestDatabase;
let stores: ReturnType<typeof accountStores>;
let table: ReturnType<typeof createRecordTable>;
let admin: Actor;
let owner: Actor;
let otherOwner: Actor;
let account: string;

beforeAll(async () => {
  emulator = await startTestDatabase();
  stores = accountStores(emulator);
  table = createRecordTable(emulator.database, String(emulator.tables.Accounts));
  admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: NOW_MS });
});
afterAll(() => emulator.close());
beforeEach(async () => {
  const { id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' });
  const { id: other } = await createOrganization(stores, admin.origin, { name: 'Other' });
  owner = await storeUser(stores, { role: 'owner', organization, nowMs: NOW_MS });
  otherOwner = await storeUser(stores, { role: 'owner', organization: other, nowMs: NOW_MS });
  account = await storeAccount();
});

const storeAccount = async (): Promise<string> => {
  const id = newTimedId('user', NOW_MS);
  const stored = accountOf('ci', { id, organization: owner.organization });
  await transact(emulator.database, createServiceAccountStore(table).toCreate(stored));
  return id;
};

interface Sent {
  as?: Actor;
  id?: string;
  rule?: string;
  body?: object;
  headers?: Record<string, string>;
}

const send = async (operationId: string, { as = owner, id = account, rule, body, headers = {} }: Sent = {}) => {
  const found = federationRuleRoutes.find((route) => route.operationId === operationId);
  if (!found) throw new Error(`There is no ${operationId}.`);
  const event = { ...eventOf(found.path, { method: found.method, headers }), requestContext: {} } as ReturnType<typeof eventOf>;
  const request = { ...event, pathParameters: { id, ...(rule && { rule }) }, body: body ? JSON.stringify(body) : null };
  const deps = {
    ...stores,
    rules: createRuleStore(table),
    signInEvents: createSignInEvents(emulator.database, String(emulator.tables.Accounts), table),
    networks: createNetworks(''),
    serviceAccounts: createServiceAccountStore(table),
    authenticate: async () => ({ actor: as, provedAt: as.origin.nowMs / 1_000 }) as SignedInUser,
  };
  try {
    const reply = await found.handle(deps, request as never);
    return { status: reply.statusCode, etag: reply.headers.etag, body: JSON.parse(reply.body) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { status: error.status, code: error.code, body: { message: error.message } as never };
  }
};

const create = async (fields: object = {}): Promise<{ id: string; version: number }> =>
  (await send('createFederationRule', { body: { ...GITHUB, ...fields } })).body;

describe('federation rules', () => {
  test('creates, lists, changes and deletes a rule', async () => {
    const created = await create({ description: 'Deploy' });
    expect(created).toMatchObject({
      ...GITHUB,
      object: 'federation_rule',
      service_account: account,
      subject: null,
      status: 'active',
      version: 1,
    });
    const rule = created.id;
    expect((await send('listFederationRules')).body.data).toEqual([created]);
    const changed = await send('updateFederationRule', { rule, body: { status: 'disabled', claims: { repository_id: '8' } } });
    expect(changed.body).toMatchObject({ status: 'disabled', claims: { repository_id: '8' }, description: 'Deploy', version: 2 });
    expect((await send('retrieveFederationRule', { rule })).body).toEqual(changed.body);
    expect((await send('deleteFederationRule', { rule, headers: { 'if-match': '"1"' } })).status).toBe(412);
    expect((await send('deleteFederationRule', { rule })).body).toEqual({ id: rule, object: 'federation_rule', deleted: true });
    expect((await send('retrieveFederationRule', { rule })).status).toBe(404);
  });

  test('records each change in the audit log without the description', async () => {
    const { id: rule } = await create({ description: 'Our words' });
    await send('updateFederationRule', { rule, body: { status: 'disabled' } });
    await send('deleteFederationRule', { rule });
    const { data } = await stores.audit.list(owner.organization as string, { limit: 10 } as never);
    expect(data.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['federation_rule.deleted', 'federation_rule.updated', 'federation_rule.created']),
    );
    expect(JSON.stringify(data)).not.toContain('Our words');
  });

  test.each<[string, object, string]>([
    ['is too wide', { claims: {}, subject: 'repo:acme/web:*' }, 'rule_too_wide'],
    ['has a star inside its subject', { subject: 'repo:*:x' }, 'invalid_value'],
    ['has a star in a claim', { claims: { repository_id: '*' } }, 'invalid_value'],
    ['names the audience as a claim', { claims: { repository_id: '7', aud: 'x' } }, 'invalid_value'],
    ['has 33 claims', { claims: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`c${i}`, 'x'])) }, 'invalid_value'],
    ['has an issuer with a query', { issuer: 'https://issuer.example/?a=b' }, 'invalid_issuer'],
    ['has an issuer without TLS', { issuer: 'http://issuer.example' }, 'invalid_issuer'],
    ['has no issuer', { issuer: undefined }, 'missing'],
  ])('rejects a rule that %s', async (_, fields, code) => {
    const reply = await send('createFederationRule', { body: { ...GITHUB, ...fields } });
    expect(reply.status).toBe(400);
    if (code.includes('_') && code !== 'invalid_value') expect(reply.code).toBe(code);
  });

  test('rejects a change that makes a rule too wide', async () => {
    const { id: rule } = await create();
    expect(await send('updateFederationRule', { rule, body: { claims: { ref: 'refs/heads/main' } } })).toMatchObject({
      code: 'rule_too_wide',
    });
  });

  test.each(FORBIDDEN_ADDRESSES.filter(([, address]) => /^[\d.]+$|:/.test(address) && !address.includes('%')))(
    'rejects an issuer that is %s (%s)',
    async (_, address) => {
      const issuer = `https://${address.includes(':') ? `[${address}]` : address}`;
      expect(await send('createFederationRule', { body: { ...GITHUB, issuer } })).toMatchObject({ status: 400, code: 'invalid_issuer' });
    },
  );

  test('rejects an actor without the rights of the service account', async () => {
    const as: Actor = { ...owner, permissions: new Set<Permission>(['service_accounts:read', 'service_accounts:write']) };
    expect((await send('createFederationRule', { as, body: GITHUB })).status).toBe(403);
    const { id: rule } = await create();
    expect((await send('updateFederationRule', { as, rule, body: { status: 'disabled' } })).status).toBe(200);
    expect((await send('updateFederationRule', { as, rule, body: { status: 'active' } })).status).toBe(403);
  });

  test('returns 404 to other organizations', async () => {
    const { id: rule } = await create();
    for (const { operationId } of federationRuleRoutes) {
      const body = { createFederationRule: GITHUB, updateFederationRule: { status: 'disabled' } }[operationId as string];
      expect([operationId, (await send(operationId, { as: otherOwner, rule, ...(body && { body }) })).status]).toEqual([operationId, 404]);
    }
    expect((await send('retrieveFederationRule', { rule, id: newTimedId('user', NOW_MS) })).status).toBe(404);
  });

  test('limits a service account to 20 rules, also at once', async () => {
    const created = await Promise.all(Array.from({ length: 4 }, () => send('createFederationRule', { body: GITHUB })));
    expect(created.every(({ status }) => status === 201 || status === 409)).toBe(true);
    const { data } = (await send('listFederationRules')).body;
    for (let i = data.length; i < 20; i++) expect(await create()).toHaveProperty('id');
    expect(await send('createFederationRule', { body: GITHUB })).toMatchObject({ status: 409, code: 'too_many_federation_rules' });
    await send('deleteFederationRule', { rule: data[0].id });
    expect(await create()).toHaveProperty('id');
  });

  test('limits an organization to 20 issuers, and frees one with its last rule', async () => {
    const at = (i: number): object => ({ issuer: `https://issuer${i}.example` });
    const rules: { id: string }[] = [];
    for (let i = 0; i < 19; i++) rules.push(await create(at(i)));
    account = await storeAccount();
    await create(at(0));
    await create(at(19));
    expect(await send('createFederationRule', { body: { ...GITHUB, ...at(20) } })).toMatchObject({ status: 409, code: 'too_many_issuers' });
    expect(await create(at(0))).toHaveProperty('id');
    await send('deleteFederationRule', {
      id: (rules[1] as unknown as { service_account: string }).service_account,
      rule: String(rules[1]?.id),
    });
    expect(await create(at(20))).toHaveProperty('id');
  });

  test('deletes the rules of a service account with it, and frees their issuers', async () => {
    for (let i = 0; i < 20; i++) await create({ issuer: `https://issuer${i}.example` });
    const deps = {
      ...stores,
      serviceAccounts: createServiceAccountStore(table),
      rules: createRuleStore(table),
      signInEvents: createSignInEvents(emulator.database, String(emulator.tables.Accounts), table),
      userPool: acceptingUserPool,
      now: () => NOW_MS,
    };
    await deleteServiceAccount(deps as never, owner, account, { revokes: false });
    expect(await createRuleStore(table).list(account)).toEqual([]);
    account = await storeAccount();
    expect(await create()).toHaveProperty('id');
  });

  test('lists the newest exchanges', async () => {
    const events = createSignInEvents(emulator.database, String(emulator.tables.Accounts), table);
    const event = {
      object: 'sign_in_event' as const,
      outcome: 'refused' as const,
      reason: 'expired',
      federation_rule: 'fed_1',
      api_key: null,
      is_verified: false,
      subject: null,
      differing_claims: [],
      ip_address: '203.0.113.9',
      request_id: 'req_1',
    };
    for (let i = 0; i < 25; i++) await events.add(account, { ...event, at: NOW_MS + i * 1_000 });
    await events.add(account, { ...event, is_verified: true, at: NOW_MS });
    const { data } = (await send('listServiceAccountEvents')).body;
    expect(data).toHaveLength(21);
    expect(data[0]).toEqual({ ...event, at: NOW_MS / 1_000 + 24 });
  });
});
