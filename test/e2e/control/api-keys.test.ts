import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { limitsOf } from '../../../shared/admission/item/limiter-item.ts';
import { shardId } from '../../../shared/admission/item/shards.ts';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';

const DOLLAR = 1_000_000_000n;

let run: TestRun;
let control: Control;
let organization: string;
let owner: SignedIn;
let member: SignedIn;
beforeAll(async () => {
  run = await shareTestRun();
  control = controlOf(run);
  ({ id: organization } = await control.createOrganization());
  owner = await control.createUser({ role: 'owner', organization });
  member = await control.createUser({ role: 'member', organization });
});
afterAll(async () => {
  await run.close();
});

const createKey = (body: object = {}, { token } = owner) => control.done('POST', '/v1/api-keys', { token, body: { name: 'key', ...body } });
const chat = (secret: string, model = run.model, headers: Record<string, string> = {}) =>
  fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, max_tokens: 4, messages: [{ role: 'user', content: 'Hello' }] }),
  });
const statusOf = async (secret: string): Promise<number> => (await chat(secret)).status;
const patch = (id: string, body: object, headers: Record<string, string> = {}) =>
  control.call('PATCH', `/v1/api-keys/${id}`, { token: owner.token, body, headers });

describe('an API key', () => {
  test('returns its secret once, when it is created', async () => {
    const { secret, ...key } = await createKey();
    expect(secret).toMatch(/^sk-s\w{52}$/);
    expect((await control.done('GET', `/v1/api-keys/${key.id}`, { token: owner.token })) as object).toEqual(key);
    const { body } = await control.call('GET', '/v1/api-keys', { token: owner.token });
    expect(JSON.stringify(body)).not.toContain(secret.slice(10));
  });

  test('is changed, rotated and revoked in all of its eight shards', async () => {
    const { id, secret } = await createKey({ limits: { concurrency: 96, requests_per_minute: 6_000, tokens_per_minute: 10_000_000 } });
    expect(await Promise.all(Array.from({ length: 16 }, () => statusOf(secret)))).toEqual(Array(16).fill(200));
    const { secret: next } = await control.done('POST', `/v1/api-keys/${id}/rotate`, { token: owner.token, body: { overlap_seconds: 60 } });
    expect(await Promise.all([secret, next].flatMap((each) => Array.from({ length: 8 }, () => statusOf(each))))).toEqual(
      Array(16).fill(200),
    );
    expect((await patch(id, { models: ['another'] })).status).toBe(200);
    expect(await Promise.all(Array.from({ length: 16 }, () => statusOf(next)))).toEqual(Array(16).fill(403));
    await patch(id, { models: null });
    await eventually(async () => (await statusOf(next)) === 200, 'every model can be used again');
    await control.done('DELETE', `/v1/api-keys/${id}`, { token: owner.token });
    expect(await Promise.all(Array.from({ length: 16 }, () => statusOf(next)))).toEqual(Array(16).fill(401));
  });

  test('admits no more requests than its lowered limit, even with many shards', async () => {
    const { id, secret } = await createKey({ limits: { concurrency: 96, requests_per_minute: 6_000, tokens_per_minute: 10_000_000 } });
    expect((await patch(id, { limits: { requests_per_minute: 1 } })).status).toBe(200);
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await statusOf(secret));
    expect(answers).toEqual([200, 429, 429, 429, 429]);
  });

  test('applies lowered limits from the next request on, and raised limits within seconds', async () => {
    const { id, secret } = await createKey();
    expect(await statusOf(secret)).toBe(200);
    await patch(id, { limits: { requests_per_minute: 1 } });
    expect(await statusOf(secret)).toBe(429);
    // A refusal is remembered for up to five seconds.
    await patch(id, { limits: { requests_per_minute: 100 } });
    await eventually(async () => (await statusOf(secret)) === 200, 'the raised limit applies');
    await patch(id, { budgets: { day: '0.00000001' } });
    const rejected = await chat(secret);
    expect([rejected.status, ((await rejected.json()) as { error: { code: string } }).error.code]).toEqual([429, 'insufficient_quota']);
    await patch(id, { budgets: { day: null }, models: [run.model] });
    await eventually(async () => (await statusOf(secret)) === 200, 'the removed budget no longer applies');
    expect((await patch(id, { expires_at: Math.floor(Date.now() / 1_000) - 1 })).status).toBe(400);
    await patch(id, { name: 'renamed' });
    expect(await control.done('GET', `/v1/api-keys/${id}`, { token: owner.token })).toMatchObject({
      name: 'renamed',
      models: [run.model],
      limits: { requests_per_minute: 100, tokens_per_minute: 200_000 },
      budgets: { day: null },
    });
  });

  test('never exceeds a changed budget, however unevenly its shards have counted', async () => {
    const limits = { concurrency: 96, requests_per_minute: 6_000, tokens_per_minute: 10_000_000 };
    const { id, secret } = await createKey({ limits, budgets: { total: '100' } });
    for (const [shard, dollars] of [10n, 0n, 3n, 0n, 7n, 0n, 0n, 1n].entries())
      await run.accounts.spend(shardId(id, shard), dollars * DOLLAR);
    const partsOf = async (): Promise<{ spent: bigint; part: bigint }[]> =>
      Promise.all(
        Array.from({ length: 8 }, async (_, shard) => {
          const item = await run.limiters.get(shardId(id, shard));
          return { spent: BigInt(item?.spent ?? 0), part: (item && limitsOf(item).budgets.total) ?? 0n };
        }),
      );
    const room = (parts: { spent: bigint; part: bigint }[]): bigint =>
      parts.reduce((sum, { spent, part }) => sum + (part > spent ? part - spent : 0n), 0n);
    expect((await patch(id, { budgets: { total: '30' } })).status).toBe(200);
    expect(room(await partsOf())).toBe(9n * DOLLAR);
    expect((await patch(id, { limits: { concurrency: 1 } })).status).toBe(200);
    expect((await partsOf())[0]).toEqual({ spent: 10n * DOLLAR, part: 19n * DOLLAR });
    expect((await patch(id, { limits: { concurrency: 96 }, budgets: { total: '21' } })).status).toBe(200);
    expect(room(await partsOf())).toBe(0n);
    await eventually(async () => (await statusOf(secret)) === 429, 'nothing is left');
    expect((await patch(id, { budgets: { total: '22' } })).status).toBe(200);
    await eventually(async () => (await statusOf(secret)) === 200, 'a dollar is left');
  });

  test('accepts any other budget and none in place of a small one', async () => {
    const { id } = await createKey({
      limits: { concurrency: 96, requests_per_minute: 6_000, tokens_per_minute: 10_000_000 },
      budgets: { month: '5' },
    });
    for (const month of ['6', '100', '0.5', null]) expect((await patch(id, { budgets: { month } })).status).toBe(200);
  });

  test('no longer replays stored results after it is revoked', async () => {
    const { id, secret } = await createKey();
    const send = () => chat(secret, run.model, { 'idempotency-key': 'once' });
    expect((await send()).status).toBe(200);
    expect((await send()).headers.get('idempotent-replayed')).toBe('true');
    await control.done('DELETE', `/v1/api-keys/${id}`, { token: owner.token });
    expect((await send()).status).toBe(401);
  });

  test('stores no content from the next request on once no_content is set', async () => {
    const { id, secret } = await createKey();
    expect(await statusOf(secret)).toBe(200);
    await patch(id, { no_content: true });
    const send = () => chat(secret, run.model, { 'idempotency-key': 'private' });
    expect([(await send()).status, (await send()).status]).toEqual([200, 409]);
  });

  test('is not rotated twice when a rotation with overlap is sent twice', async () => {
    const { id, secret } = await createKey();
    const rotate = (headers: Record<string, string> = {}) =>
      control.call('POST', `/v1/api-keys/${id}/rotate`, { token: owner.token, body: { overlap_seconds: 60 }, headers });
    const first = await rotate();
    expect(first.status).toBe(200);
    expect((await rotate()).body.error.code).toBe('rotation_under_way');
    expect(await statusOf(secret)).toBe(200);
    expect((await rotate({ 'if-match': first.headers.get('etag') as string })).status).toBe(200);
  });

  test('can be lowered and raised again to its original limits, even if its token limit allowed fewer shards', async () => {
    const { id } = await createKey({ limits: { concurrency: 128 } });
    expect((await patch(id, { limits: { requests_per_minute: 601 } })).status).toBe(200);
    expect((await patch(id, { limits: { concurrency: 64 } })).status).toBe(200);
    expect((await patch(id, { limits: { concurrency: 128 } })).status).toBe(200);
    expect((await patch(id, { limits: { concurrency: 160 } })).status).toBe(409);
  });

  test('cannot be raised beyond its original capacity, and the error says what to do', async () => {
    const { id } = await createKey();
    const { status, body } = await patch(id, { limits: { concurrency: 64, tokens_per_minute: 10_000_000 } });
    expect([status, body.error.code, body.error.message]).toEqual([409, 'limits_too_high', expect.stringContaining('Create a new key')]);
  });

  test('stays revoked when it is revoked again', async () => {
    const { id } = await createKey();
    const first = await control.done('DELETE', `/v1/api-keys/${id}`, { token: owner.token });
    expect(await control.done('DELETE', `/v1/api-keys/${id}`, { token: owner.token })).toEqual(first);
    expect((await patch(id, { name: 'again' })).body.error.code).toBe('api_key_revoked');
    expect((await control.call('POST', `/v1/api-keys/${id}/rotate`, { token: owner.token, body: { overlap_seconds: 0 } })).status).toBe(
      409,
    );
  });
});

describe('concurrent changes', () => {
  const rotate = (id: string, etag?: string) =>
    control.call('POST', `/v1/api-keys/${id}/rotate`, {
      token: owner.token,
      body: { overlap_seconds: 0 },
      ...(etag && { headers: { 'if-match': etag } }),
    });

  test('one of two rotations with the same ETag succeeds, and the other returns 412', async () => {
    const { id } = await createKey();
    const { headers } = await control.call('GET', `/v1/api-keys/${id}`, { token: owner.token });
    const etag = headers.get('etag') as string;
    const answers = await Promise.all([rotate(id, etag), rotate(id, etag)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    const lost = answers.find(({ status }) => status === 412);
    expect(lost?.body.error).toMatchObject({
      code: 'version_conflict',
      param: 'If-Match',
      message: expect.stringContaining('Read it again'),
    });
    expect(await statusOf(answers.find(({ status }) => status === 200)?.body.secret)).toBe(200);
  });

  test('one of two updates with the same ETag succeeds, and the other returns 412', async () => {
    const { id, version } = await createKey();
    const answers = await Promise.all(['a', 'b'].map((name) => patch(id, { name }, { 'if-match': `"${version}"` })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    const made = answers.find(({ status }) => status === 200)?.body;
    expect(await control.done('GET', `/v1/api-keys/${id}`, { token: owner.token })).toMatchObject({
      name: made.name,
      version: made.version,
    });
  });

  test('rotations without an ETag succeed or fail as a whole: only the secret of the last one works', async () => {
    const { id } = await createKey();
    const answers = await Promise.all(Array.from({ length: 6 }, () => rotate(id)));
    const made = answers.filter(({ status }) => status === 200).map(({ body }) => body);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(made.length === 6 ? [200] : [200, 412]));
    const { version, hint } = await control.done('GET', `/v1/api-keys/${id}`, { token: owner.token });
    expect(version).toBe(1 + made.length);
    const last = made.find((key) => key.version === version);
    expect(last.hint).toBe(hint);
    for (const { secret } of made) expect(await statusOf(secret)).toBe(secret === last.secret ? 200 : 401);
  });

  test('a malformed or empty ETag returns 400, and an old one returns 412 and changes nothing', async () => {
    const { id } = await createKey();
    for (const tag of ['abc', '']) expect((await patch(id, { name: 'x' }, { 'if-match': tag })).body.error.param).toBe('If-Match');
    expect((await patch(id, { name: 'x' }, { 'if-match': '"7"' })).status).toBe(412);
    expect((await patch(id, { name: 'y' }, { 'if-match': '*' })).body).toMatchObject({ name: 'y', version: 2 });
  });
});

describe('a member', () => {
  test('creates keys with the default limits, and sees and changes only their own', async () => {
    const { id } = await createKey({}, member);
    const { id: other } = await createKey();
    const list = await control.done('GET', '/v1/api-keys', { token: member.token });
    expect(list.data.map((key: { id: string }) => key.id)).toEqual([id]);
    expect((await control.call('GET', `/v1/api-keys/${other}`, { token: member.token })).status).toBe(404);
    expect((await control.call('DELETE', `/v1/api-keys/${other}`, { token: member.token })).status).toBe(404);
    expect((await control.call('PATCH', `/v1/api-keys/${id}`, { token: member.token, body: { name: 'mine' } })).status).toBe(200);
  });

  test.each([{ limits: { concurrency: 1 } }, { budgets: { day: '1' } }])('cannot set %p, which only owners can', async (fields) => {
    const [param] = Object.keys(fields);
    const rejected = { error: { type: 'permission_error', param } };
    const created = await control.call('POST', '/v1/api-keys', { token: member.token, body: { name: 'x', ...fields } });
    expect([created.status, created.body]).toMatchObject([403, rejected]);
    const { id } = await createKey({}, member);
    const changed = await control.call('PATCH', `/v1/api-keys/${id}`, { token: member.token, body: fields });
    expect([changed.status, changed.body]).toMatchObject([403, rejected]);
  });
});

test('a member keeps to what an owner sets: restrictions of a key, and the number of keys', async () => {
  const user = await control.createUser({ role: 'member', organization });
  const { id, secret } = await createKey({}, user);
  const change = (body: object) => control.call('PATCH', `/v1/api-keys/${id}`, { token: user.token, body });
  expect((await patch(id, { models: ['another'], no_content: true })).body.owner_restrictions).toEqual({
    models: ['another'],
    expires_at: null,
    no_content: true,
  });
  for (const body of [{ models: null }, { models: [run.model] }, { no_content: false }]) {
    const { status, body: rejected } = await change(body);
    expect([status, rejected.error]).toMatchObject([403, { code: 'set_by_owner', param: Object.keys(body)[0] }]);
  }
  expect(await statusOf(secret)).toBe(403);
  await control.done('PATCH', `/v1/users/${user.id}`, { token: owner.token, body: { max_api_keys: 1 } });
  const another = () => control.call('POST', '/v1/api-keys', { token: user.token, body: { name: 'another' } });
  expect((await another()).body.error.code).toBe('too_many_keys');
  const raise = ({ token }: SignedIn) => control.call('PATCH', `/v1/users/${user.id}`, { token, body: { max_api_keys: 2 } });
  expect((await raise(user)).status).toBe(403);
  expect((await raise(owner)).body.max_api_keys).toBe(2);
  expect((await another()).status).toBe(201);
});

test('lists all large keys and audit entries, page by page', async () => {
  const { id: other } = await control.createOrganization('Large');
  const { token } = await control.asAdmin();
  const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, 'ä'.repeat(512)]));
  const models = Array.from({ length: 16 }, (_, i) => `${i}${'ö'.repeat(250)}`);
  const made: string[] = [];
  for (let i = 0; i < 45; i++)
    made.unshift((await control.done('POST', '/v1/api-keys', { token, body: { name: `${i}`, organization: other, metadata, models } })).id);
  const all = async (path: string): Promise<{ id: string; action?: string }[]> => {
    const seen = [];
    for (let after = ''; ; ) {
      const page = await control.done('GET', `${path}&limit=100${after && `&after=${after}`}`, { token });
      seen.push(...page.data);
      if (!page.has_more) return seen;
      after = page.next;
    }
  };
  expect((await all(`/v1/api-keys?organization=${other}`)).map(({ id }) => id)).toEqual(made);
  const entries = await all(`/v1/audit-log?organization=${other}`);
  expect(entries.filter(({ action }) => action === 'api_key.created')).toHaveLength(45);
  expect(entries.at(-1)?.action).toBe('organization.created');
});

test('lists keys page by page, newest first, each once', async () => {
  const { id: other } = await control.createOrganization('Pages');
  const { token } = await control.asAdmin();
  const made: string[] = [];
  for (let i = 0; i < 5; i++)
    made.unshift((await control.done('POST', '/v1/api-keys', { token, body: { name: `${i}`, organization: other } })).id);
  const seen: string[] = [];
  let after = '';
  for (let page = 0; page < 3; page++) {
    const list = await control.done('GET', `/v1/api-keys?organization=${other}&limit=2${after && `&after=${after}`}`, { token });
    seen.push(...list.data.map(({ id }: { id: string }) => id));
    after = list.next;
    expect(list.has_more).toBe(page < 2);
  }
  expect(seen).toEqual(made);
  expect(after).toBeNull();
});

test('reports the last use and the usage of a key', async () => {
  const { id, secret } = await createKey();
  await chat(secret);
  const { last_used_at } = await control.done('GET', `/v1/api-keys/${id}`, { token: owner.token });
  expect(last_used_at).toBeGreaterThan(Date.now() / 1_000 - 60);
  const usage = await control.done('GET', `/v1/api-keys/${id}/usage`, { token: owner.token });
  expect(usage.now.requests_per_minute).toMatchObject({ limit: 600, remaining: 599 });
  expect((await control.call('GET', `/v1/api-keys/${id}/usage?from=2025-01-01&to=2026-01-01`, { token: owner.token })).status).toBe(400);
});
