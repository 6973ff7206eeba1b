import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OAuth2Server } from 'oauth2-mock-server';
import { parseSecret } from '../../../shared/admission/item/secret.ts';
import { type Answer, type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
let control: Control;
let github: OAuth2Server;
let owner: SignedIn;
beforeAll(async () => {
  run = await shareTestRun();
  control = controlOf(run);
  github = new OAuth2Server();
  await github.issuer.keys.generate('RS256');
  await github.start(0, '127.0.0.1');
  owner = await control.createUser({ role: 'owner', organization: (await control.createOrganization()).id });
});
afterAll(() => Promise.all([run.close(), github.stop()]));

const idOf = (secret: string): string => String(parseSecret(secret)?.keyId);
const endNow = (secret: string) => run.limiters.configure(idOf(secret), { expires_at: Date.now() - 1 });

const chat = async (secret: string): Promise<{ status: number; text: string }> => {
  const response = await fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: run.model, stream: true, max_tokens: 4, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  return { status: response.status, text: await response.text() };
};

interface Workflow {
  client_id: string;
  federation_rule: string;
}
const createWorkflow = async (): Promise<Workflow> => {
  const { token } = owner;
  const { id: client_id } = await control.done('POST', '/v1/service-accounts', { token, body: { name: 'ci', role: 'member' } });
  const api_key = { models: [run.model], budgets: { total: '1' }, lifetime_seconds: 300 };
  const rule = { issuer: String(github.issuer.url), audience: run.control_url, claims: { repository_id: '7' }, api_key };
  const { id } = await control.done('POST', `/v1/service-accounts/${client_id}/federation-rules`, { token, body: rule });
  return { client_id, federation_rule: id };
};

const jobToken = (): Promise<string> =>
  github.issuer.buildToken({
    scopesOrTransform: (_, payload) => {
      const claims = { sub: 'repo:acme/web', aud: run.control_url, jti: randomUUID(), repository_id: '7', run_id: '99' };
      Object.assign(payload, { ...claims, exp: Number(payload.iat) + 600 });
    },
  });
const exchange = async (workflow: Workflow, subject_token: string): Promise<Answer> =>
  control.call('POST', '/v1/auth/token', {
    body: {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      requested_token_type: 'urn:sluice:params:oauth:token-type:api_key',
      ...{ subject_token, ...workflow },
    },
  });
const mint = async (workflow: Workflow): Promise<string> => (await exchange(workflow, await jobToken())).body.access_token;

describe('an API key for the token of a job', () => {
  test('streams a chat until it ends, and is not given for the same token again', async () => {
    const workflow = await createWorkflow();
    const token = await jobToken();
    const { status, body } = await exchange(workflow, token);
    expect([status, body]).toEqual([
      200,
      {
        ...{ access_token: expect.stringMatching(/^sk-s/), token_type: 'Bearer', expires_in: 300 },
        issued_token_type: 'urn:sluice:params:oauth:token-type:api_key',
      },
    ]);
    const secret: string = body.access_token;
    expect(await chat(secret)).toMatchObject({ status: 200, text: expect.stringContaining('[DONE]') });
    const own = await fetch(`${run.base_url}/v1/key`, { headers: { authorization: `Bearer ${secret}` } });
    expect([own.status, await own.json()]).toMatchObject([200, { models: [run.model] }]);
    expect(await run.eventsOf(idOf(secret))).toMatchObject([{ outcome: 'completed' }]);

    const replayed = await exchange(workflow, token);
    expect([replayed.status, replayed.body.error]).toEqual([401, 'invalid_client']);
    await endNow(secret);
    expect((await chat(secret)).status).toBe(401);
    for (const name of ['machine-sign-in', 'control'] as const) expect(await run.logOf(name)).not.toContain(secret);
  });

  test('is shown in the events of the account and the audit log, and listed for its purpose', async () => {
    const workflow = await createWorkflow();
    const id = idOf(await mint(workflow));
    const { token } = owner;
    const events = await control.done('GET', `/v1/service-accounts/${workflow.client_id}/events`, { token });
    expect(events.data).toMatchObject([{ outcome: 'accepted', api_key: id, federation_rule: workflow.federation_rule }]);
    const { data } = await control.done('GET', '/v1/audit-log', { token });
    const entry = data.find(({ target }: { target: { id: string } }) => target.id === id);
    expect(entry).toMatchObject({
      action: 'api_key.created',
      changes: { proof: { to: `rule:${workflow.federation_rule}` }, run_id: { to: '99' } },
    });
    const list = async (query: string) =>
      (await control.done('GET', `/v1/api-keys${query}`, { token })).data.map((key: { id: string }) => key.id);
    expect(await list('?purpose=federated')).toContain(id);
    expect(await list('')).not.toContain(id);
  });

  test('is revoked when its rule is disabled, which then gives no more', async () => {
    const workflow = await createWorkflow();
    const secret = await mint(workflow);
    expect((await chat(secret)).status).toBe(200);
    const path = `/v1/service-accounts/${workflow.client_id}/federation-rules/${workflow.federation_rule}`;
    await control.done('PATCH', path, { token: owner.token, body: { status: 'disabled' } });
    expect((await chat(secret)).status).toBe(401);
    expect((await exchange(workflow, await jobToken())).status).toBe(401);
  });

  test('is a 400 with a remedy for a rule that gives none', async () => {
    const workflow = await createWorkflow();
    const path = `/v1/service-accounts/${workflow.client_id}/federation-rules/${workflow.federation_rule}`;
    await control.done('PATCH', path, { token: owner.token, body: { api_key: null } });
    const { status, body } = await exchange(workflow, await jobToken());
    expect([status, body.error, body.error_description]).toEqual([
      400,
      'invalid_target',
      expect.stringContaining("set the rule's 'api_key'"),
    ]);
  });
});

describe('a playground key', () => {
  test('works until it is revoked, and gives its id to the next one, with another secret', async () => {
    const create = () =>
      control.done('POST', '/v1/api-keys', {
        token: owner.token,
        body: { name: 'playground', purpose: 'playground', expires_in_seconds: 60 },
      });
    const first = await create();
    expect((await chat(first.secret)).status).toBe(200);
    await control.done('DELETE', `/v1/api-keys/${first.id}`, { token: owner.token });
    expect((await chat(first.secret)).status).toBe(401);
    const second = await create();
    expect(second).toMatchObject({ id: first.id, purpose: 'playground', last_used_at: null });
    expect((await chat(second.secret)).status).toBe(200);
    expect((await chat(first.secret)).status).toBe(401);
    expect(await run.eventsOf(first.id)).toHaveLength(2);
  });
});
