import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { type Control, controlOf } from '../../support/clients/control.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { adapterFiles } from '../../support/fixtures/adapters/adapter-files.ts';

const USER = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const TIMES = { instance_ms: SECOND_MS, download_ms: SECOND_MS / 2, load_ms: SECOND_MS / 2, release_ms: SECOND_MS };

let run: TestRun;
let control: Control;
let s3: S3Client;
beforeAll(async () => {
  run = await startTestRun('--queue-delay-ms', '500', '--batch-window-ms', '200', '--schedule-ms', '1500');
  await fetch(`${run.sagemaker_url}/control/deployments`, { method: 'PUT', body: JSON.stringify({ times: TIMES }) });
  control = controlOf(run);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  s3 = new S3Client({ region: 'us-east-1', endpoint: run.s3_endpoint, forcePathStyle: true, credentials });
  const { token } = await control.asAdmin();
  await control.done('POST', '/v1/instance-types/ml.g5.xlarge/prices', { token, body: { per_hour: '1.41' } });
});
afterAll(async () => {
  s3.destroy();
  await run.close();
});

const upload = (key: string, Body: Buffer | string) => s3.send(new PutObjectCommand({ Bucket: run.buckets.Weights, Key: key, Body }));

const newTenant = async (name: string) => {
  const { id: organization } = await control.createOrganization();
  const { token } = await control.createUser({ role: 'owner', organization });
  await upload(`${organization}/tiny/config.json`, '{}');
  for (const [file, content] of Object.entries(adapterFiles(8))) await upload(`${organization}/legal/${file}`, content);
  const folder = `s3://${run.buckets.Weights}/${organization}`;
  const body = {
    name,
    model: `${folder}/tiny/`,
    runtime: 'vllm-0.27.1',
    instance_types: ['ml.g5.xlarge'],
    adapters: { max_rank: 16, max_loaded: 2 },
  };
  const { id } = await control.done('POST', '/v1/deployments', { token, body });
  const key = await run.createKey({ org: organization, scope: 'on_demand', concurrency: 16 });
  const client = new OpenAI({
    baseURL: `${run.ondemand_url}/v1`,
    apiKey: key.secret,
    maxRetries: 0,
    defaultHeaders: { 'x-user-id': USER },
  });
  const path = `/v1/deployments/${id}/adapters`;
  return {
    path,
    id,
    organization,
    token,
    add: (served: string, source = `${folder}/legal/`) => control.done('POST', path, { token, body: { name: served, source } }),
    stateOf: async (adapter: string): Promise<string> => (await control.done('GET', `${path}/${adapter}`, { token })).state,
    isInService: async () => (await control.done('GET', `/v1/deployments/${id}`, { token })).state === 'in_service',
    ask: async (model: string, fields: object = {}) => {
      const messages = [{ role: 'user' as const, content: 'What is a weir?' }];
      const reply = await client.chat.completions.create({ model, messages, max_tokens: 96, temperature: 0, ...fields } as never);
      return reply as OpenAI.ChatCompletion;
    },
    usedModels: async (): Promise<string[]> => (await client.models.list()).data.map(({ id: listed }) => listed),
  };
};
const textOf = ({ choices }: OpenAI.ChatCompletion): string => choices[0]?.message.content ?? '';
// Environments know the models of an organization for 30 s.
const answers = ({ ask }: Pick<Awaited<ReturnType<typeof newTenant>>, 'ask'>): Promise<boolean> =>
  ask('legal').then(
    () => true,
    () => false,
  );
const componentsOf = async (id: string): Promise<string[]> => {
  const reply = await fetch(`${run.sagemaker_url}/control/deployments`);
  const { inference_components } = (await reply.json()) as { inference_components: { name: string }[] };
  return inference_components.map(({ name }) => name).filter((name) => name.includes(id.slice('dep_'.length)));
};

test('an adapter answers under its own name, only for its organization, and is deleted without a trace', async () => {
  const [ours, theirs] = await Promise.all([newTenant('tiny'), newTenant('other')]);
  await eventually(ours.isInService, 'the deployment is in service');
  const legal = await ours.add('legal');
  expect(legal).toMatchObject({ object: 'adapter', deployment: ours.id, name: 'legal', state: 'pending' });
  await eventually(async () => (await ours.stateOf(legal.id)) === 'ready', 'the adapter is ready');
  await eventually(() => answers(ours), 'the adapter answers');
  await eventually(async () => (await ours.usedModels()).includes('legal'), 'the adapter is listed');

  const [component] = (await componentsOf(ours.id)).filter((name) => name.endsWith(legal.id.slice('lora_'.length)));
  const [adapted, plain, smuggled] = [
    await ours.ask('legal'),
    await ours.ask('tiny'),
    // Nothing in the body names an adapter to the container.
    await ours.ask('tiny', { adapter: component, lora_request: { name: component }, lora_name: component }),
  ];
  expect(adapted.model).toBe('legal');
  expect(textOf(adapted)).toMatch(new RegExp(`^${component}: `));
  expect([textOf(plain), textOf(smuggled)]).toEqual([textOf(smuggled), expect.not.stringContaining(component as string)]);

  // Neither its name nor that of its component is a model of another organization.
  await eventually(theirs.isInService, 'the other deployment is in service');
  for (const model of ['legal', component as string, `other:${component}`])
    await expect(theirs.ask(model)).rejects.toMatchObject({ status: 404 });
  expect((await control.call('GET', `${ours.path}/${legal.id}`, { token: theirs.token })).status).toBe(404);
  // Both can use one name.
  const same = await theirs.add('legal');
  await eventually(async () => (await theirs.stateOf(same.id)) === 'ready', 'the other adapter is ready');
  await eventually(() => answers(theirs), 'the other adapter answers');
  expect(textOf(await theirs.ask('legal'))).not.toContain(component);

  // The owner can't use files of another organization.
  const foreign = await control.call('POST', ours.path, {
    token: ours.token,
    body: { name: 'stolen', source: `s3://${run.buckets.Weights}/${theirs.organization}/legal/` },
  });
  expect(foreign.status).toBe(400);

  await control.done('DELETE', `${ours.path}/${legal.id}`, { token: ours.token });
  await eventually(async () => !(await componentsOf(ours.id)).includes(component as string), 'its component is gone');
  await eventually(async () => !(await ours.usedModels()).includes('legal'), 'it is no longer listed');
  await control.done('DELETE', `/v1/deployments/${theirs.id}`, { token: theirs.token });
  await eventually(async () => (await componentsOf(theirs.id)).length === 0, 'nothing of the other deployment is left');
}, 180_000);
