import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OAuth2Server } from 'oauth2-mock-server';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { FederationRule } from '../../../../shared/federation/rule.ts';
import { createRuleStore } from '../../../../shared/federation/rule-store.ts';
import { createSignInEvents } from '../../../../shared/federation/sign-in-events.ts';
import { IdentityUnavailable } from '../../../../shared/identity/errors.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
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

const withRule = async (name: string, fields: Parameters<typeof accountOf>[1] = {}) => {
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
    expect(await exchange(account.id, rule.id, token)).toEqual({ access_token: 'access', token_type: 'Bearer', expires_in: 900 });
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

  test('accepts the token again after the identity provider was away', async () => {
    const { account, rule } = await withRule('away');
    const token = await jobToken();
    world.answers.set('away', () => Promise.reject(new IdentityUnavailable(new Error('away'))));
    expect(await exchange(account.id, rule.id, token)).toMatchObject({ status: 503 });
    world.answers.delete('away');
    expect(await exchange(account.id, rule.id, token)).toMatchObject({ token_type: 'Bearer' });
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
