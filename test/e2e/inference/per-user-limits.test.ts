import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { MAX_NEW_USERS_PER_MINUTE } from '../../../functions/inference/admission/reserve-user.ts';
import { userHashOf } from '../../../functions/inference/admission/user.ts';
import { moneyCountersAt } from '../../../shared/admission/item/limiter-item.ts';
import { userLimiterId } from '../../../shared/admission/item/user-limiter.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { nanosOf } from '../../../shared/prices/dollars.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import { HOSTS, type HostRun, startHostRun } from '../../support/clients/hosts.ts';

// The most requests that are sent to reach a limit of tokens or money.
const MAX_REQUESTS = 60;
// One request is answered so slowly that others come meanwhile.
const SLOW_TOKEN_MS = 400;
const SLOW_TOKENS = 10;

const EMBEDDING_MODEL = 'sluice-tiny-embed';

const newUser = (): string => randomUUID();

describe.each(HOSTS)('the limits of end users on the %s host', (name) => {
  const field = name === 'serverless' ? 'user' : 'X-User-Id';
  let run: HostRun;
  let control: Control;
  let owner: SignedIn;
  let organization: string;
  beforeAll(async () => {
    run = await startHostRun(name);
    control = controlOf(run);
    ({ id: organization } = await control.createOrganization());
    owner = await control.createUser({ role: 'owner', organization });
    for (const own of [run.model, EMBEDDING_MODEL]) {
      const model = await run.models.get(SERVERLESS_POOL, own);
      if (name === 'on-demand' && model) await run.models.put(organization, model);
    }
  });
  afterAll(async () => {
    await run.control('container');
    await run.close();
  });

  const createKey = async (per_user: object) => {
    const body = { name: 'shop', scope: run.host.scope, per_user };
    const { id, secret } = await control.done('POST', '/v1/api-keys', { token: owner.token, body });
    const client = new OpenAI({ apiKey: secret, baseURL: `${run.base_url}/v1`, maxRetries: 0 });
    const ask = (user: string, max_tokens = 4) => ({
      model: run.model,
      messages: [{ role: 'user' as const, content: 'Hello' }],
      max_tokens,
      ...(name === 'serverless' && { user }),
    });
    // Each host has its own place for the end user.
    const of = (user: string) => (name === 'serverless' ? {} : { headers: { 'X-User-Id': user } });
    const complete = (user: string, max_tokens?: number) => client.chat.completions.create(ask(user, max_tokens), of(user));
    const stream = (user: string, max_tokens?: number) =>
      client.chat.completions.create({ ...ask(user, max_tokens), stream: true }, of(user));
    return { id: id as string, secret: secret as string, client, complete, stream };
  };
  type Key = Awaited<ReturnType<typeof createKey>>;

  const rejection = async (reply: Promise<unknown>): Promise<InstanceType<typeof OpenAI.RateLimitError>> => {
    const error: unknown = await reply.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof OpenAI.RateLimitError)) throw error ?? new Error('The request was not rejected.');
    return error;
  };

  const rejectionOfMany = async (
    { complete }: Key,
    user: string,
  ): Promise<{ error: Awaited<ReturnType<typeof rejection>>; sent: number }> => {
    for (let sent = 0; sent < MAX_REQUESTS; sent++) {
      const reply = complete(user);
      const error = await reply.catch((thrown: unknown) => thrown);
      if (error instanceof OpenAI.RateLimitError) return { error, sent };
      await reply;
    }
    throw new Error(`None of ${MAX_REQUESTS} requests was rejected.`);
  };

  test('reject the third request of a user who has two per minute, and say so, while another user goes on', async () => {
    const { complete } = await createKey({ requests_per_minute: 2 });
    const [ann, bob] = [newUser(), newUser()];
    for (let request = 0; request < 2; request++) await complete(ann);
    const error = await rejection(complete(ann));
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'requests', param: field });
    expect(error.message).toContain("The end user's limit of 2 requests per minute has been reached");
    expect(Number(error.headers.get('retry-after'))).toBeGreaterThan(0);
    await complete(bob);
  });

  test('count the tokens of each user', async () => {
    const key = await createKey({ tokens_per_minute: 40 });
    const { error, sent } = await rejectionOfMany(key, newUser());
    expect(sent).toBeGreaterThan(0);
    expect(error).toMatchObject({ status: 429, type: 'tokens', param: field });
    expect(error.message).toContain("The end user's limit of 40 tokens per minute has been reached");
    const bob = newUser();
    await key.complete(bob);
    expect((await rejection(key.complete(newUser(), 100))).message).toMatch(/but the end user's limit is 40 tokens per minute/);
  });

  test('reject a second request at once of a user who has one, until the first one has ended', async () => {
    const { complete, stream } = await createKey({ concurrency: 1 });
    const [ann, bob] = [newUser(), newUser()];
    await complete(bob);
    await run.control('container', { token_delay_ms: SLOW_TOKEN_MS });
    const first = await stream(ann, SLOW_TOKENS);
    await run.control('container');
    const error = await rejection(complete(ann));
    expect(error).toMatchObject({ status: 429, type: 'concurrency', param: field });
    expect(error.message).toContain("The end user's limit of 1 concurrent requests has been reached");
    await complete(bob);
    const chunks = await Array.fromAsync(first);
    expect(chunks.length).toBeGreaterThan(1);
    await complete(ann);
  });

  test("reject a request that can cost more than the rest of its user's month, and count what was used", async () => {
    const month = '0.00011';
    const key = await createKey({ monthly_budget: month });
    const [ann, bob] = [newUser(), newUser()];
    const { error, sent } = await rejectionOfMany(key, ann);
    expect(sent).toBeGreaterThan(0);
    expect(error).toMatchObject({ status: 429, code: 'insufficient_quota', param: field });
    expect(error.message).toContain('more than what is left of the monthly budget of this end user');
    expect(error.headers.get('x-should-retry')).toBe('false');
    await key.complete(bob);
    const costOf = async (user: string): Promise<bigint> =>
      (await run.eventsOf(key.id))
        .filter((event) => (event.user_id ?? event.user) === user)
        .reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
    const limiter = await run.limiters.get(userLimiterId(key.id, userHashOf(key.id, ann)));
    expect(BigInt(limiter?.[moneyCountersAt(Date.now()).month] ?? 0)).toBe(await costOf(ann));
    expect(await costOf(ann)).toBeLessThanOrEqual(nanosOf(month) as bigint);
  });

  test(`add at most ${MAX_NEW_USERS_PER_MINUTE} users to a key in a minute, and serve those that it knows`, async () => {
    const { id, complete } = await createKey({ requests_per_minute: 100 });
    const known = newUser();
    await complete(known);
    // As if that many had come in this minute, and in the next one, which can begin meanwhile.
    const minute = Math.floor(Date.now() / MINUTE_MS);
    for (const full of [minute, minute + 1]) {
      const Item = { id: userLimiterId(id, String(full)), added: MAX_NEW_USERS_PER_MINUTE, del_at: ((full + 60) * MINUTE_MS) / 1_000 };
      await run.database.put({ TableName: run.tables.Keys as string, Item });
    }
    const error = await rejection(complete(newUser()));
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', param: field });
    expect(error.message).toContain(`The limit of ${MAX_NEW_USERS_PER_MINUTE} new end users per minute has been reached`);
    expect(Number(error.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    await complete(known);
  });

  const ASKED = 'Tell me about all of the rivers and the harbours of the country.';
  const chat = { messages: [{ role: 'user', content: ASKED }] };
  test.each([
    ['/v1/chat/completions', 'Shorten the prompt or lower max_tokens.', { ...chat, max_tokens: 100 }],
    ['/v1/chat/completions', 'Shorten the prompt or lower max_completion_tokens.', { ...chat, max_completion_tokens: 100 }],
    ['/v1/responses', 'Shorten the prompt or lower max_output_tokens.', { input: ASKED, max_output_tokens: 100 }],
    ['/v1/embeddings', 'Shorten the request.', { input: ASKED }],
  ])('advise on %s with the fields of the request: %s', async (path, advice, body) => {
    const { secret } = await createKey({ tokens_per_minute: 2 });
    const model = path === '/v1/embeddings' ? EMBEDDING_MODEL : run.model;
    const reply = await fetch(run.base_url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'X-User-Id': newUser() },
      body: JSON.stringify({ ...body, model, user: newUser() }),
    });
    const { error } = (await reply.json()) as { error: { message: string; param: string } };
    expect({ status: reply.status, param: error.param }).toEqual({ status: 429, param: field });
    expect(error.message.endsWith(`but the end user's limit is 2 tokens per minute. ${advice}`)).toBe(true);
  });

  if (name === 'serverless')
    test('require a user in the body, which the Messages API has in its metadata', async () => {
      const { secret, client, complete } = await createKey({ requests_per_minute: 1 });
      const ann = newUser();
      await complete(ann);
      const body = { model: run.model, messages: [{ role: 'user' as const, content: 'Hello' }], max_tokens: 4 };
      const missing = client.chat.completions.create(body, { headers: { 'X-User-Id': newUser() } });
      await expect(missing).rejects.toMatchObject({ status: 400, code: 'user_required', param: 'user' });
      const sendMessage = (user_id?: string) =>
        fetch(`${run.base_url}/v1/messages`, {
          method: 'POST',
          headers: { 'x-api-key': secret, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
          body: JSON.stringify({ ...body, metadata: { user_id } }),
        });
      const rejectionOfMessage = async (user_id?: string) => {
        const reply = await sendMessage(user_id);
        const { error } = (await reply.json()) as { error: { message: string; details: object } };
        return { status: reply.status, message: error.message, ...error.details };
      };
      expect(await rejectionOfMessage(ann)).toMatchObject({ status: 429, param: 'metadata.user_id' });
      expect(await rejectionOfMessage()).toMatchObject({
        status: 400,
        error_code: 'user_required',
        param: 'metadata.user_id',
        message: expect.stringMatching(/Send your end user's id in 'metadata\.user_id'\.$/),
      });
      expect((await sendMessage(newUser())).status).toBe(200);
    });
  else
    test('are those of the X-User-Id, whatever user the body names', async () => {
      const { client, complete } = await createKey({ requests_per_minute: 1 });
      const ann = newUser();
      await complete(ann);
      const body = { model: run.model, messages: [{ role: 'user' as const, content: 'Hello' }], max_tokens: 4, user: newUser() };
      const again = client.chat.completions.create(body, { headers: { 'X-User-Id': ann.toUpperCase() } });
      expect(await rejection(again)).toMatchObject({ status: 429, param: field });
      await client.chat.completions.create({ ...body, user: ann }, { headers: { 'X-User-Id': newUser() } });
    });
});
