import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OAuth2Server } from 'oauth2-mock-server';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { parseSecret } from '../../../../shared/admission/item/secret.ts';
import { FunctionUnavailable } from '../../../../shared/aws/function-errors.ts';
import { DatabaseUnavailable } from '../../../../shared/database/outage.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { MintRefusal } from '../../../../shared/federation/mint-key.ts';
import type { FederationRule } from '../../../../shared/federation/rule.ts';
import { createRuleStore } from '../../../../shared/federation/rule-store.ts';
import { createSignInEvents } from '../../../../shared/federation/sign-in-events.ts';
import { IdentityUnavailable } from '../../../../shared/identity/errors.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';
import { accountOf, openMachineSignIn } from '../machine-sign-in-fixtures.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const AUDIENCE = 'https://control.example.com';

let database: TestDatabase;
let github: OAuth2Server;
let world: ReturnType<typeof openMachineSignIn>;
let table: ReturnType<typeof createRecordTable>;

beforeAll(async () => {
  database = await startTestDatabase();
  github = new OAuth2Server();
  await github.issuer.keys.generate('RS256');
  await github.start(0, 'localhost');
  world = openMachineSignIn(database, await database.as('machine-sign-in'));
  table = createRecordTable(database.database, String(database.tables.Accounts));
});
afterAll(() => Promise.all([database.close(), github.stop()]));

const withRule = async (
  name: string,
  { api_key = null, ...fields }: Parameters<typeof accountOf>[1] & Partial<Pick<FederationRule, 'api_key'>> = {},
) => {
  const account = accountOf(name, fields);
  await world.create(account);
  const rule: FederationRule = {
    id: `fed_${name.padEnd(18, '0')}`,
    service_account: account.id,
    description: null,
    issuer: String(github.issuer.url),
    audience: AUDIENCE,
    subject: null,
    claims: { repository_id: '7' },
    api_key,
    status: 'active',
    created_at: 1,
    updated_at: 1,
    version: 1,
  };
  const rules = createRuleStore(table);
  await transact(database.database, rules.toCreate(rule, await rules.issuersOf(account.organization)));
  return { account, rule };
};

let jobs = 0;
const jobToken = (changes: object = {}): Promise<string> =>
  github.issuer.buildToken({
    scopesOrTransform: (_, payload) => {
      const claims = { sub: 'repo:acme@12/web@7:ref:refs/heads/main', aud: AUDIENCE, jti: `job-${jobs++}`, repository: 'acme/web' };
      Object.assign(payload, { ...claims, repository_id: '7', run_id: '99', exp: payload.iat + 300, ...changes });
    },
  });

const exchange = (client_id: string, federation_rule: string, subject_token: string, changes: Record<string, string> = {}) =>
  world
    .send({ grant_type: EXCHANGE, client_id, federation_rule, subject_token, subject_token_type: JWT, ...changes }, { atMs: Date.now() })
    .catch((error: unknown) => error);
const eventsOf = (account: string) => createSignInEvents(database.database, String(database.tables.Accounts), table).list(account);
const refused = { status: 401, code: 'invalid_client' };

describe('the grant token-exchange', () => {
  test('exchanges a job’s token once, and records the rule and the job', async () => {
    const { account, rule } = await withRule('once');
    const token = await jobToken();
    expect(await exchange(account.id, rule.id, token)).toEqual({
      ...{ access_token: 'access', token_type: 'Bearer', expires_in: 900 },
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    });
    expect(await exchange(account.id, rule.id, token)).toMatchObject(refused);
    const entries = await world.entries('org_once');
    expect(entries.find(({ action }) => action === 'session.created')?.changes).toMatchObject({
      proof: { to: `rule:${rule.id}` },
      sub: { to: 'repo:acme@12/web@7:ref:refs/heads/main' },
      repository: { to: 'acme/web' },
      run_id: { to: '99' },
    });
    expect(entries.find(({ action }) => action === 'session.refused')?.reason).toBe('token_already_used');
    expect((await eventsOf(account.id)).map(({ outcome }) => outcome).sort()).toEqual(['accepted', 'refused']);
  });

  test('signs in once if a token is sent 100 times at once', async () => {
    const { account, rule } = await withRule('hundred');
    const [token, before] = [await jobToken(), world.signedIn.length];
    const replies = await Promise.all(Array.from({ length: 100 }, () => exchange(account.id, rule.id, token)));
    expect(replies.filter((reply) => 'access_token' in (reply as object))).toHaveLength(1);
    expect(world.signedIn).toHaveLength(before + 1);
  });

  test('signs in 100 jobs at once', async () => {
    const { account, rule } = await withRule('jobs');
    const tokens = await Promise.all(Array.from({ length: 100 }, () => jobToken()));
    const replies = await Promise.all(tokens.map((token) => exchange(account.id, rule.id, token)));
    expect(replies.filter((reply) => 'access_token' in (reply as object))).toHaveLength(100);
  });

  test('answers every refusal the same, and signs no one in', async () => {
    const one = await withRule('one');
    const other = await withRule('other', { status: 'disabled' });
    const before = world.signedIn.length;
    const refusals = await Promise.all([
      exchange(one.account.id, one.rule.id, await jobToken({ repository_id: '8' })),
      exchange(one.account.id, one.rule.id, await jobToken({ aud: 'https://other.example' })),
      exchange(one.account.id, one.rule.id, 'a.b.c'),
      exchange(one.account.id, other.rule.id, await jobToken()),
      exchange(other.account.id, other.rule.id, await jobToken()),
      exchange(one.account.id, 'fed_unknown', await jobToken()),
      exchange('user_unknown', one.rule.id, await jobToken()),
    ]);
    for (const refusal of refusals) expect(refusal).toMatchObject(refused);
    expect(new Set(refusals.map((refusal) => (refusal as Error).message)).size).toBe(1);
    expect(world.signedIn).toHaveLength(before);
  });

  test('accepts the token again after the identity provider was unavailable', async () => {
    const { account, rule } = await withRule('away');
    const token = await jobToken();
    world.answers.set('away', () => Promise.reject(new IdentityUnavailable(new Error('away'))));
    expect(await exchange(account.id, rule.id, token)).toMatchObject({ status: 503 });
    world.answers.delete('away');
    expect(await exchange(account.id, rule.id, token)).toMatchObject({ token_type: 'Bearer' });
  });

  test('accepts the token again after its session could not be recorded for the owner', async () => {
    const { account, rule } = await withRule('unrecorded');
    const [token, { events }] = [await jobToken(), world.deps.exchange];
    world.deps.exchange.events = { add: () => Promise.reject(new DatabaseUnavailable(new Error('away'))) };
    expect(await exchange(account.id, rule.id, token)).toMatchObject({ status: 503 });
    world.deps.exchange.events = events;
    expect(await exchange(account.id, rule.id, token)).toMatchObject({ token_type: 'Bearer' });
  });

  test('records claims that are cut within a character', async () => {
    const { account, rule } = await withRule('cut');
    const [sub, ref] = [`${'s'.repeat(199)}🚀`, `${'r'.repeat(199)}🚀`];
    expect(await exchange(account.id, rule.id, await jobToken({ sub, ref }))).toMatchObject({ token_type: 'Bearer' });
    expect(await exchange(account.id, rule.id, await jobToken({ sub, repository_id: ref }))).toMatchObject(refused);
    const events = await eventsOf(account.id);
    expect(events.map(({ subject }) => subject)).toEqual([`${'s'.repeat(199)}\ufffd`, `${'s'.repeat(199)}\ufffd`]);
  });

  test.each<[Record<string, string>, string]>([
    [{ federation_rule: '' }, 'federation_rule'],
    [{ subject_token: '' }, 'subject_token'],
    [{ subject_token_type: '' }, 'subject_token_type'],
    [{ subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' }, 'subject_token_type'],
    [{ requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' }, 'requested_token_type'],
    [{ client_secret: 'sas_x' }, 'client_secret'],
    [{ actor_token: 'x' }, 'actor_token'],
    [{ audience: 'x' }, 'audience'],
    [{ resource: 'x' }, 'resource'],
  ])('rejects a request with %j', async (changes, param) => {
    expect(await exchange('user_x', 'fed_x', 'a.b.c', changes)).toMatchObject({ status: 400, code: 'invalid_request', param });
  });
});

describe('an exchange for an API key', () => {
  const API_KEY = { requested_token_type: 'urn:sluice:params:oauth:token-type:api_key' };
  const api_key: FederationRule['api_key'] = {
    ...{ scope: 'serverless', models: null, budgets: { total: null }, lifetime_seconds: 300 },
    limits: { requests_per_minute: 60, tokens_per_minute: 1_000, concurrency: 2 },
  };
  const withKeys = async (name: string) => {
    const stores = accountStores(database);
    const admin = await storeUser(stores, { role: 'admin', organization: null });
    const { id: organization } = await createOrganization(stores, admin.origin, { name });
    return { ...(await withRule(name, { organization, api_key })), organization };
  };

  test('returns the secret once for a token, and shows the key in the events', async () => {
    const { account, rule } = await withKeys('keys');
    const [token, before] = [await jobToken(), world.signedIn.length];
    const issued = (await exchange(account.id, rule.id, token, API_KEY)) as Record<string, string>;
    expect(issued).toEqual({
      ...{ access_token: expect.stringMatching(/^sk-s/), token_type: 'Bearer', expires_in: 300 },
      issued_token_type: API_KEY.requested_token_type,
    });
    expect(await exchange(account.id, rule.id, token, API_KEY)).toMatchObject(refused);
    const accepted = (await eventsOf(account.id)).find(({ outcome }) => outcome === 'accepted');
    expect(accepted?.api_key).toBe(parseSecret(issued.access_token ?? '')?.keyId);
    expect(world.signedIn).toHaveLength(before);
  });

  test('returns an access token to a workload that asks for one', async () => {
    const { account, rule } = await withKeys('either');
    expect(await exchange(account.id, rule.id, await jobToken())).toMatchObject({ access_token: 'access' });
  });

  test('is a 400 for a rule that gives none, and leaves the token as it was', async () => {
    const { account, rule } = await withRule('nokeys');
    const token = await jobToken();
    expect(await exchange(account.id, rule.id, token, API_KEY)).toMatchObject({ status: 400, code: 'invalid_target' });
    expect(await exchange(account.id, rule.id, 'a.b.c', API_KEY)).toMatchObject(refused);
    expect(await exchange(account.id, rule.id, token)).toMatchObject({ access_token: 'access' });
  });

  const mintWith = async (name: string, mintKey: typeof world.deps.mintKey) => {
    const { account, rule } = await withKeys(name);
    const [token, real] = [await jobToken(), world.deps.mintKey];
    world.deps.mintKey = mintKey;
    const failed = await exchange(account.id, rule.id, token, API_KEY);
    world.deps.mintKey = real;
    return { failed, again: await exchange(account.id, rule.id, token, API_KEY) };
  };

  test.each<[MintRefusal, object]>([
    ['too_many_keys', { status: 429, headers: { 'retry-after': '7' } }],
    ['organization_suspended', { status: 400, code: 'invalid_target' }],
    ['no_api_key', { status: 400, code: 'invalid_target' }],
    ['rule_disabled', refused],
    ['service_account_disabled', refused],
  ])('leaves the token usable after %s', async (reason, expected) => {
    const refusal = { outcome: 'refused', reason, retry_after_seconds: 7 } as const;
    const { failed, again } = await mintWith(reason.replaceAll('_', '').slice(0, 12), async () => refusal);
    expect(failed).toMatchObject(expected);
    expect(again).toMatchObject({ token_type: 'Bearer' });
  });

  test('leaves the token usable if the function that creates keys crashes after it has created one', async () => {
    const { mintKey } = world.deps;
    const { failed, again } = await mintWith('crash', async (call) => {
      await mintKey(call);
      throw new FunctionUnavailable(new Error('crash'));
    });
    expect(failed).toMatchObject({ status: 503 });
    expect(again).toMatchObject({ token_type: 'Bearer' });
  });
});
