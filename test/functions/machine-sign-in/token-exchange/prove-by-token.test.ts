import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { OAuth2Server } from 'oauth2-mock-server';
import { type OfferedToken, proveByToken } from '../../../../functions/machine-sign-in/token-exchange/prove-by-token.ts';
import { createUsedTokens } from '../../../../functions/machine-sign-in/token-exchange/used-tokens.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { createFederation } from '../../../../shared/federation/federation.ts';
import type { FederationRule } from '../../../../shared/federation/rule.ts';
import { createSignInEvents } from '../../../../shared/federation/sign-in-events.ts';
import { createQuotaStore } from '../../../../shared/quotas/quota-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';

const AUDIENCE = 'https://control.example.com';
let emulator: TestDatabase;
let github: OAuth2Server;
let account: string;
let accounts = 0;
let organizations = 0;
let organization: string;
let nowMs: number;
let rule: FederationRule;

beforeAll(async () => {
  emulator = await startTestDatabase();
  github = new OAuth2Server();
  await github.issuer.keys.generate('RS256');
  await github.start(0, 'localhost');
});
afterAll(() => Promise.all([emulator.close(), github.stop()]));
beforeEach(() => {
  nowMs = Date.now();
  account = `user_${accounts++}`;
  organization = `org_${organizations++}`;
  rule = {
    id: 'fed_1',
    service_account: account,
    description: null,
    issuer: String(github.issuer.url),
    audience: AUDIENCE,
    subject: null,
    claims: { repository_id: '7', ref: 'refs/heads/main' },
    api_key: null,
    status: 'active',
    created_at: nowMs,
    updated_at: nowMs,
    version: 1,
  };
});

const opened = () => {
  const { database, tables } = emulator;
  const [attempts, accountsTable] = [String(tables.Attempts), String(tables.Accounts)];
  return {
    ...createFederation('127.0.0.0/8,::1/128', () => nowMs),
    usedTokens: createUsedTokens(database, attempts),
    events: createSignInEvents(database, accountsTable, createRecordTable(database, accountsTable)),
    quotas: createQuotaStore(database, attempts),
  };
};

// As a job of GitHub Actions gets it: https://docs.github.com/actions/reference/security/oidc
let jobs = 0;
const jobToken = (changes: object = {}): Promise<string> =>
  github.issuer.buildToken({
    scopesOrTransform: (_, payload) => {
      Object.assign(payload, {
        sub: 'repo:acme@12/web@7:ref:refs/heads/main',
        aud: AUDIENCE,
        jti: `job-${account}-${jobs++}`,
        repository: 'acme/web',
        repository_id: '7',
        ref: 'refs/heads/main',
        exp: payload.iat + 300,
        ...changes,
      });
    },
  });

const caller = () => ({
  ipAddress: '203.0.113.9',
  serverName: 'control',
  serverPath: '/v1/auth/token',
  requestId: 'req_1',
  receivedAtMs: nowMs,
});
const prove = (token: string, { deps = opened(), ...changes }: Partial<OfferedToken> & { deps?: ReturnType<typeof opened> } = {}) =>
  proveByToken(deps, { token, rule, organization, isAccountActive: true, ...changes }, caller());
const events = () => opened().events.list(account);
const reasonOf = async (token: string, changes: Partial<OfferedToken> = {}): Promise<unknown> => {
  expect(await prove(token, changes)).toBeUndefined();
  return (await events())[0]?.reason;
};

describe('proveByToken', () => {
  test('accepts a job’s token, and records it without the token', async () => {
    const token = await jobToken();
    const proof = await prove(token);
    expect(await proof?.use()).toBe(true);
    await proof?.noteSession();
    expect(proof?.claims).toMatchObject({ repository_id: '7' });
    const [event] = await events();
    expect(event).toMatchObject({
      outcome: 'accepted',
      reason: null,
      federation_rule: 'fed_1',
      is_verified: true,
      ip_address: '203.0.113.9',
    });
    expect(JSON.stringify(event)).not.toContain(token.split('.')[2]);
  });

  test('accepts a token of a renamed repository, which keeps its id', async () => {
    const proof = await prove(await jobToken({ sub: 'repo:acme@12/site@7:ref:refs/heads/main', repository: 'acme/site' }));
    expect(await proof?.use()).toBe(true);
  });

  test('rejects a repository that has taken the name of another', async () => {
    expect(await reasonOf(await jobToken({ repository_id: '8' }))).toBe('claims_differ');
    expect((await events())[0]).toMatchObject({
      is_verified: true,
      differing_claims: [{ claim: 'repository_id', expected: '7', actual: '8' }],
    });
  });

  test('accepts a token once', async () => {
    const token = await jobToken();
    expect(await (await prove(token))?.use()).toBe(true);
    expect(await (await prove(token))?.use()).toBe(false);
    expect((await events())[0]).toMatchObject({ outcome: 'refused', reason: 'token_already_used' });
  });

  test('accepts one of 100 uses of a token at once', async () => {
    const [token, deps] = [await jobToken(), opened()];
    const uses = await Promise.all(Array.from({ length: 100 }, async () => (await prove(token, { deps }))?.use()));
    expect(uses.filter((isFirst) => isFirst)).toHaveLength(1);
  });

  test('accepts 100 tokens at once, before any document of the issuer was fetched', async () => {
    const [tokens, deps] = [await Promise.all(Array.from({ length: 100 }, () => jobToken())), opened()];
    const uses = await Promise.all(tokens.map(async (token) => (await prove(token, { deps }))?.use()));
    expect(uses).toEqual(Array(100).fill(true));
  });

  test('accepts a token again that was released', async () => {
    const token = await jobToken();
    const proof = await prove(token);
    await proof?.use();
    await proof?.release();
    expect(await (await prove(token))?.use()).toBe(true);
  });

  test('releases only its own use', async () => {
    const token = await jobToken();
    const [first, second] = [await prove(token), await prove(token)];
    await first?.use();
    await second?.use();
    await second?.release();
    expect(await (await prove(token))?.use()).toBe(false);
  });

  test('recognizes a token without an id by its text', async () => {
    const token = await jobToken({ jti: undefined });
    expect(await (await prove(token))?.use()).toBe(true);
    expect(await (await prove(token))?.use()).toBe(false);
    expect(await (await prove(await jobToken({ jti: undefined, run_id: '2' })))?.use()).toBe(true);
  });

  test.each<[string, number, string | undefined]>([
    ['that ended 59 s ago', 359, undefined],
    ['that has ended', 361, 'expired'],
    ['of a clock that is 59 s ahead', -59, undefined],
    ['of a clock that is 62 s ahead', -62, 'issued_in_the_future'],
  ])('checks the time of a token %s', async (_, seconds, reason) => {
    const iat = Math.floor(nowMs / 1_000);
    const token = await jobToken({ iat, exp: iat + 300 });
    nowMs += seconds * 1_000;
    if (reason === undefined) expect(await (await prove(token))?.use()).toBe(true);
    else expect(await reasonOf(token)).toBe(reason);
  });

  test('rejects a token that lives too long, and a disabled rule or account', async () => {
    expect(await reasonOf(await jobToken({ exp: Math.floor(nowMs / 1_000) + 3_700 }))).toBe('lifetime_too_long');
    nowMs += 1;
    expect(await reasonOf(await jobToken(), { rule: { ...rule, status: 'disabled' } })).toBe('rule_disabled');
    nowMs += 1;
    expect(await reasonOf(await jobToken(), { isAccountActive: false })).toBe('service_account_disabled');
  });
});

describe('proveByToken, against strangers', () => {
  test('records at most five refusals in a minute, apart from those of verified tokens', async () => {
    await prove(await jobToken({ repository_id: '8' }));
    for (let i = 0; i < 25; i++) await prove('a.b.c');
    expect((await events()).map(({ reason }) => reason).sort()).toEqual(['claims_differ', ...Array(5).fill('malformed')]);
  });

  test('fetches 36 documents of an organization’s issuers in a minute, and then asks good callers to wait', async () => {
    const token = await jobToken();
    for (let i = 0; i < 18; i++) expect(await prove(token)).toBeDefined();
    await expect(prove(token)).rejects.toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
    expect((await events())[0]?.reason).toBe('too_many_fetches');
    expect(await prove(token, { organization: `${organization}other` })).toBeDefined();
    nowMs += 61_000;
    expect(await prove(token)).toBeDefined();
  });

  test('keeps 80 events of verified tokens', async () => {
    const proof = await prove(await jobToken());
    for (let i = 0; i < 85; i++) await proof?.noteSession();
    expect(await events()).toHaveLength(80);
  });
});
