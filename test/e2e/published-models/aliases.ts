import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { NewModel } from '../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { type Answer, type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { publishedModels } from './run.ts';

const FOR_ALL = 'claude-opus-5-5';
const OWN = 'gpt-5/own';
const DEPLOYED = 'gpt-5-deployed';
const ASLEEP = 'gpt-5-asleep';

let run: TestRun;
let control: Control;
let organization: string;
let owner: SignedIn;
let stranger: SignedIn;
// All aliases are set before the first request: an environment that has read them sees changes within 30 s.
beforeAll(async () => {
  run = await publishedModels.start();
  control = controlOf(run);
  const admin = await control.asAdmin();
  ({ id: organization } = await control.createOrganization());
  owner = await control.createUser({ role: 'owner', organization });
  stranger = await control.createUser({ role: 'owner', organization: (await control.createOrganization('Other')).id });
  const model = (await run.models.list(SERVERLESS_POOL)).get(run.model) as NewModel;
  await run.models.put(organization, { ...model, name: 'assistant' });
  await run.models.put(organization, { ...model, name: 'resting', status: 'unpublished' });
  await setAlias(admin, FOR_ALL, run.model);
  await setAlias(owner, OWN, run.model);
  await setAlias(owner, DEPLOYED, 'assistant');
  await setAlias(owner, ASLEEP, 'resting');
});

const setAlias = ({ token }: SignedIn, alias: string, model: string) =>
  control.done('PUT', `/v1/model-aliases/${alias}`, { token, body: { model } });
const createKey = async ({ token }: SignedIn, fields: object = {}): Promise<{ id: string; secret: string }> =>
  control.done('POST', '/v1/api-keys', { token, body: { name: 'k', ...fields } });

type Reply = Pick<Answer, 'status' | 'body'> & { text: string };
const send = async (secret: string | undefined, path: string, body?: object, baseUrl: string = run.base_url): Promise<Reply> => {
  const response = await fetch(`${baseUrl}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { ...(secret && { authorization: `Bearer ${secret}` }), 'content-type': 'application/json', 'x-user-id': randomUUID() },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : {} };
};
const chatOf = (model: string, fields: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  max_tokens: 4,
  seed: 1,
  ...fields,
});
const aliasesIn = (list: Reply) =>
  list.body.data
    .filter(({ alias_of }: { alias_of: string | null }) => alias_of !== null)
    .map(({ id, alias_of }: { id: string; alias_of: string }) => [id, alias_of]);

describe('an alias on the serverless host', () => {
  test.each([FOR_ALL, OWN])('%s is answered, priced and recorded as its model, which replies name', async (alias) => {
    const { id, secret } = await createKey(owner);
    const real = await send(secret, '/v1/chat/completions', chatOf(run.model));
    const aliased = await send(secret, '/v1/chat/completions', chatOf(alias));
    expect([aliased.status, aliased.body.model]).toEqual([200, run.model]);
    expect(aliased.body.usage).toEqual(real.body.usage);
    const events = await run.eventsOf(id);
    const [named, other] = [events.find((event) => event.alias === alias), events.find((event) => event.alias === undefined)];
    expect(named).toMatchObject({ model: run.model, cost_nanos: other?.cost_nanos, price_version: other?.price_version });
  });

  test('names its model in streams, responses, completions and counts of tokens', async () => {
    const { id, secret } = await createKey(owner);
    const stream = await send(secret, '/v1/chat/completions', chatOf(FOR_ALL, { stream: true }));
    expect(stream.text).toContain(`"model":"${run.model}"`);
    expect(stream.text).not.toContain(FOR_ALL);
    const response = await send(secret, '/v1/responses', { model: FOR_ALL, input: 'Hello', max_output_tokens: 16 });
    expect(response.body.model).toBe(run.model);
    const completion = await send(secret, '/v1/completions', { model: FOR_ALL, prompt: 'Hello', max_tokens: 4 });
    expect(completion.body.model).toBe(run.model);
    expect((await send(secret, '/tokenize', { model: FOR_ALL, prompt: 'Hello' })).status).toBe(200);
    const events = await run.eventsOf(id);
    expect(events.map(({ model, alias }) => [model, alias])).toEqual(Array.from({ length: 4 }, () => [run.model, FOR_ALL]));
  });

  test('is allowed to a key if its model is, and not by its own name', async () => {
    const allowed = await createKey(owner, { models: [run.model] });
    expect((await send(allowed.secret, '/v1/chat/completions', chatOf(FOR_ALL))).status).toBe(200);
    const others = await createKey(owner, { models: ['another', FOR_ALL] });
    const refused = await send(others.secret, '/v1/chat/completions', chatOf(FOR_ALL));
    expect([refused.status, refused.body.error]).toEqual([403, expect.objectContaining({ code: 'model_not_allowed' })]);
    expect(refused.body.error.message).toContain(`'${run.model}'`);
  });

  test('is unknown to other organizations, unless it is for all', async () => {
    const { secret } = await createKey(stranger);
    const unknown = await send(secret, '/v1/chat/completions', chatOf(OWN));
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'model_not_found']);
    expect((await send(secret, '/v1/chat/completions', chatOf(FOR_ALL))).status).toBe(200);
  });

  test('is in the public list if it is for all', async () => {
    const list = await send(undefined, '/v1/models');
    expect(aliasesIn(list)).toEqual([[FOR_ALL, run.model]]);
    const { body } = await send(undefined, `/v1/models/${FOR_ALL}`);
    expect(body).toEqual(list.body.data.find(({ id }: { id: string }) => id === FOR_ALL));
    expect((await send(undefined, `/v1/models/${OWN}`)).status).toBe(404);
  });
});

describe('an alias on the on-demand host', () => {
  const sendOnDemand = (secret: string, path: string, body?: object) => send(secret, path, body, run.ondemand_url as string);

  test('leads to a deployment of the organization, and aliases for all to none', async () => {
    const { id, secret } = await createKey(owner, { scope: 'on_demand' });
    const reply = await sendOnDemand(secret, '/v1/chat/completions', chatOf(DEPLOYED));
    expect([reply.status, reply.body.model]).toEqual([200, 'assistant']);
    expect(await run.eventsOf(id)).toEqual([expect.objectContaining({ model: 'assistant', alias: DEPLOYED })]);
    for (const alias of [FOR_ALL, OWN])
      expect((await sendOnDemand(secret, '/v1/chat/completions', chatOf(alias))).body.error.code).toBe('model_not_found');
  });

  test('is listed to keys that may use its deployment', async () => {
    const all = await createKey(owner, { scope: 'on_demand' });
    expect(aliasesIn(await sendOnDemand(all.secret, '/v1/models'))).toEqual([[DEPLOYED, 'assistant']]);
    expect((await sendOnDemand(all.secret, `/v1/models/${DEPLOYED}`)).body).toMatchObject({ id: DEPLOYED, alias_of: 'assistant' });
    const narrow = await createKey(owner, { scope: 'on_demand', models: ['another'] });
    expect((await sendOnDemand(narrow.secret, '/v1/models')).body.data).toEqual([]);
    expect((await sendOnDemand(narrow.secret, `/v1/models/${DEPLOYED}`)).status).toBe(404);
  });

  test('returns 503 while its deployment is not in service, also to a key for only that', async () => {
    const { secret } = await createKey(owner, { scope: 'on_demand', models: ['resting'] });
    const { status, body } = await sendOnDemand(secret, '/v1/chat/completions', chatOf(ASLEEP));
    expect([status, body.error.code]).toEqual([503, 'deployment_not_ready']);
  });
});

test('the control plane lists the aliases of the organization and those for all, and deletes them', async () => {
  const list = async ({ token }: SignedIn) => {
    const { data } = await control.done('GET', '/v1/model-aliases', { token });
    return data.map(({ alias, organization: whose }: { alias: string; organization: string | null }) => [alias, whose]);
  };
  await setAlias(owner, 'short/lived', run.model);
  expect((await control.call('DELETE', '/v1/model-aliases/short%2Flived', { token: stranger.token })).status).toBe(404);
  expect((await control.call('DELETE', '/v1/model-aliases/short/lived', { token: owner.token })).status).toBe(204);
  const own = [DEPLOYED, ASLEEP, OWN].map((alias) => [alias, organization]);
  expect(await list(owner)).toEqual([[FOR_ALL, null], ...own].sort(([a = ''], [b = '']) => (String(a) < String(b) ? -1 : 1)));
  expect(await list(stranger)).toEqual([[FOR_ALL, null]]);
});
