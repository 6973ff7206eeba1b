import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import type { IdentityProviderDependencies } from '../../../../functions/control/identity-providers/dependencies.ts';
import { identityProviderRoutes } from '../../../../functions/control/identity-providers/routes.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { newRow } from '../../../../functions/control/scim/find-user.ts';
import { createScimStore } from '../../../../functions/control/scim/scim-store.ts';
import { createScimTokenStore } from '../../../../functions/control/scim/token-store.ts';
import type { SignedInUser } from '../../../../functions/control/sessions/authenticate.ts';
import { resetTotp } from '../../../../functions/control/users/reset-totp.ts';
import { updateUser } from '../../../../functions/control/users/update-user.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { type IssuerFault, IssuerUnavailable } from '../../../../shared/federation/errors.ts';
import { ApiError } from '../../../../shared/http/errors.ts';
import { createNetworks } from '../../../../shared/network/networks.ts';
import { createIdentityLinks } from '../../../../shared/single-sign-on/identity-links.ts';
import { createIdentityProviderEvents } from '../../../../shared/single-sign-on/identity-provider-events.ts';
import { createSsoLogins } from '../../../../shared/single-sign-on/sso-logins.ts';
import { identityProviderEvent } from '../../../shared/single-sign-on/identity-provider-events.ts';
import { eventOf } from '../../../support/emulators/api-event.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { acceptingUserPool, ISSUER, storeUser } from '../../../support/fixtures/stored-users.ts';

const NOW_MS = Date.UTC(2026, 10, 1);
const OKTA = 'https://acme.okta.com';
const NEW = { name: 'Okta', issuer: OKTA, client_id: '0oa1', client_secret: 's3cret-of-acme', domains: ['acme.com'] };
const METADATA = {
  issuer: OKTA,
  jwks_uri: `${OKTA}/keys`,
  authorization_endpoint: `${OKTA}/authorize`,
  token_endpoint: `${OKTA}/token`,
};

let emulator: TestDatabase;
let stores: ReturnType<typeof accountStores>;
let organization: string;
let owner: Actor;
let otherOwner: Actor;
let admin: Actor;
let records: Record<string, string[] | undefined>;
let asked: string[];
let secrets: Map<string, string>;
let metadata: Partial<typeof METADATA> | IssuerFault;
let fails: 'put' | 'delete' | undefined;
let whenSecretIsDeleted: (() => Promise<void>) | undefined;

beforeAll(async () => {
  emulator = await startTestDatabase();
  stores = accountStores(emulator);
  admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: NOW_MS });
});
afterAll(() => emulator.close());
beforeEach(async () => {
  [records, asked, secrets, metadata, fails, whenSecretIsDeleted] = [{}, [], new Map(), METADATA, undefined, undefined];
  await transact(emulator.database, [stores.identityProviders.toReleaseDomain('acme.com')]);
  ({ id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' }));
  const { id: other } = await createOrganization(stores, admin.origin, { name: 'Other' });
  owner = await storeUser(stores, { role: 'owner', organization, nowMs: NOW_MS });
  otherOwner = await storeUser(stores, { role: 'owner', organization: other, nowMs: NOW_MS });
});

const accounts = () => createRecordTable(emulator.database, emulator.tables.Accounts as string);
const events = () => createIdentityProviderEvents(emulator.database, emulator.tables.Accounts as string, accounts());
const logins = () => createSsoLogins(emulator.database, emulator.tables.Attempts as string);

const clientSecrets: IdentityProviderDependencies['clientSecrets'] = {
  put: async (id, secret) => {
    if (fails === 'put') throw new Error('Secrets Manager is away.');
    const version = `version-${secrets.size}-${secret.length}`;
    secrets.set(id, secret);
    return version;
  },
  delete: async (id) => {
    await whenSecretIsDeleted?.();
    if (fails === 'delete') throw new Error('Secrets Manager is away.');
    secrets.delete(id);
  },
};

interface Sent {
  as?: Actor;
  id?: string;
  path?: Record<string, string>;
  body?: object;
  query?: Record<string, string>;
  headers?: Record<string, string>;
}

const send = async (operationId: string, { as = owner, id, path, body, query, headers = {} }: Sent = {}) => {
  const found = identityProviderRoutes.find((route) => route.operationId === operationId);
  if (!found) throw new Error(`There is no ${operationId}.`);
  const event = { ...eventOf(found.path, { method: found.method, headers }), requestContext: {} } as ReturnType<typeof eventOf>;
  const request = {
    ...event,
    pathParameters: id === undefined ? null : { id, ...path },
    queryStringParameters: query ?? null,
    body: body ? JSON.stringify(body) : null,
  };
  const deps = {
    ...stores,
    clientSecrets,
    identityProviderEvents: events(),
    identityLinks: createIdentityLinks(accounts()),
    scim: createScimStore(accounts()),
    ssoLogins: logins(),
    networks: createNetworks(''),
    discover: async () => {
      if (typeof metadata === 'string') throw new IssuerUnavailable(metadata);
      return metadata as typeof METADATA;
    },
    resolveTxt: async (name: string) => {
      asked.push(name);
      return name in records ? records[name] : [];
    },
    controlUrl: 'https://control.example.com/live',
    authenticate: async () => ({ actor: as, provedAt: as.origin.nowMs / 1_000 }) as SignedInUser,
  };
  try {
    const reply = await found.handle(deps, request as never);
    return { status: reply.statusCode, etag: reply.headers.etag, body: JSON.parse(reply.body), text: reply.body };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { status: error.status, code: error.code, param: error.param, body: { message: error.message } as never, text: error.message };
  }
};

const create = async (fields: object = {}, as: Actor = owner) => {
  const { status, body } = await send('createIdentityProvider', { as, body: { ...NEW, ...fields } });
  expect(status).toBe(201);
  return body;
};

const verify = async (
  provider: { id: string; domains: { domain: string; record: { name: string; value: string } }[] },
  as: Actor = owner,
) => {
  const [entry] = provider.domains;
  if (!entry) throw new Error('The connection has no domain.');
  records[entry.record.name] = ['v=spf1 -all', entry.record.value];
  return send('verifyDomain', { as, id: provider.id, path: { domain: entry.domain } });
};

const breakGlass = async (): Promise<Actor> => {
  const actor = await storeUser(stores, { role: 'owner', organization, nowMs: NOW_MS });
  const user = await stores.users.get(actor.userId);
  if (user) await stores.users.noteSecondFactor(user, true);
  return actor;
};

const enforce = async () => {
  const provider = await create();
  await verify(provider);
  const glass = await breakGlass();
  const reply = await send('updateIdentityProvider', { id: provider.id, body: { enforced: true, break_glass: glass.userId } });
  return { provider, glass, reply };
};

const auditText = async () => JSON.stringify((await stores.audit.list(organization, { limit: 100 })).data);

describe('createIdentityProvider', () => {
  test('stores the client secret apart, and returns everything but it', async () => {
    const { text, body } = await send('createIdentityProvider', { body: NEW });
    expect(body).toMatchObject({
      object: 'identity_provider',
      organization,
      has_client_secret: true,
      redirect_uri: 'https://control.example.com/live/v1/auth/sso/callback',
      scopes: ['openid', 'email', 'profile'],
      domains: [{ domain: 'acme.com', status: 'pending', record: { type: 'TXT', name: '_sluice.acme.com' } }],
      enforced: false,
      status: 'active',
    });
    expect(secrets.get(body.id)).toBe(NEW.client_secret);
    expect(text).not.toContain(NEW.client_secret);
    expect(JSON.stringify(await stores.identityProviders.list(organization))).not.toContain(NEW.client_secret);
    expect(await auditText()).not.toContain(NEW.client_secret);
  });

  test('makes a public client without a secret', async () => {
    expect(await create({ client_secret: undefined })).toMatchObject({ has_client_secret: false });
    expect(secrets.size).toBe(0);
  });

  test('leaves a connection that shows its missing secret if Secrets Manager fails', async () => {
    fails = 'put';
    await expect(send('createIdentityProvider', { body: NEW })).rejects.toThrow('Secrets Manager is away.');
    const { body } = await send('listIdentityProviders');
    expect(body.data).toMatchObject([{ has_client_secret: false }]);
    fails = undefined;
    const changed = await send('updateIdentityProvider', { id: body.data[0].id, body: { client_secret: 'again' } });
    expect(changed.body).toMatchObject({ has_client_secret: true });
  });

  test.each([
    ['bad_status', 'did not answer with status 200'],
    ['not_json', 'is not JSON'],
    ['issuer_differs', 'names another issuer'],
    ['forbidden_address', 'could not be fetched'],
  ] as const)('names the fault %s of the discovery document', async (fault, text) => {
    metadata = fault as IssuerFault;
    const reply = await send('createIdentityProvider', { body: NEW });
    expect(reply).toMatchObject({ status: 400, code: 'issuer_unusable', param: 'issuer', text: expect.stringContaining(text) });
    expect((await send('listIdentityProviders')).body.data).toEqual([]);
  });

  test.each([
    ['http://acme.okta.com'],
    ['https://127.0.0.1'],
    ['https://169.254.169.254/latest'],
    ['https://[::1]/'],
    ['https://acme.okta.com?tenant=1'],
    ['https://user:password@acme.okta.com'],
  ])('rejects the issuer %s', async (issuer) => {
    expect(await send('createIdentityProvider', { body: { ...NEW, issuer } })).toMatchObject({ status: 400, code: 'issuer_unusable' });
  });

  test.each([['authorization_endpoint'], ['token_endpoint'], ['jwks_uri']] as const)('rejects a document with a bad %s', async (name) => {
    metadata = { ...METADATA, [name]: 'http://10.0.0.1/' };
    expect(await send('createIdentityProvider', { body: NEW })).toMatchObject({ status: 400, text: expect.stringContaining(name) });
    metadata = { ...METADATA, [name]: undefined };
    expect(await send('createIdentityProvider', { body: NEW })).toMatchObject({ status: 400, text: expect.stringContaining(name) });
  });

  test.each([
    [{ domains: ['com'] }],
    [{ domains: ['acme..com'] }],
    [{ domains: ['192.0.2.1'] }],
    [{ domains: ['acme.com/path'] }],
    [{ domains: ['acme.com', 'ACME.com'] }],
    [{ scopes: ['email'] }],
    [{ role_mapping: [{ value: 'g', role: 'admin' }] }],
    [{ default_role: 'support' }],
    [{ session_hours: 13 }],
    [{ enforced: true }],
  ])('rejects %j', async (fields) => {
    expect(await send('createIdentityProvider', { body: { ...NEW, ...fields } })).toMatchObject({ status: 400 });
  });

  test('writes domains in the form in which they are compared', async () => {
    const { domains } = await create({ domains: ['Sub.Acme.COM', 'bücher.example'] });
    expect(domains.map(({ domain }: { domain: string }) => domain)).toEqual(['sub.acme.com', 'xn--bcher-kva.example']);
  });

  test('lets an admin connect one for an organization', async () => {
    expect(await create({ organization }, admin)).toMatchObject({ organization });
    expect(await send('createIdentityProvider', { as: admin, body: NEW })).toMatchObject({ status: 400, param: 'organization' });
  });
});

test('connects no identity provider to an organization that does not exist, and stores no secret for it', async () => {
  const unknown = newId('organization');
  const sent = await send('createIdentityProvider', { as: admin, body: { ...NEW, organization: unknown } });
  expect(sent).toMatchObject({ status: 404, text: expect.stringContaining(unknown) });
  expect(secrets.size).toBe(0);
  expect(await stores.identityProviders.list(unknown)).toEqual([]);
});

describe('verifyDomain', () => {
  test('asks for the exact name, and leads addresses of the domain to the connection', async () => {
    const provider = await create();
    expect(await stores.identityProviders.ofDomain('acme.com')).toBeUndefined();
    const { status, body } = await verify(provider);
    expect([status, body.domains[0]]).toMatchObject([200, { status: 'verified', verified_at: NOW_MS / 1_000 }]);
    expect(asked).toEqual(['_sluice.acme.com']);
    expect(await stores.identityProviders.ofDomain('acme.com')).toMatchObject({ id: provider.id });
    expect(await stores.identityProviders.ofDomain('evil-acme.com')).toBeUndefined();
    expect(await stores.identityProviders.ofDomain('sub.acme.com')).toBeUndefined();
  });

  test.each([
    ['no record', []],
    ['another text', ['sluice-domain-verification=other']],
    ['the text as a part of another one', ['PREFIX']],
    ['no DNS server that replies', undefined],
  ])('does not accept %s', async (_, texts) => {
    const provider = await create();
    const [{ record }] = provider.domains;
    records[record.name] = texts?.map((text) => (text === 'PREFIX' ? `x${record.value}` : text));
    const reply = await send('verifyDomain', { id: provider.id, path: { domain: 'acme.com' } });
    expect(reply).toMatchObject({ status: 409, code: 'domain_not_verified' });
    expect(await stores.identityProviders.ofDomain('acme.com')).toBeUndefined();
  });

  test('gives a domain to the first of two organizations that prove it', async () => {
    const [first, second] = [await create({ domains: ['both.com'] }), await create({ domains: ['both.com'] }, otherOwner)];
    expect(first.domains[0].record.value).not.toBe(second.domains[0].record.value);
    await verify(first);
    expect(await verify(second, otherOwner)).toMatchObject({ status: 409, code: 'domain_taken' });
    await send('updateIdentityProvider', { id: first.id, body: { domains: [] } });
    expect((await verify(second, otherOwner)).status).toBe(200);
  });

  test('does not look up a domain that the connection does not have', async () => {
    const { id } = await create();
    expect(await send('verifyDomain', { id, path: { domain: 'other.com' } })).toMatchObject({ status: 404, code: 'domain_not_found' });
    expect(asked).toEqual([]);
  });
});

describe('updateIdentityProvider', () => {
  test('keeps a verified domain and its record, and releases one that is left out', async () => {
    const provider = await create({ domains: ['keep.com', 'drop.com'] });
    for (const { domain, record } of provider.domains) {
      records[record.name] = [record.value];
      await send('verifyDomain', { id: provider.id, path: { domain } });
    }
    const { body } = await send('updateIdentityProvider', { id: provider.id, body: { domains: ['new.com', 'keep.com'] } });
    expect(body.domains).toMatchObject([
      { domain: 'new.com', status: 'pending' },
      { domain: 'keep.com', status: 'verified', record: provider.domains[0].record },
    ]);
    expect(await stores.identityProviders.ofDomain('drop.com')).toBeUndefined();
  });

  test('rejects another issuer, and a stale version', async () => {
    const { id } = await create();
    expect(await send('updateIdentityProvider', { id, body: { issuer: 'https://other.example.com' } })).toMatchObject({ status: 400 });
    expect(await send('updateIdentityProvider', { id, body: { name: 'New' }, headers: { 'if-match': '"1"' } })).toMatchObject({
      status: 412,
    });
  });

  test('keeps the earlier secret in effect if the new one could not be stored', async () => {
    const { id } = await create();
    const before = await stores.identityProviders.find(organization, id);
    fails = 'put';
    await expect(send('updateIdentityProvider', { id, body: { client_secret: 'new' } })).rejects.toThrow('away');
    expect(await stores.identityProviders.find(organization, id)).toEqual(before);
  });

  test('enforces a connection with a verified domain and a break-glass owner', async () => {
    const { reply, glass } = await enforce();
    expect(reply).toMatchObject({ status: 200, body: { enforced: true, break_glass: glass.userId } });
    expect(await stores.identityProviders.passwordRule(organization)).toEqual({ isClosed: true, breakGlass: [glass.userId] });
    expect(await auditText()).toContain('"enforced":{"from":false,"to":true}');
  });

  test('enforces a connection whose break-glass owner is the one who does it', async () => {
    const glass = await breakGlass();
    const provider = await create();
    await verify(provider);
    const body = { enforced: true, break_glass: glass.userId };
    expect(await send('updateIdentityProvider', { as: glass, id: provider.id, body })).toMatchObject({ status: 200, body });
  });

  test('does not enforce a connection without a verified domain', async () => {
    const { id } = await create();
    const body = { enforced: true, break_glass: (await breakGlass()).userId };
    expect(await send('updateIdentityProvider', { id, body })).toMatchObject({ status: 409, code: 'not_enforceable', param: 'domains' });
  });

  test('takes no break-glass user but an owner with a second factor', async () => {
    const provider = await create();
    await verify(provider);
    const member = await storeUser(stores, { role: 'member', organization, nowMs: NOW_MS });
    for (const id of [null, owner.userId, member.userId, otherOwner.userId, 'user_unknown'])
      expect(await send('updateIdentityProvider', { id: provider.id, body: { enforced: true, break_glass: id } })).toMatchObject({
        status: 409,
        code: 'not_enforceable',
        param: 'break_glass',
      });
  });

  test('keeps the last verified domain of an enforced connection', async () => {
    const { provider } = await enforce();
    expect(await send('updateIdentityProvider', { id: provider.id, body: { domains: [] } })).toMatchObject({ code: 'not_enforceable' });
    expect(await send('updateIdentityProvider', { id: provider.id, body: { domains: [], enforced: false } })).toMatchObject({
      status: 200,
    });
  });

  test('opens passwords again when the connection is disabled', async () => {
    const { provider } = await enforce();
    await send('updateIdentityProvider', { id: provider.id, body: { status: 'disabled' } });
    expect(await stores.identityProviders.passwordRule(organization)).toMatchObject({ isClosed: false });
  });
});

describe('updateUser', () => {
  const userDeps = () => ({ ...stores, userPool: acceptingUserPool, issuer: ISSUER });

  test('keeps the break-glass owner of an enforced connection', async () => {
    const { glass, provider } = await enforce();
    for (const fields of [{ role: 'member' }, { status: 'disabled' }] as const)
      await expect(updateUser(userDeps(), owner, glass.userId, fields)).rejects.toMatchObject({ code: 'break_glass_owner' });
    await send('updateIdentityProvider', { id: provider.id, body: { enforced: false } });
    await updateUser(userDeps(), owner, glass.userId, { role: 'member' });
  });

  test('fails if the owner became break-glass after they were read', async () => {
    const provider = await create();
    await verify(provider);
    const glass = await breakGlass();
    const read = await stores.users.get(glass.userId);
    if (!read) throw new Error('The owner is gone.');
    await send('updateIdentityProvider', { id: provider.id, body: { enforced: true, break_glass: glass.userId } });
    const demotion = transact(emulator.database, [stores.users.toReplace({ ...read, role: 'member' }, read)]);
    await expect(demotion).rejects.toMatchObject({ status: 412 });
  });
});

describe('resetTotp', () => {
  const reset = (actor: Actor, id: string, whileStopping = async (): Promise<unknown> => undefined) => {
    const stopped: string[] = [];
    const userPool = { ...acceptingUserPool, stopTotp: async (subject: string) => void stopped.push(subject) };
    const identityProviders = {
      passwordRule: async (of: string) => {
        await whileStopping();
        return stores.identityProviders.passwordRule(of);
      },
    };
    const deps = { ...stores, userPool, identityProviders, issuer: ISSUER, now: () => NOW_MS, wait: async () => undefined };
    return resetTotp(deps, actor, id).then(
      () => ({ stopped: stopped.length, code: null }),
      ({ code }: { code: string }) => ({ stopped: stopped.length, code }),
    );
  };
  const factorOf = async ({ userId }: Actor) => (await stores.users.get(userId))?.second_factor;

  test('keeps the second factor of the break-glass owner, whoever switches it off, until another is named', async () => {
    const { glass, provider } = await enforce();
    for (const actor of [owner, admin]) expect(await reset(actor, glass.userId)).toEqual({ stopped: 0, code: 'break_glass_owner' });
    expect(await factorOf(glass)).toBe('on');
    const body = { break_glass: (await breakGlass()).userId };
    expect(await send('updateIdentityProvider', { id: provider.id, body })).toMatchObject({ status: 200 });
    expect(await reset(owner, glass.userId)).toEqual({ stopped: 1, code: null });
  });

  test('leaves an owner who can’t be named as break-glass before they have a second factor again', async () => {
    const provider = await create();
    await verify(provider);
    const glass = await breakGlass();
    expect(await reset(owner, glass.userId)).toEqual({ stopped: 1, code: null });
    const body = { enforced: true, break_glass: glass.userId };
    expect(await send('updateIdentityProvider', { id: provider.id, body })).toMatchObject({
      code: 'not_enforceable',
      param: 'break_glass',
    });
  });

  test('either fails or keeps the connection from being enforced, if both come at once', async () => {
    const provider = await create();
    await verify(provider);
    for (const readsBefore of [1, 2]) {
      const glass = await breakGlass();
      const body = { enforced: true, break_glass: glass.userId };
      let reads = 0;
      let enforced = 0;
      const { stopped, code } = await reset(owner, glass.userId, async () => {
        if (++reads === readsBefore) enforced = Number((await send('updateIdentityProvider', { id: provider.id, body })).status);
      });
      expect([enforced, stopped, code, await factorOf(glass)]).toEqual(
        readsBefore === 1 ? [200, 0, 'break_glass_owner', 'on'] : [409, 1, null, 'off'],
      );
      await send('updateIdentityProvider', { id: provider.id, body: { enforced: false, break_glass: null } });
    }
    const read = await stores.users.get((await breakGlass()).userId);
    if (!read) throw new Error('The owner is gone.');
    await reset(owner, read.id);
    await expect(transact(emulator.database, [stores.users.toReplace(read, read)])).rejects.toMatchObject({ status: 412 });
  });

  test('leaves the second factor noted if the user pool fails', async () => {
    const glass = await breakGlass();
    const userPool = { ...acceptingUserPool, stopTotp: () => Promise.reject(new Error('away')) };
    const deps = { ...stores, userPool, issuer: ISSUER, now: () => NOW_MS, wait: async () => undefined };
    await expect(resetTotp(deps, owner, glass.userId)).rejects.toThrow('away');
    expect(await factorOf(glass)).toBe('on');
  });
});

describe('deleteIdentityProvider', () => {
  test('removes the events, also of a login that ended meanwhile', async () => {
    const { id } = await create();
    for (const is_verified of [true, false]) await events().add(id, identityProviderEvent({ is_verified }));
    whenSecretIsDeleted = () => events().add(id, identityProviderEvent());
    expect(await send('deleteIdentityProvider', { id })).toMatchObject({ status: 200 });
    const { rows } = await accounts().page({ account: id, prefix: '' }, { limit: 10 });
    expect(rows).toEqual([]);
  });

  test('removes the names, groups and tokens of SCIM, also of a request that ended meanwhile', async () => {
    const { id } = await create();
    const [scim, scimTokens] = [createScimStore(accounts()), createScimTokenStore(accounts())];
    const userOf = (user: string) => scim.toCreateUser(id, { ...newRow(user), names: { ...newRow(user).names, given: 'Grace' } });
    const times = { created_at: 1, updated_at: 1, version: 1 };
    const group = { id: 'group_1', external_id: null, display_name: 'Engineers', ...times };
    const presented = { identityProvider: id, id: 'token_1', hash: createHash('sha256').update('secret').digest() };
    const token = {
      id: presented.id,
      object: 'scim_token' as const,
      identity_provider: id,
      hint: 'scim_…1',
      created_at: 1,
      last_used_at: null,
      last_ip_address: null,
    };
    const ofToken = scimTokens.toCreate(token, organization, presented.hash);
    await transact(emulator.database, [userOf('user_1'), ...scim.toCreateGroup(id, group), ...ofToken]);
    expect(await scimTokens.find(presented)).toBeDefined();
    whenSecretIsDeleted = () => transact(emulator.database, [userOf('user_2')]);
    expect(await send('deleteIdentityProvider', { id })).toMatchObject({ status: 200 });
    const { rows } = await accounts().page({ account: id, prefix: '' }, { limit: 10 });
    expect(rows).toEqual([]);
  });

  test('removes the secret, the domains and every identity, and opens passwords', async () => {
    const { provider } = await enforce();
    const links = createIdentityLinks(accounts());
    for (let i = 0; i < 90; i++) await transact(emulator.database, links.toLink(`user_${i}`, provider.id, `subject-${i}`));
    expect(await send('deleteIdentityProvider', { id: provider.id })).toMatchObject({ status: 200, body: { deleted: true } });
    expect(secrets.size).toBe(0);
    expect(await stores.identityProviders.ofDomain('acme.com')).toBeUndefined();
    expect(await links.userOf(provider.id, 'subject-89')).toBeUndefined();
    expect(await links.isLinked('user_3', provider.id)).toBe(false);
    expect(await stores.identityProviders.passwordRule(organization)).toEqual({ isClosed: false, breakGlass: [] });
    expect((await send('listIdentityProviders')).body.data).toEqual([]);
  });

  test('loses nothing if another change came first, and is completed by repeating it if one comes meanwhile', async () => {
    const { id, version } = await create();
    const stale = { 'if-match': `"${version - 1}"` };
    expect(await send('deleteIdentityProvider', { id, headers: stale })).toMatchObject({ status: 412 });
    expect(secrets.size).toBe(1);
    const changes: unknown[] = [];
    whenSecretIsDeleted = async () => {
      const change = { id, body: { name: 'Renamed' } };
      changes.push((await send('updateIdentityProvider', { ...change, headers: { 'if-match': `"${version}"` } })).status);
      changes.push((await send('updateIdentityProvider', change)).status);
    };
    expect(await send('deleteIdentityProvider', { id })).toMatchObject({ status: 412 });
    expect(changes).toEqual([412, 200]);
    expect((await send('retrieveIdentityProvider', { id })).body).toMatchObject({ name: 'Renamed', status: 'disabled' });
    whenSecretIsDeleted = undefined;
    expect(await send('deleteIdentityProvider', { id })).toMatchObject({ status: 200 });
  });

  test('can be repeated after Secrets Manager failed', async () => {
    const { id } = await create();
    fails = 'delete';
    await events().add(id, identityProviderEvent());
    await expect(send('deleteIdentityProvider', { id })).rejects.toThrow('away');
    // Without the connection, nothing would lead to them.
    expect(await events().list(id)).toEqual([]);
    fails = undefined;
    expect(await send('deleteIdentityProvider', { id })).toMatchObject({ status: 200 });
  });
});

describe('listIdentityProviderEvents', () => {
  test('lists the newest first, to everyone who may see the connection', async () => {
    const { id } = await create();
    await events().add(id, identityProviderEvent({ at: 2_500, user: 'user_later' }));
    await events().add(id, identityProviderEvent({ at: 1_500, is_verified: false, outcome: 'refused', reason: 'code_refused' }));
    const viewer = await storeUser(stores, { role: 'viewer', organization, nowMs: NOW_MS });
    const member = await storeUser(stores, { role: 'member', organization, nowMs: NOW_MS });
    expect((await send('listIdentityProviderEvents', { id, as: viewer })).body).toMatchObject({
      object: 'list',
      data: [
        { object: 'identity_provider_event', at: 2, user: 'user_later', outcome: 'signed_in' },
        { at: 1, outcome: 'refused', reason: 'code_refused' },
      ],
      has_more: false,
      next: null,
    });
    expect(await send('listIdentityProviderEvents', { id, as: member })).toMatchObject({ status: 403 });
    expect(await send('listIdentityProviderEvents', { id, as: admin, query: { organization } })).toMatchObject({ status: 200 });
  });
});

describe('testIdentityProvider', () => {
  test('begins a dry login, and shows its result to the connection’s owner only', async () => {
    const { id } = await create();
    const { body } = await send('testIdentityProvider', { id });
    const url = new URL(body.authorize_url);
    expect(url.origin + url.pathname).toBe('https://control.example.com/live/v1/auth/sso/authorize');
    expect(await logins().find(url.searchParams.get('login') ?? '', NOW_MS)).toEqual({
      kind: 'test',
      organization,
      provider: id,
      test: body.id,
    });
    expect(await send('retrieveIdentityProviderTest', { id, path: { test: body.id } })).toMatchObject({
      status: 404,
      code: 'test_not_found',
    });
    const result = {
      outcome: 'provisions',
      reason: null,
      subject: 's',
      email: 'a@acme.com',
      role: 'owner',
      claims: { groups: ['x'] },
    } as const;
    await logins().saveTest(body.id, { ...result, provider: id, finished_at: 1 }, NOW_MS);
    expect((await send('retrieveIdentityProviderTest', { id, path: { test: body.id } })).body).toMatchObject(result);
    const other = await create({}, otherOwner);
    expect(await send('retrieveIdentityProviderTest', { as: otherOwner, id: other.id, path: { test: body.id } })).toMatchObject({
      status: 404,
    });
  });
});

describe('identityProviderRoutes', () => {
  test('hide the connections of other organizations', async () => {
    const { id } = await create();
    for (const [operation, sent] of [
      ['retrieveIdentityProvider', {}],
      ['updateIdentityProvider', { body: { name: 'Mine' } }],
      ['deleteIdentityProvider', {}],
      ['testIdentityProvider', {}],
      ['listIdentityProviderEvents', {}],
      ['verifyDomain', { path: { domain: 'acme.com' } }],
    ] as const)
      expect(await send(operation, { as: otherOwner, id, ...sent })).toMatchObject({ status: 404, code: 'identity_provider_not_found' });
    expect((await send('listIdentityProviders', { as: otherOwner })).body.data).toEqual([]);
  });

  test.each([
    ['member', 403],
    ['viewer', 200],
    ['billing', 403],
  ] as const)('list them for a %s: %i', async (role, status) => {
    const actor = await storeUser(stores, { role, organization, nowMs: NOW_MS });
    expect(await send('listIdentityProviders', { as: actor })).toMatchObject({ status });
    expect(await send('createIdentityProvider', { as: actor, body: NEW })).toMatchObject({ status: 403 });
  });
});
