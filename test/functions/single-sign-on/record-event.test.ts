import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRecordEvent } from '../../../functions/single-sign-on/record-event.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import type { IdentityProvider } from '../../../shared/single-sign-on/identity-provider.ts';
import { type MockProvider, type SingleSignOn, startMockProvider, startSingleSignOn, unique } from './sign-on-fixtures.ts';

let sso: SingleSignOn;
let mock: MockProvider;
beforeAll(async () => {
  [sso, mock] = await Promise.all([startSingleSignOn(), startMockProvider()]);
});
afterAll(async () => {
  await Promise.all([sso.close(), mock.close()]);
});

const MAPPING: Partial<IdentityProvider> = {
  role_claim: 'groups',
  role_mapping: [{ value: 'finance', role: 'billing' }],
  default_role: null,
};

const connect = async (fields: Partial<IdentityProvider> = {}) => {
  const { domain, organization, provider } = await sso.addConnection(mock.issuer, { ...MAPPING, ...fields });
  return { domain, organization, provider, email: `ada@${domain}`, listed: () => sso.events.list(provider.id) };
};
const setClaims = (claims: Record<string, unknown>) => {
  mock.state.claims = { sub: unique('sub'), email_verified: true, ...claims };
};

describe('the events of an identity provider', () => {
  test('say who signed in, with the claims that decided it and no others', async () => {
    const { email, listed } = await connect();
    const groups = ['everyone', 'finance'];
    setClaims({ email, groups, acr: 'mfa', amr: ['pwd', 'otp'], given_name: 'Ada', phone_number: '+1 555 0100' });
    await sso.browser().login(email);
    await sso.browser().login(email);
    const user = await sso.users.idOfEmail(email);
    const event = {
      object: 'identity_provider_event',
      at: expect.any(Number),
      reason: null,
      is_verified: true,
      user,
      role: 'billing',
      subject: mock.state.claims.sub,
      email,
      claims: { email_verified: true, acr: 'mfa', amr: ['pwd', 'otp'], groups },
      ip_address: '192.0.2.7',
      request_id: 'req_1',
    };
    const events = await listed();
    expect(events).toEqual(
      expect.arrayContaining([
        { ...event, outcome: 'provisioned' },
        { ...event, outcome: 'signed_in' },
      ]),
    );
    expect(events).toHaveLength(2);
  });

  test('tell the first login of a user who existed from others', async () => {
    const { email, organization, listed } = await connect();
    const { id } = await sso.addUser({ email, organization });
    setClaims({ email, groups: ['finance'] });
    await sso.browser().login(email);
    expect(await listed()).toMatchObject([{ outcome: 'linked', user: id }]);
  });

  test.each<[string, Partial<IdentityProvider>, Record<string, unknown>, string]>([
    ['no group of theirs has a role', {}, { groups: ['everyone'] }, 'no_role'],
    ['a second factor is missing', { required_acr: ['mfa'] }, { groups: ['finance'], acr: 'pwd' }, 'acr_missing: pwd'],
    ['the address is not verified', {}, { groups: ['finance'], email_verified: false }, 'email_not_verified'],
  ])('say why a login was refused, with its claims: %s', async (_, fields, claims, reason) => {
    const { email, listed } = await connect(fields);
    setClaims({ email, ...claims });
    expect((await sso.browser().login(email)).statusCode).toBe(403);
    const refused = { outcome: 'refused', reason, is_verified: true, user: null, role: null, email, subject: mock.state.claims.sub };
    expect(await listed()).toEqual([expect.objectContaining({ ...refused, claims: expect.objectContaining(claims) })]);
  });

  test('have nothing of a token that was not verified', async () => {
    const { email, listed } = await connect();
    setClaims({ email, groups: ['finance'], aud: 'another' });
    await sso.browser().login(email);
    expect(await listed()).toMatchObject([
      { outcome: 'refused', reason: 'token_rejected: audience_mismatch', is_verified: false, subject: null, email: null, claims: {} },
    ]);
  });

  test('name a provider that is out of reach, or switched off, before anyone was sent there', async () => {
    const away = await sso.addConnection('http://127.0.0.1:9');
    const off = await connect({ status: 'disabled' });
    const browser = sso.browser();
    expect((await browser.load(await browser.begin(`ada@${away.domain}`))).statusCode).toBe(503);
    expect((await browser.load(await browser.begin(off.email))).statusCode).toBe(403);
    expect(await sso.events.list(away.provider.id)).toMatchObject([{ reason: expect.stringMatching(/^provider_unreachable: /) }]);
    expect(await off.listed()).toMatchObject([{ reason: 'provider_disabled' }]);
  });

  test('leave tests out', async () => {
    const { provider, organization, email, listed } = await connect();
    setClaims({ email, groups: [] });
    const { login } = await sso.deps.logins.begin({ kind: 'test', organization, provider: provider.id, test: 't' }, Date.now());
    const browser = sso.browser();
    const page = await browser.load(await browser.signInAt(`${sso.deps.controlUrl}/v1/auth/sso/authorize?login=${login}`));
    expect(page.body).toContain('The test is finished');
    expect(await sso.deps.logins.testResult('t', Date.now())).toMatchObject({ reason: 'no_role' });
    expect(await listed()).toEqual([]);
  });

  test('cut long values, and keep 20 of the role claim', async () => {
    const { email, listed } = await connect();
    // Cut within a character, of which the database stores no half.
    const long = `${'f'.repeat(99)}🚀`;
    const groups = ['finance', long, ...Array.from({ length: 40 }, (_, i) => `${i}${'g'.repeat(110)}`)];
    setClaims({ email, groups, acr: 'a'.repeat(300) });
    await sso.browser().login(email);
    const [event] = await listed();
    expect(event?.claims.groups).toHaveLength(20);
    expect(event?.claims.groups).toContain(`${'f'.repeat(99)}\ufffd`);
    expect(JSON.stringify(event).length).toBeLessThan(3_000);
    expect(event?.claims.acr).toHaveLength(100);
  });
});

describe('a record of a login', () => {
  const event = { requestId: 'req_1', receivedAtMs: Date.now(), path: '/', requestContext: {} } as unknown as ApiEvent;
  const refused = { outcome: 'refused', reason: 'no_role' } as const;
  const identity = { subject: 's', email: null, claims: {} };
  const accepted = { outcome: 'signed_in', user: 'user_1', role: 'member', identity } as const;

  test('is kept for at most 5 refusals a minute of each kind, and for every login', async () => {
    const { provider, listed } = await connect();
    const record = sso.deps.recordEvent;
    for (let i = 0; i < 7; i++) {
      await record(event, provider, { ...refused, identity: null });
      await record(event, provider, { ...refused, identity });
      await record(event, provider, accepted);
    }
    const counts = Map.groupBy(await listed(), ({ outcome, is_verified }) => `${outcome} ${is_verified}`);
    expect([...counts].map(([kind, { length }]) => [kind, length]).sort()).toEqual([
      ['refused false', 5],
      ['refused true', 5],
      ['signed_in true', 7],
    ]);
  });

  test('lets strangers push out neither logins nor refusals of verified tokens', async () => {
    const { provider, listed } = await connect();
    await sso.deps.recordEvent(event, provider, accepted);
    for (let i = 0; i < 25; i++)
      await sso.events.add(provider.id, { ...(await listed())[0], is_verified: false, outcome: 'refused' } as never);
    const events = await listed();
    expect(events.filter(({ is_verified }) => is_verified)).toHaveLength(1);
    expect(events).toHaveLength(21);
  });

  test('leaves nothing behind if the connection was deleted meanwhile', async () => {
    const { provider, listed } = await connect();
    await transact(sso.database, sso.providers.toDelete(provider));
    await sso.deps.recordEvent(event, provider, accepted);
    expect(await listed()).toEqual([]);
  });

  test('does not stop a login if it fails', async () => {
    const { provider } = await connect();
    const add = async () => {
      throw new Error('The database is away.');
    };
    const record = createRecordEvent({
      ...sso.deps,
      events: { ...sso.events, add },
      quotas: { count: async () => ({ isCounted: true, untilMs: 0 }) },
    });
    await expect(record(event, provider, accepted)).resolves.toBeUndefined();
  });
});
