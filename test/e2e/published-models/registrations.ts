import { beforeAll, expect, test } from '@jest/globals';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { forgetModels } from '../../support/faults/fault-table/new-environments.ts';
import { ALWAYS_PUBLISHED, publishedModels } from './run.ts';

let run: TestRun;
let control: Control;
let admin: SignedIn;
let organization: string;
let owner: SignedIn;
let stranger: SignedIn;
beforeAll(async () => {
  run = await publishedModels.start();
  control = controlOf(run);
  admin = await control.asAdmin();
  ({ id: organization } = await control.createOrganization());
  owner = await control.createUser({ role: 'owner', organization });
  stranger = await control.createUser({ role: 'owner', organization: (await control.createOrganization('Other')).id });
});

const target = { endpoint: 'sluice-tiny', component: 'sluice-tiny-1', container_model: 'sluice-tiny' };
const registration = (fields: object) => ({
  dialect: 'sluice',
  context_length: 4_096,
  max_output_tokens: 1_024,
  default_output_tokens: 64,
  targets: [target],
  prices: [{ per_million: { prompt: '0.1', completion: '0.4' } }],
  ...fields,
});
const register = (fields: object) => control.call('POST', '/v1/models', { token: admin.token, body: registration(fields) });
const get = (path: string, { token } = admin) => control.call('GET', path, { token });

test('a shared model with a tokenizer is registered after a check that it counts as its container does', async () => {
  const tiny = await run.models.get(SERVERLESS_POOL, run.model);
  const { status, body } = await register({ name: 'team/counted', tokenizer: tiny?.tokenizer });
  const detail = expect.stringMatching(/^The tokenizer counted \d+ tokens in a conversation with one short message/);
  expect([status, body.report.tokenizer]).toEqual([201, { passed: true, detail }]);
});

test('a shared model is registered, published, called, given a new price, deprecated and deleted', async () => {
  const { status, body } = await register({ name: 'team/tiny' });
  expect([status, body.status, body.report.passed]).toEqual([201, 'unpublished', true]);
  const proposed = expect.stringContaining('Set capabilities.structured_outputs');
  expect([body.capabilities.structured_outputs, body.report.structured_outputs]).toEqual([false, { works: true, detail: proposed }]);
  expect(body.report.targets[0].checks.map(({ name, passed }: { name: string; passed: boolean }) => [name, passed])).toEqual([
    ['exists', true],
    ['tagged', true],
    ['in_service', true],
    ['answers', true],
  ]);
  expect((await get('/v1/models/team/tiny', owner)).status).toBe(404);
  await control.done('PATCH', '/v1/models/team/tiny', { token: admin.token, body: { status: 'published' } });
  const seen = (await get('/v1/models/team%2Ftiny', owner)).body;
  expect(seen).toMatchObject({ name: 'team/tiny', organization: null, pricing: { prompt: '0.0000001', completion: '0.0000004' } });
  expect(seen).not.toHaveProperty('targets');

  const { secret } = await control.done('POST', '/v1/api-keys', { token: owner.token, body: { name: 'k', models: ['team/tiny'] } });
  await forgetModels(run);
  const chat = await fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'team/tiny', max_tokens: 4, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect([chat.status, ((await chat.json()) as { model: string }).model]).toEqual([200, 'team/tiny']);

  const price = { model: 'team/tiny', effective_at: 4_000_000_000, per_million: { prompt: '0.2', completion: '0.8' } };
  await control.done('POST', '/v1/prices', { token: admin.token, body: price });
  const { pricing } = (await get('/v1/pricing/serverless', owner)).body;
  expect(pricing.map(({ model }: { model: string }) => model)).toEqual([...ALWAYS_PUBLISHED, 'team/tiny']);
  expect(pricing.at(-1)).toMatchObject({ prompt: '0.0000001', next: { effective_at: 4_000_000_000 } });

  const deprecation = { deprecated_at: 1_800_000_000, sunset_at: 1_900_000_000, successor: 'sluice-tiny' };
  const deprecated = await control.done('PATCH', '/v1/models/team/tiny', { token: admin.token, body: { deprecation } });
  expect(deprecated.deprecation).toEqual(deprecation);
  expect((await control.call('DELETE', '/v1/models/team/tiny', { token: admin.token })).body.error.code).toBe('model_published');
  await control.done('PATCH', '/v1/models/team/tiny', { token: admin.token, body: { status: 'unpublished' } });
  expect((await control.call('DELETE', '/v1/models/team/tiny', { token: admin.token })).status).toBe(204);
  expect((await get('/v1/models/team/tiny')).status).toBe(404);
});

test('a model whose endpoint does not exist is not stored, and the error says why', async () => {
  const { status, body } = await register({ name: 'nowhere', targets: [{ endpoint: 'no-such-endpoint' }] });
  expect([status, body.error.code]).toEqual([409, 'checks_failed']);
  expect(body.error.message).toContain('no-such-endpoint');
  expect((await get('/v1/models/nowhere')).status).toBe(404);
  const accepted = await register({ name: 'nowhere', targets: [{ endpoint: 'no-such-endpoint' }], accept_failed_checks: true });
  expect([accepted.status, accepted.body.report.passed]).toEqual([201, false]);
  const again = await control.done('POST', '/v1/model-checks', { token: admin.token, body: { model: 'nowhere' } });
  expect(again.passed).toBe(false);
});

test('a deployment is invisible to other organizations', async () => {
  expect((await register({ name: 'served-name', organization, status: 'published' })).status).toBe(201);
  expect((await get('/v1/models/served-name', owner)).body).toMatchObject({ organization, status: 'published' });
  expect((await get('/v1/models', owner)).body.data.map(({ name }: { name: string }) => name)).toContain('served-name');
  expect((await get('/v1/models', stranger)).body.data.map(({ name }: { name: string }) => name)).not.toContain('served-name');
  expect((await get('/v1/models/served-name', stranger)).status).toBe(404);
  expect((await get(`/v1/models/served-name?organization=${organization}`, stranger)).status).toBe(404);
  const entries = (await get('/v1/audit-log', owner)).body.data;
  expect(entries[0]).toMatchObject({ action: 'model.registered', target: { type: 'model', id: expect.stringContaining('served-name') } });
  expect(JSON.stringify(entries[0])).not.toContain('arn:');
  const { pricing } = (await get('/v1/pricing/serverless', owner)).body;
  expect(pricing.map(({ model }: { model: string }) => model)).not.toContain('served-name');
});

test('one of two changes with the same ETag succeeds, and the other returns 412', async () => {
  await register({ name: 'contended' });
  const { headers } = await get('/v1/models/contended');
  const change = (default_output_tokens: number) =>
    control.call('PATCH', '/v1/models/contended', {
      token: admin.token,
      body: { default_output_tokens },
      headers: { 'if-match': headers.get('etag') as string },
    });
  expect((await Promise.all([change(32), change(16)])).map(({ status }) => status).sort()).toEqual([200, 412]);
});
