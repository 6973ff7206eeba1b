import { beforeAll, describe, expect, test } from '@jest/globals';
import { VECTOR_DIMENSIONS } from '../../../infra/local/model-server/vectors/vectors.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { createDeploymentStore, type DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { inferenceHostRoutes } from '../../../shared/hosts/inference-routes.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { Control } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { deploymentRun, setTransitions, uploadWeights } from './run.ts';

const { createChatCompletion, createEmbeddings, createRerank } = inferenceHostRoutes;
const CALLERS = 200;
// More requests than can be held: 50 is the default of `maxHeldRequests`.
const WAITING = 60;
const HELD = 50;
const FAST = { instance_ms: SECOND_MS, download_ms: 200, load_ms: 200, release_ms: 200 };
// Long enough for all callers to send their requests while the deployment wakes.
const SLOW = { instance_ms: 8 * SECOND_MS, download_ms: SECOND_MS, load_ms: SECOND_MS, release_ms: 200 };
const USER = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';

let run: TestRun;
let control: Control;
let deployments: DeploymentStore;
let ours: Tenant;
let theirs: Tenant;
let lent: Tenant;
const find = async (id: string): Promise<Deployment> => (await deployments.find(id)) as Deployment;
const isIn = (state: Deployment['state'], id: string) => async (): Promise<boolean> => (await find(id)).state === state;

// The deployment then looks as if nobody had used it for an hour.
const leaveAlone = async (id: string): Promise<void> => {
  const left = { last_used_at: Date.now() - 3_600 * SECOND_MS };
  await eventually(async () => {
    const write = deployments.toReplace({ ...(await find(id)), ...left });
    return transact(run.database, [write]).then(
      () => true,
      () => false,
    );
  }, 'the deployment looks unused');
};

const fallAsleep = async (id: string): Promise<void> => {
  await leaveAlone(id);
  await eventually(isIn('scaled_to_zero', id), 'the deployment is asleep');
};

interface Tenant {
  id: string;
  key: Awaited<ReturnType<TestRun['createKey']>>;
}

const newTenant = async (name: string, fields: object = {}): Promise<Tenant> => {
  const { id: organization } = await control.createOrganization();
  const { token } = await control.createUser({ role: 'owner', organization });
  const body = { name, ...(await uploadWeights(run, organization)), scale_to_zero_after_seconds: 60, ...fields };
  const { id } = await control.done('POST', '/v1/deployments', { token, body });
  await eventually(isIn('in_service', id), 'the deployment is in service');
  return { id, key: await run.createKey({ org: organization, scope: 'on_demand', concurrency: 256 }) };
};

const callOnDemand = (path: string, { secret }: Tenant['key'], body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${run.ondemand_url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'x-user-id': USER, ...headers },
    body: JSON.stringify(body),
  });

describe('deployments', () => {
  beforeAll(async () => {
    ({ run, control } = await deploymentRun.start());
    await setTransitions(run, SLOW);
    deployments = createDeploymentStore(createRecordTable(run.database, run.tables.Deployments as string));
    const { token } = await control.asAdmin();
    [ours, theirs, lent] = await Promise.all([newTenant('tiny'), newTenant('tiny'), newTenant('lent')]);
    const body = { name: 'lent', prices: [{ per_million: { prompt: '0.1', completion: '0.4' } }] };
    await control.done('POST', `/v1/deployments/${lent.id}/publish`, { token, body });
    await Promise.all([ours, theirs, lent].map(({ id }) => fallAsleep(id)));
  });

  test(`${CALLERS} callers wake only their own deployment, once; ${HELD} wait for answers, others get a 503`, async () => {
    const finished: number[] = [];

    /** Asks with a prompt of its own length, so that each answer's count of tokens says whose it is. */
    const ask = async (words: number) => {
      const response = await fetch(`${run.ondemand_url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${ours.key.secret}`,
          'content-type': 'application/json',
          'x-user-id': USER,
          ...(words <= WAITING && { 'x-wait-for-capacity': '120' }),
        },
        body: JSON.stringify({ model: 'tiny', max_tokens: 2, messages: [{ role: 'user', content: ' river'.repeat(words) }] }),
      });
      const body = (await response.json()) as { usage?: { prompt_tokens: number }; error?: { code: string; wake: object } };
      finished.push(response.status);
      return { words, status: response.status, retryAfter: Number(response.headers.get('retry-after')), ...body };
    };
    const answers = await Promise.all(Array.from({ length: CALLERS }, (_, i) => ask(i + 1)));
    await setTransitions(run, FAST);

    const answered = answers.filter(({ status }) => status === 200);
    expect(answered).toHaveLength(HELD);
    for (const { words } of answered) expect(words).toBeLessThanOrEqual(WAITING);
    const [first] = answered;
    for (const { words, usage } of answered)
      expect(usage?.prompt_tokens).toBe((first?.usage?.prompt_tokens ?? 0) + words - (first?.words ?? 0));

    const rejected = answers.filter(({ status }) => status !== 200);
    for (const { status, error, retryAfter } of rejected) {
      expect({ status, code: error?.code }).toEqual({ status: 503, code: 'deployment_waking' });
      expect(retryAfter).toBeGreaterThan(0);
    }
    // At once: before the first of those that waited was answered.
    expect(finished.indexOf(200)).toBe(CALLERS - HELD);

    const wakes = async (id: string): Promise<number> => (await find(id)).transitions.filter(({ state }) => state === 'waking').length;
    expect(await wakes(ours.id)).toBe(1);
    expect(await wakes(theirs.id)).toBe(0);
    expect(await find(theirs.id)).toMatchObject({ state: 'scaled_to_zero' });
    // Requests that no capacity was found for cost nothing, and neither organization pays for the other.
    expect(await run.eventsOf(ours.key.key_id)).toHaveLength(CALLERS);
    expect(await run.eventsOf(theirs.key.key_id)).toEqual([]);
  });

  test('a request on the serverless host wakes the deployment that its model is made of, and waits for it', async () => {
    const { secret } = await run.createKey();
    const response = await fetch(`${run.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'x-wait-for-capacity': '120' },
      body: JSON.stringify({ model: 'lent', max_tokens: 2, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ model: 'lent' })]);
    expect((await find(lent.id)).transitions.filter(({ state }) => state === 'waking')).toHaveLength(1);
  });

  test('a request for vectors wakes the deployment that embeds, and one for text says where to send it', async () => {
    const embedding = { dimensions: VECTOR_DIMENSIONS, is_shortenable: true };
    const { id, key } = await newTenant('vectors', { task: 'embed', embedding });
    await fallAsleep(id);
    const embed = { model: 'vectors', input: ['A heron waits.', 'A river flows.'] };
    const reply = await callOnDemand(createEmbeddings.path, key, embed, { 'x-wait-for-capacity': '280' });
    expect([reply.status, await reply.json()]).toMatchObject([200, { data: [{ index: 0 }, { index: 1 }], usage: { prompt_tokens: 14 } }]);
    const chat = await callOnDemand(createChatCompletion.path, key, { model: 'vectors', messages: [{ role: 'user', content: 'Hi' }] });
    expect([chat.status, await chat.json()]).toMatchObject([
      400,
      { error: { code: 'wrong_model_task', message: expect.stringContaining(createEmbeddings.path) } },
    ]);
  });

  test('a deployment on Text Embeddings Inference ranks documents', async () => {
    const { token } = await control.asAdmin();
    const image = '123456789012.dkr.ecr.us-east-1.amazonaws.com/tei:1.8.2';
    await control.done('POST', '/v1/runtimes', { token, body: { id: 'tei-1.8.2', image, dialect: 'tei' } });
    const tokenizer = (await run.models.get(SERVERLESS_POOL, run.model))?.tokenizer;
    const { key } = await newTenant('ranks', { task: 'rerank', runtime: 'tei-1.8.2', tokenizer });
    const documents = ['A heron waits in the reeds.', 'A sluice is a gate that holds water back.'];
    const reply = await callOnDemand(createRerank.path, key, { model: 'ranks', query: 'What holds water back?', documents });
    expect([reply.status, await reply.json()]).toMatchObject([
      200,
      { results: [{ index: 1 }, { index: 0 }], usage: { prompt_tokens: 32 } },
    ]);
  });
});
