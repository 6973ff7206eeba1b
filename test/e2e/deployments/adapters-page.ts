import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import type { RecordedRequest } from '../../../infra/local/model-server/replies/recorded-requests.ts';
import { costNanos } from '../../../shared/prices/price.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { type Control, controlOf } from '../../support/clients/control.ts';
import { eventually } from '../../support/eventually.ts';
import { adapterFiles } from '../../support/fixtures/adapters/adapter-files.ts';
import { deploymentsOf } from '../../support/fixtures/deployments.ts';
import { type DeploymentsWalk, deploymentsWalk } from './walk.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../docs/adapters.md');
const USER = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const TIMES = { instance_ms: SECOND_MS, download_ms: SECOND_MS / 2, load_ms: SECOND_MS / 2, release_ms: SECOND_MS };
const ADAPTER_HEADER = 'x-amzn-sagemaker-adapter-identifier';
// The steps of the page after which the test acts, and their number.
const STEPS = { priced: 1, surcharge: 6, woken: 8, all: 9 } as const;
// The deployment of the page sleeps a minute after its last request, and a deletion is proven after three quarters.
const IDLE_SECONDS = 60;
const PROOF_SECONDS = 50;
// As on the page, in nano-dollars per million tokens.
const SURCHARGE = { version: '', effective_at: 0, prompt_nanos: 10_000_000_000, completion_nanos: 40_000_000_000 };

const TIMEOUT_MS = 240 * SECOND_MS;

let walk: DeploymentsWalk;
let control: Control;
let s3: S3Client;

const upload = (key: string, Body: Buffer | string) => s3.send(new PutObjectCommand({ Bucket: walk.run.buckets.Weights, Key: key, Body }));
const written = (file: string) => JSON.parse(readFileSync(path.join(walk.folder, '.sluice/walk', file), 'utf8'));

interface Tenant {
  id: string;
  organization: string;
  token: string;
  secret: string;
}

const clientOf = ({ id, token, secret }: Tenant) => {
  const client = new OpenAI({
    baseURL: `${walk.run.ondemand_url}/v1`,
    apiKey: secret,
    maxRetries: 0,
    defaultHeaders: { 'x-user-id': USER },
  });
  const adapters = `/v1/deployments/${id}/adapters`;
  return {
    adapters,
    add: (name: string, source: string) => control.done('POST', adapters, { token, body: { name, source } }),
    stateOf: async (adapter: string): Promise<string> => (await control.done('GET', `${adapters}/${adapter}`, { token })).state,
    isInService: async () => (await control.done('GET', `/v1/deployments/${id}`, { token })).state === 'in_service',
    ask: async (model: string, fields: object = {}) => {
      const messages = [{ role: 'user' as const, content: 'What is a weir?' }];
      const reply = await client.chat.completions.create({ model, messages, max_tokens: 96, temperature: 0, ...fields } as never);
      return reply as OpenAI.ChatCompletion;
    },
    /** The status of a message with fallbacks. */
    message: async (model: string, fallbacks: readonly string[]): Promise<number> => {
      const body = {
        model,
        max_tokens: 8,
        messages: [{ role: 'user', content: 'Hi' }],
        fallbacks: fallbacks.map((name) => ({ model: name })),
      };
      const headers = { 'content-type': 'application/json', 'x-api-key': secret, 'anthropic-version': '2023-06-01', 'x-user-id': USER };
      return (await fetch(`${walk.run.ondemand_url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) })).status;
    },
    usedModels: async (): Promise<string[]> => (await client.models.list()).data.map(({ id: listed }) => listed),
  };
};
type TenantClient = ReturnType<typeof clientOf>;

const newTenant = async (): Promise<Tenant> => {
  const { id: organization } = await control.createOrganization();
  const { token } = await control.createUser({ role: 'owner', organization });
  await upload(`${organization}/tiny/config.json`, '{}');
  for (const [file, content] of Object.entries(adapterFiles(8))) await upload(`${organization}/legal/${file}`, content);
  const body = {
    name: 'other',
    model: `s3://${walk.run.buckets.Weights}/${organization}/tiny/`,
    runtime: 'vllm-0.27.1',
    instance_types: ['ml.g5.xlarge'],
    scale_to_zero_after_seconds: null,
    adapters: { max_rank: 16, max_loaded: 2 },
  };
  const { id } = await control.done('POST', '/v1/deployments', { token, body });
  const { secret } = await walk.run.createKey({ org: organization, scope: 'on_demand', concurrency: 16 });
  return { id, organization, token, secret };
};

const textOf = ({ choices }: OpenAI.ChatCompletion): string => choices[0]?.message.content ?? '';
// Environments know the models of an organization for 30 s.
const answers = ({ ask }: Pick<TenantClient, 'ask'>, model: string): Promise<boolean> =>
  ask(model).then(
    () => true,
    () => false,
  );
interface OnAws {
  inference_components: { name: string }[];
  endpoints: unknown[];
}
const onAws = async (): Promise<OnAws> => (await (await fetch(`${walk.run.sagemaker_url}/control/deployments`)).json()) as OnAws;
const componentsOf = async (id: string): Promise<string[]> => {
  const { inference_components } = await onAws();
  return inference_components.map(({ name }) => name).filter((name) => name.includes(id.slice('dep_'.length)));
};
const componentOf = async ({ id }: Tenant, adapter: string): Promise<string> =>
  (await componentsOf(id)).find((name) => name.endsWith(adapter.slice('lora_'.length))) as string;

// The invocations that containers get meanwhile, as they arrive.
const recorded = async (act: () => Promise<void>): Promise<RecordedRequest[]> => {
  const urls = (await (await fetch(`${walk.run.sagemaker_url}/control/containers`)).json()) as string[];
  for (const url of urls) await fetch(`${url}/control/requests`, { method: 'PUT' });
  await act();
  const requests = await Promise.all(urls.map(async (url) => (await (await fetch(`${url}/control/requests`)).json()) as RecordedRequest[]));
  for (const url of urls) await fetch(`${url}/control/requests`, { method: 'DELETE' });
  return requests.flat().filter(({ path: called }) => called === '/invocations');
};

// Each container gets the names of its own components, and nothing of what callers and owners call them.
const checkNames = async (ours: Tenant, component: string, theirs: Tenant, otherComponent: string): Promise<void> => {
  const [own, other] = [clientOf(ours), clientOf(theirs)];
  const wire = await recorded(async () => {
    const [adapted, plain, smuggled] = [
      await own.ask('legal'),
      await own.ask('tiny'),
      // Nothing in the body names an adapter to the container.
      await own.ask('tiny', { adapter: component, lora_request: { name: component }, lora_name: component }),
    ];
    expect([adapted.model, textOf(adapted).startsWith(`${component}: `)]).toEqual(['legal', true]);
    expect([textOf(plain), textOf(smuggled)]).toEqual([textOf(smuggled), expect.not.stringContaining(component)]);
    // As a fallback it isn't needed.
    expect((await own.ask('tiny', { models: ['tiny', 'legal'] })).model).toBe('tiny');
    // Neither its name nor that of its component is a model of another organization.
    for (const model of [component, 'tiny', 'none', `other:${component}`])
      await expect(other.ask(model)).rejects.toMatchObject({ status: 404 });
    for (const model of ['secret', otherComponent]) {
      await expect(own.ask(model)).rejects.toMatchObject({ status: 404 });
      await expect(own.ask('legal', { models: ['legal', model] })).rejects.toMatchObject({ status: 404 });
      expect(await own.message('legal', [model])).toBe(404);
    }
  });
  const base = component.slice(0, component.lastIndexOf('-'));
  const sent = wire.map(({ headers, body }) => [JSON.parse(body).model, headers[ADAPTER_HEADER]]);
  expect(sent).toEqual([[component, component], ...Array.from({ length: 3 }, () => ['tiny', undefined])]);
  for (const { body } of wire)
    for (const name of ['secret', 'legal', otherComponent, base]) expect(body.replaceAll(component, '')).not.toContain(name);
};

// The page's deployment is awake, with an adapter and a surcharge.
const actAsOthers = async (theirs: Tenant, token: string): Promise<void> => {
  const { id: organization } = written('organization.json');
  const ours: Tenant = { id: written('deployment.json').id, organization, token, secret: written('key.json').secret };
  const adapter = written('adapter.json').id as string;
  const component = await componentOf(ours, adapter);
  const other = clientOf(theirs);
  await eventually(other.isInService, 'the other deployment is in service');
  // Both can use one name.
  const source = `s3://${walk.run.buckets.Weights}/${theirs.organization}/legal/`;
  const [same, secret] = [await other.add('legal', source), await other.add('secret', source)];
  for (const { id } of [same, secret]) await eventually(async () => (await other.stateOf(id)) === 'ready', 'the other adapter is ready');
  for (const name of ['legal', 'secret']) await eventually(() => answers(other, name), 'the other adapter answers');
  expect(textOf(await other.ask('legal'))).not.toContain(component);
  await checkNames(ours, component, theirs, await componentOf(theirs, secret.id));

  const own = clientOf(ours);
  expect(await own.usedModels()).toContain('legal');
  expect((await control.call('GET', `${own.adapters}/${adapter}`, { token: theirs.token })).status).toBe(404);
  // The owner can't use files of another organization.
  const stolen = await control.call('POST', own.adapters, { token, body: { name: 'stolen', source } });
  expect(stolen).toMatchObject({ status: 400 });
};

const expectCharge = (): void => {
  const { usage, cost } = written('request.json');
  const { input_tokens: promptTokens, output_tokens: completionTokens } = usage;
  expect(completionTokens).toBeGreaterThan(0);
  expect(BigInt(Math.round(Number(cost.total) * 1e9))).toBe(costNanos(SURCHARGE, { promptTokens, completionTokens }));
};

const isEmpty = async (): Promise<boolean> => {
  const { database, tables } = walk.run;
  const row = await deploymentsOf({ database, tables }).find(written('deployment.json').id);
  return row?.adapters?.[0]?.empty_since !== undefined;
};
const skipProof = async (): Promise<void> => {
  await eventually(isEmpty, 'nothing is left of the adapter', TIMEOUT_MS);
  await walk.skip(PROOF_SECONDS);
};

// Into the row of the adapter, before the deployment sleeps.
const waitForSurcharge = async (): Promise<void> => {
  const { id: organization } = written('organization.json');
  const isPriced = async () => ((await walk.run.models.list(organization)).get('legal')?.prices.length ?? 0) > 1;
  await eventually(isPriced, 'the surcharge is in the row of the adapter');
};

describe('the page about adapters', () => {
  beforeAll(async () => {
    walk = await deploymentsWalk.start();
    await walk.setTimes(TIMES);
    control = controlOf(walk.run);
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    s3 = new S3Client({ region: 'us-east-1', endpoint: walk.run.s3_endpoint, forcePathStyle: true, credentials });
  });
  afterAll(() => s3.destroy());

  test(
    'the commands in docs/adapters.md print what they show; names reach only their own container',
    async () => {
      let step = 0;
      let theirs: Tenant | undefined;
      let ownerToken = '';
      let proven: Promise<void> | undefined;
      const act = async (): Promise<void> => {
        step++;
        if (step === STEPS.priced) {
          theirs = await newTenant();
          ownerToken = (await control.createUser({ role: 'owner', organization: written('organization.json').id })).token;
        }
        if (step === STEPS.surcharge) {
          await waitForSurcharge();
          await walk.skip(IDLE_SECONDS);
        }
        if (step !== STEPS.woken) return;
        expectCharge();
        await actAsOthers(theirs as Tenant, ownerToken);
        proven = skipProof();
        // If a step fails, nobody waits for it.
        proven.catch(() => undefined);
      };
      expect(await walk.follow(DOCUMENT, {}, act)).toBe(STEPS.all);
      await proven;

      const { id, token } = theirs as unknown as Tenant;
      await control.done('DELETE', `/v1/deployments/${id}`, { token });
      for (const each of [written('deployment.json').id, id])
        await eventually(async () => (await componentsOf(each)).length === 0, 'nothing of a deployment is left');
      // The next page says how many instances are left of the quota.
      await eventually(async () => (await onAws()).endpoints.length === 0, 'no endpoint is left');
    },
    TIMEOUT_MS,
  );
});
