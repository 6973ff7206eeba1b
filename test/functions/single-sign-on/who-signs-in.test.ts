import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { transact } from '../../../shared/database/transaction.ts';
import type { IdentityProvider } from '../../../shared/single-sign-on/identity-provider.ts';
import { BROWSER_ADDRESS, type MockProvider, type SingleSignOn, startMockProvider, startSingleSignOn, unique } from './sign-on-fixtures.ts';

let sso: SingleSignOn;
let mock: MockProvider;
beforeAll(async () => {
  [sso, mock] = await Promise.all([startSingleSignOn(), startMockProvider()]);
});
afterAll(async () => {
  await Promise.all([sso.close(), mock.close()]);
});
beforeEach(() => {
  sso.entries.length = 0;
  sso.pool.calls.length = 0;
});

const setClaims = (claims: Record<string, unknown>): void => {
  mock.state.claims = { sub: unique('sub'), email_verified: true, ...claims };
};
const loginAt = (domain: string) => sso.browser().login(`x@${domain}`);
const stored = async (email: string) => sso.users.get((await sso.users.idOfEmail(email)) ?? '');
const connect = (fields: Partial<IdentityProvider> = {}) => sso.addConnection(mock.issuer, fields);

const MAPPING: Partial<IdentityProvider> = {
  role_claim: 'groups',
  role_mapping: [
    { value: 'admins', role: 'owner' },
    { value: 'finance', role: 'billing' },
  ],
  default_role: null,
};

describe('the first login of a user who exists', () => {
  test('goes by a verified address, and gives an invited user a password that nobody knows', async () => {
    const { domain, organization } = await connect({ default_role: null });
    const user = await sso.addUser({ email: `ada@${domain}`, organization, role: 'billing', last_login_at: null });
    setClaims({ email: `Ada@${domain}` });
    expect((await loginAt(domain)).statusCode).toBe(303);
    expect(sso.entries).toEqual(['user.linked']);
    expect(sso.pool.calls).toEqual([`createSilentUser ${user.email}`]);
    expect((await stored(user.email))?.role).toBe('billing');
  });

  test.each([
    ['not verified', { email_verified: false }, 'has not verified'],
    ['without email_verified', { email_verified: undefined }, 'has not verified'],
    ['absent', { email: undefined }, 'did not send'],
    ['no address', { email: 'ada' }, 'did not send'],
  ])('is refused if the address is %s', async (_, claims, text) => {
    const { domain, organization } = await connect();
    await sso.addUser({ email: `ada@${domain}`, organization });
    setClaims({ email: `ada@${domain}`, ...claims });
    expect((await loginAt(domain)).body).toContain(text);
  });

  test('needs no email_verified if the connection says that its addresses are managed', async () => {
    const { domain, organization } = await connect({ addresses_are_managed: true });
    const user = await sso.addUser({ email: `ada@${domain}`, organization });
    setClaims({ email: undefined, email_verified: undefined, preferred_username: user.email });
    expect((await loginAt(domain)).statusCode).toBe(303);
    setClaims({ email: `bob@${domain}`, email_verified: false });
    expect((await loginAt(domain)).body).toContain('has not verified');
  });

  test('never leads to a user of another organization, of the platform, or with another identity', async () => {
    const { domain, organization } = await connect();
    await sso.addUser({ email: `other@${domain}`, organization: unique('org_') });
    await sso.addUser({ email: `admin@${domain}`, organization: null, role: 'admin' });
    await sso.addUser({ email: `linked@${domain}`, organization });
    setClaims({ email: `linked@${domain}` });
    await loginAt(domain);
    for (const name of ['other', 'admin', 'linked']) {
      setClaims({ email: `${name}@${domain}` });
      expect((await loginAt(domain)).body).toContain('cannot sign in with this identity provider');
    }
    expect(sso.entries.filter((entry) => !entry.startsWith('session.refused'))).toEqual(['user.linked']);
  });

  test('happens once if two logins of a person are the first at the same time', async () => {
    const { domain, provider } = await connect();
    await sso.knowNetwork(provider);
    setClaims({ email: `ada@${domain}` });
    const browsers = [sso.browser(), sso.browser()];
    const back = await Promise.all(browsers.map(async (browser) => browser.signInAt(await browser.begin(`ada@${domain}`))));
    const replies = await Promise.all(browsers.map((browser, i) => browser.load(back[i] ?? '')));
    // The address is claimed by one of them, and the other can be refused meanwhile; nobody exists twice.
    expect(replies.map(({ statusCode }) => statusCode)).toContain(303);
    expect(sso.entries.filter((entry) => entry === 'user.provisioned')).toHaveLength(1);
    expect((await loginAt(domain)).statusCode).toBe(303);
  });

  test('creates a new user if the one of the identity was deleted', async () => {
    const { domain } = await connect();
    setClaims({ email: `ada@${domain}` });
    await loginAt(domain);
    const user = await stored(`ada@${domain}`);
    if (!user) throw new Error('The user is missing.');
    await transact(sso.database, sso.users.toDeleteWithEmail(user));
    expect((await loginAt(domain)).statusCode).toBe(303);
    // A password from before no longer works, although the user pool still had the user.
    expect(sso.pool.calls.slice(-3)).toEqual([
      `createSilentUser ${user.email}`,
      `renewUser ${user.email}`,
      `createSilentUser ${user.email}`,
    ]);
  });

  test('creates nobody in a suspended organization', async () => {
    const { domain, organization } = await connect();
    const row = { account: organization, record: 'organization' };
    await transact(sso.database, [sso.deps.accounts.toPut(row, { id: organization, status: 'suspended' })]);
    setClaims({ email: `ada@${domain}` });
    expect((await loginAt(domain)).body).toContain('get another user now');
    expect(await sso.users.idOfEmail(`ada@${domain}`)).toBeUndefined();
  });
});

describe('the role of a login', () => {
  test('follows the claims at each login', async () => {
    const { domain, organization } = await connect(MAPPING);
    await sso.addUser({ email: `owner@${domain}`, organization, role: 'owner' });
    const email = `ada@${domain}`;
    setClaims({ email, groups: ['staff', 'finance'] });
    await loginAt(domain);
    expect((await stored(email))?.role).toBe('billing');
    mock.state.claims.groups = ['finance', 'admins'];
    await loginAt(domain);
    expect((await stored(email))?.role).toBe('owner');
    mock.state.claims.groups = 'finance';
    await loginAt(domain);
    expect((await stored(email))?.role).toBe('billing');
    expect(sso.entries).toEqual(['user.provisioned', 'user.updated', 'user.updated']);
    mock.state.claims.groups = [];
    expect((await loginAt(domain)).body).toContain('has not given you access');
  });

  test('is the default for those whom the mapping does not name', async () => {
    const { domain } = await connect({ ...MAPPING, default_role: 'viewer' });
    setClaims({ email: `ada@${domain}`, groups: ['staff'] });
    await loginAt(domain);
    expect((await stored(`ada@${domain}`))?.role).toBe('viewer');
  });

  test.each<[string, Partial<IdentityProvider>]>([
    ['has no mapping', { role_mapping: [], default_role: 'member' }],
    ['maps only the groups of SCIM', { ...MAPPING, role_claim: null, default_role: 'member' }],
    ['maps only the groups of SCIM, and has no default', { ...MAPPING, role_claim: null }],
  ])('is kept by a user who exists if the connection %s', async (_title, fields) => {
    const { domain, organization } = await connect(fields);
    const { email } = await sso.addUser({ email: `ada@${domain}`, organization, role: 'owner' });
    await sso.addUser({ email: `bob@${domain}`, organization, role: 'owner' });
    setClaims({ email, groups: ['finance'] });
    await loginAt(domain);
    expect((await stored(email))?.role).toBe('owner');
  });

  test('is the default for a new user of a connection that maps only the groups of SCIM', async () => {
    const { domain } = await connect({ ...MAPPING, role_claim: null, default_role: 'viewer' });
    setClaims({ email: `ada@${domain}`, groups: ['admins'] });
    await loginAt(domain);
    expect((await stored(`ada@${domain}`))?.role).toBe('viewer');
  });

  test('never takes the role of the last owner, or of the break-glass owner', async () => {
    const { domain, organization, provider } = await connect(MAPPING);
    const owner = await sso.addUser({ email: `owner@${domain}`, organization, role: 'owner' });
    setClaims({ email: owner.email, groups: ['finance'] });
    expect((await loginAt(domain)).statusCode).toBe(303);
    expect((await stored(owner.email))?.role).toBe('owner');
    await sso.addUser({ email: `second@${domain}`, organization, role: 'owner' });
    await transact(sso.database, [sso.providers.toReplace({ ...provider, break_glass: owner.id })]);
    await loginAt(domain);
    expect((await stored(owner.email))?.role).toBe('owner');
    await transact(sso.database, [sso.providers.toReplace({ ...provider, break_glass: null, version: 2 })]);
    await loginAt(domain);
    expect((await stored(owner.email))?.role).toBe('billing');
  });

  test('is refused if the provider left the groups out of the token', async () => {
    const { domain } = await connect({ ...MAPPING, default_role: 'member' });
    setClaims({ email: `ada@${domain}`, _claim_names: { groups: 'src1' } });
    expect((await loginAt(domain)).body).toContain('too many groups');
  });

  test('needs an acr that the connection requires', async () => {
    const { domain } = await connect({ required_acr: ['phr'] });
    setClaims({ email: `ada@${domain}`, acr: 'pwd' });
    expect((await loginAt(domain)).body).toContain('requires a stronger sign-in');
    mock.state.claims.acr = 'phr';
    expect((await loginAt(domain)).statusCode).toBe(303);
  });

  test.each([['an object'], [{ toString: 1, valueOf: 1 }], [1e-200]])('takes an acr and methods of any type: %j', async (odd) => {
    const { domain, provider } = await connect({ required_acr: ['phr'] });
    setClaims({ email: `ada@${domain}`, acr: odd, amr: [odd] });
    expect((await loginAt(domain)).body).toContain('requires a stronger sign-in');
    await transact(sso.database, [sso.providers.toReplace({ ...provider, required_acr: [] })]);
    expect((await loginAt(domain)).statusCode).toBe(303);
    expect(await sso.events.list(provider.id)).toHaveLength(2);
  });
});

describe('a test of a connection', () => {
  const dryLogin = async ({ provider, organization }: Awaited<ReturnType<typeof connect>>) => {
    const test = unique('test');
    const { login } = await sso.deps.logins.begin({ kind: 'test', organization, provider: provider.id, test }, Date.now());
    const browser = sso.browser();
    const url = `https://control.example.com/live/v1/auth/sso/authorize?login=${login}`;
    const page = await browser.load(await browser.signInAt(url));
    return { page, result: await sso.deps.logins.testResult(test, Date.now()) };
  };

  test('shows the claims and the role, and changes nothing', async () => {
    const connection = await connect({ ...MAPPING, status: 'disabled' });
    setClaims({ email: `ada@${connection.domain}`, groups: ['finance'] });
    const { page, result } = await dryLogin(connection);
    expect(page).toMatchObject({ statusCode: 200, body: expect.stringContaining('nobody was signed in') });
    expect(result).toMatchObject({ outcome: 'provisions', reason: null, role: 'billing', claims: { groups: ['finance'] } });
    expect(result?.claims).not.toHaveProperty('nonce');
    expect(sso.entries).toEqual([]);
    expect(await sso.users.idOfEmail(`ada@${connection.domain}`)).toBeUndefined();
  });

  test('says that the last owner stays an owner, as in a login', async () => {
    const connection = await connect(MAPPING);
    const { domain, organization } = connection;
    const { email } = await sso.addUser({ email: `owner@${domain}`, organization, role: 'owner' });
    setClaims({ email, groups: ['finance'] });
    expect((await dryLogin(connection)).result).toMatchObject({ outcome: 'links', role: 'owner' });
    await sso.addUser({ email: `second@${domain}`, organization, role: 'owner' });
    expect((await dryLogin(connection)).result).toMatchObject({ outcome: 'links', role: 'billing' });
  });

  test('shows claims that no database stores as they are', async () => {
    const connection = await connect();
    const numbers = { tiny: 1e-200, huge: 1e200, small: 0.5 };
    const texts = { half: '\ud83d', long: `${'l'.repeat(255)}🚀`, [`${'m'.repeat(255)}🚀`]: 'b' };
    setClaims({ email: `ada@${connection.domain}`, '': 'no name', ...numbers, deep: { toJSON: 1 }, ...texts });
    const { result } = await dryLogin(connection);
    expect(result?.claims).toMatchObject({ tiny: '1e-200', huge: '1e+200', small: 0.5, deep: '{"toJSON":1}' });
    expect(result?.claims).toMatchObject({ half: '\ufffd', long: `${'l'.repeat(255)}\ufffd`, [`${'m'.repeat(255)}\ufffd`]: 'b' });
  });

  test('says why a login would be refused, with the claims if there are any', async () => {
    const connection = await connect(MAPPING);
    setClaims({ email: `ada@${connection.domain}`, groups: ['staff'] });
    expect((await dryLogin(connection)).result).toMatchObject({ outcome: 'refused', reason: 'no_role', claims: { groups: ['staff'] } });
    mock.state.claims.aud = 'another';
    expect((await dryLogin(connection)).result).toMatchObject({
      outcome: 'refused',
      reason: 'token_rejected: audience_mismatch',
      claims: {},
    });
  });
});

describe('an identity provider', () => {
  type Connection = Pick<IdentityProvider, 'id' | 'organization'>;

  // Calls the identity providers of connections at the same time: one call of each of the addresses.
  const refusedOf = async (
    providers: Connection | readonly Connection[],
    ipAddresses: readonly string[],
    between = async () => undefined as unknown,
  ) => {
    const all = [providers].flat();
    const release = Promise.withResolvers<void>();
    const began = ipAddresses.map(() => Promise.withResolvers<void>());
    const runs = ipAddresses.map((ipAddress, i) => {
      const { id: provider, organization } = all[i % all.length] as Connection;
      return sso.deps
        .withRoom({ organization, provider, ipAddress }, Date.now(), async () => {
          began[i]?.resolve();
          await release.promise;
        })
        .finally(() => began[i]?.resolve());
    });
    const settled = Promise.allSettled(runs);
    await Promise.all(began.map(({ promise }) => promise));
    await between().finally(() => release.resolve());
    return (await settled).flatMap((result) => (result.status === 'rejected' ? [result.reason.fault] : []));
  };

  test('takes at most three environments, however slowly it answers', async () => {
    const { provider } = await connect();
    await sso.knowNetwork(provider);
    expect(await refusedOf(provider, Array(4).fill(BROWSER_ADDRESS))).toEqual(['provider_busy']);
    expect(await refusedOf(provider, [BROWSER_ADDRESS])).toEqual([]);
  });

  test('has no environments of its own: all connections of an organization have three together', async () => {
    const { provider } = await connect();
    const others = ['idp_1', 'idp_2'].map((id) => ({ ...provider, id }));
    for (const each of [provider, ...others]) await sso.knowNetwork(each);
    expect(await refusedOf([provider, ...others], Array(6).fill(BROWSER_ADDRESS))).toEqual(Array(3).fill('provider_busy'));
    expect(await refusedOf([provider, ...others], ['198.51.100.1', '198.51.100.2', '198.51.100.3'])).toEqual(['provider_busy']);
  });

  test('has one environment for a network from which nobody has signed in, and two for all of them', async () => {
    const { provider } = await connect();
    expect(await refusedOf(provider, ['198.51.100.1', '198.51.100.1'])).toEqual(['provider_busy']);
    expect(await refusedOf(provider, ['198.51.100.1', '198.51.100.2', '198.51.100.3'])).toEqual(['provider_busy']);
    expect(await refusedOf(provider, ['198.51.100.3', '198.51.100.4'])).toEqual([]);
  });

  test('signs in from a network of earlier logins, although strangers hold all that they can', async () => {
    const { domain, provider } = await connect();
    const email = `ada@${domain}`;
    setClaims({ email });
    expect((await loginAt(domain)).statusCode).toBe(303);
    const strangers = Array.from({ length: 9 }, (_, i) => `198.51.100.${i}`);
    const refused = await refusedOf(provider, strangers, async () => {
      expect((await loginAt(domain)).statusCode).toBe(303);
    });
    expect(refused).toHaveLength(strangers.length - 2);
  });

  test.each([['nonsense'], ['javascript:alert(1)'], ['ftp://idp.example.com/']])(
    'causes a 503 if it has moved its page to %s since',
    async (authorization_endpoint) => {
      const { domain, provider } = await connect();
      const { discover } = sso.deps;
      sso.deps.discover = async (of) => ({ ...(await discover(of)), authorization_endpoint });
      const browser = sso.browser();
      expect(await browser.load(await browser.begin(`ada@${domain}`))).toMatchObject({ statusCode: 503 });
      sso.deps.discover = discover;
      expect(await sso.events.list(provider.id)).toMatchObject([{ reason: 'provider_unreachable: authorization_endpoint_unusable' }]);
    },
  );

  test('causes a 503 if it cannot be reached', async () => {
    const { domain } = await connect({ issuer: 'http://127.0.0.1:1024' });
    const browser = sso.browser();
    expect(await browser.load(await browser.begin(`ada@${domain}`))).toMatchObject({ statusCode: 503 });
  });
});
