import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import type { NewModel } from '../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { type HostRun, startHostRun } from '../../support/clients/hosts.ts';

let run: HostRun;
let model: NewModel;
beforeAll(async () => {
  run = await startHostRun('on-demand');
  model = (await run.models.list(SERVERLESS_POOL)).get('sluice-tiny') as NewModel;
  await run.models.put('org_two', { ...model, name: 'secret-of-two' });
  for (const org of ['org_one', 'org_two']) await run.models.put(org, { ...model, name: 'assistant' });
  await run.models.put('org_one', { ...model, name: 'resting', status: 'unpublished' });
  await run.models.put('org_one', { ...model, name: 'creating', targets: [{ endpoint: 'no-such-endpoint' }] });
  await run.models.put('org_one', { ...model, name: 'second' });
});
afterAll(async () => {
  await run.close();
});

const ask = { model: 'assistant', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 4 };
const keyOf = (org: string, fields: object = {}) => run.createKey({ org, ...fields });
const post = (secret: string | undefined, body: object = ask, headers: Record<string, string> = { 'X-User-Id': randomUUID() }) =>
  fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...(secret && { authorization: `Bearer ${secret}` }), 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { message: string; code: string; param: string } }).error;

describe('the header X-User-Id', () => {
  test.each([
    ['missing', {}],
    ['empty', { 'x-user-id': '' }],
    ['not a UUID', { 'x-user-id': 'user-1' }],
    ['two UUIDs in one value', { 'x-user-id': `${randomUUID()}, ${randomUUID()}` }],
  ])('returns 400 and names the header when it is %s', async (_, headers) => {
    const { secret } = await keyOf('org_one');
    const response = await post(secret, ask, headers as Record<string, string>);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ param: 'X-User-Id', message: expect.stringContaining('UUID') });
    const list = await fetch(`${run.base_url}/v1/models`, {
      headers: { authorization: `Bearer ${secret}`, ...(headers as Record<string, string>) },
    });
    expect(list.status).toBe(400);
  });

  test('is checked after the key: an invalid key returns 401', async () => {
    expect((await post(undefined, ask, {})).status).toBe(401);
    expect((await post('sk-nonsense', ask, {})).status).toBe(401);
  });

  test('is stored in the usage event in lower case', async () => {
    const { secret, key_id } = await keyOf('org_one');
    const user = randomUUID();
    expect((await post(secret, ask, { 'x-user-id': user.toUpperCase() })).status).toBe(200);
    expect(await run.eventsOf(key_id)).toEqual([expect.objectContaining({ user_id: user, org_id: 'org_one', model: 'assistant' })]);
  });

  test('returns 400 when it is sent twice, so that the user of a request is never ambiguous', async () => {
    const { secret } = await keyOf('org_one');
    const status = await new Promise((resolve, reject) => {
      const call = request(
        `${run.base_url}/v1/chat/completions`,
        { method: 'POST', headers: { authorization: `Bearer ${secret}`, 'x-user-id': [randomUUID(), randomUUID()] } },
        (response) => resolve(response.resume().statusCode),
      );
      call.once('error', reject).end(JSON.stringify(ask));
    });
    expect(status).toBe(400);
  });

  test('is required when a result is replayed, and another value returns 422', async () => {
    const { secret } = await keyOf('org_one');
    const user = randomUUID();
    const again = (headers: Record<string, string>) => post(secret, ask, { 'idempotency-key': 'once', ...headers });
    expect((await again({ 'x-user-id': user })).status).toBe(200);
    expect((await again({ 'x-user-id': user })).headers.get('idempotent-replayed')).toBe('true');
    expect((await again({})).status).toBe(400);
    expect((await again({ 'x-user-id': 'nope' })).status).toBe(400);
    expect((await again({ 'x-user-id': randomUUID() })).status).toBe(422);
  });

  test('is not required on the serverless host', async () => {
    const response = await fetch(`${(await run.facts()).base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${run.api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ask, model: 'sluice-tiny' }),
    });
    expect(response.status).toBe(200);
  });
});

describe('both hosts', () => {
  test('return 401 with the right URL for a key of the other host', async () => {
    const { base_url, ondemand_url, api_key } = await run.facts();
    const refused = await post(api_key);
    expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([401, expect.stringContaining(base_url)]);
    const { secret } = await keyOf('org_one');
    const other = await fetch(`${base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask),
    });
    expect([other.status, ((await other.json()) as { error: string }).error]).toEqual([
      401,
      expect.stringContaining(ondemand_url as string),
    ]);
  });
});

describe('a deployment', () => {
  test('returns 404 if it does not exist, and suggests only names that the key may use', async () => {
    const { secret } = await keyOf('org_one');
    const near = await errorOf(await post(secret, { ...ask, model: 'asistant' }));
    expect(near).toMatchObject({ code: 'model_not_found', param: 'model', message: expect.stringContaining("Did you mean 'assistant'?") });
    const far = await errorOf(await post(secret, { ...ask, model: 'something-else' }));
    expect(far.message).toContain('may use: assistant, creating, second');
    const { secret: narrow } = await keyOf('org_one', { models: ['else'] });
    const hidden = await errorOf(await post(narrow, { ...ask, model: 'else' }));
    expect(hidden.message).not.toContain('assistant');
  });

  test('is no longer suggested once the key is revoked or may not use it', async () => {
    const { secret, key_id } = await keyOf('org_one', { models: ['assistant', 'second', 'gone'] });
    const miss = async () => (await post(secret, { ...ask, model: 'gone' })).json() as Promise<{ error: { message: string } }>;
    expect((await post(secret)).status).toBe(200);
    expect((await miss()).error.message).toContain('may use: assistant, second');
    await run.limiters.configure(key_id, { models: ['assistant', 'gone'] });
    expect((await miss()).error.message).not.toContain('second');
    await run.limiters.configure(key_id, { status: 'revoked' });
    expect((await post(secret, { ...ask, model: 'gone' })).status).toBe(401);
  });

  test('returns deployment_not_ready while its endpoint is created, or its component has no copies', async () => {
    const { secret } = await keyOf('org_one');
    // The role may only invoke tagged endpoints, and one that does not exist has no tag.
    run.expectDenial('sagemaker:InvokeEndpoint');
    const creating = await post(secret, { ...ask, model: 'creating' });
    expect([creating.headers.get('retry-after'), (await errorOf(creating)).code]).toEqual(['30', 'deployment_not_ready']);
    await run.control('sagemaker', { fault: { kind: 'no_capacity', times: 1 } });
    const empty = await post(secret);
    await run.control('sagemaker');
    expect((await errorOf(empty)).code).toBe('deployment_not_ready');
  });

  test('returns 503 with Retry-After if it is not in service', async () => {
    const { secret } = await keyOf('org_one');
    const response = await post(secret, { ...ask, model: 'resting' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30']);
    expect((await errorOf(response)).code).toBe('deployment_not_ready');
  });

  test('shares neither events nor lists with one of the same name in another organization', async () => {
    const [one, two] = [await keyOf('org_one'), await keyOf('org_two')];
    for (const { secret } of [one, two]) expect((await post(secret)).status).toBe(200);
    expect(await run.eventsOf(one.key_id)).toEqual([expect.objectContaining({ org_id: 'org_one' })]);
    expect(await run.eventsOf(two.key_id)).toEqual([expect.objectContaining({ org_id: 'org_two' })]);
    expect((await post(one.secret, { ...ask, model: 'secret-of-two' })).status).toBe(404);
    const client = (secret: string) =>
      new OpenAI({ apiKey: secret, baseURL: `${run.base_url}/v1`, maxRetries: 0, defaultHeaders: { 'X-User-Id': randomUUID() } });
    const names = async (secret: string) => (await client(secret).models.list()).data.map(({ id }) => id);
    expect(await names(one.secret)).toEqual(['assistant', 'creating', 'second']);
    await expect(client(one.secret).models.retrieve('secret-of-two')).rejects.toMatchObject({ status: 404 });
    expect((await client(one.secret).models.retrieve('assistant')).id).toBe('assistant');
    // The list needs a key, and serverless models do not exist on this host.
    expect((await fetch(`${run.base_url}/v1/models`)).status).toBe(401);
    expect((await post(one.secret, { ...ask, model: 'sluice-tiny' })).status).toBe(404);
  });

  test('serves the Responses API and stores responses for its organization', async () => {
    const { secret } = await keyOf('org_one');
    const client = new OpenAI({
      apiKey: secret,
      baseURL: `${run.base_url}/v1`,
      maxRetries: 0,
      defaultHeaders: { 'X-User-Id': randomUUID() },
    });
    const response = await client.responses.create({ model: 'assistant', input: 'Hello', max_output_tokens: 16 });
    expect(response).toMatchObject({ object: 'response', model: 'assistant', output: [{ type: 'message' }] });
    expect((await client.responses.retrieve(response.id)).id).toBe(response.id);
    const { secret: stranger } = await keyOf('org_two');
    const other = new OpenAI({
      apiKey: stranger,
      baseURL: `${run.base_url}/v1`,
      maxRetries: 0,
      defaultHeaders: { 'X-User-Id': randomUUID() },
    });
    await expect(other.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 });
    await expect(other.responses.delete(response.id)).rejects.toMatchObject({ status: 404 });
    await client.responses.delete(response.id);
    await expect(client.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('routes of the serverless host alone', () => {
  test('return 404', async () => {
    const { secret } = await keyOf('org_one');
    for (const path of ['/v1/completions', '/tokenize', '/detokenize']) {
      const response = await fetch(run.base_url + path, { method: 'POST', headers: { authorization: `Bearer ${secret}` }, body: '{}' });
      expect(response.status).toBe(404);
    }
  });
});
