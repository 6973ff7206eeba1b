import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import type { DeploymentResource } from '../../../../functions/control/deployments/deployment-resource.ts';
import { DeploymentUpdate } from '../../../../functions/control/deployments/new-deployment.ts';
import { publishDeployment } from '../../../../functions/control/deployments/publish-deployment.ts';
import { updateDeployment } from '../../../../functions/control/deployments/update-deployment.ts';
import { createRuntime } from '../../../../functions/control/runtimes/manage-runtimes.ts';
import { NewRuntime } from '../../../../functions/control/runtimes/runtime.ts';
import { Serving } from '../../../../shared/deployments/deployment.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { newDeployment } from '../../../support/fixtures/deployments.ts';
import { type ManagedDeployments, NOW_MS, useManagedDeployments } from '../../../support/fixtures/managed-deployments.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const TOKENIZER = { tokenizer: `sha256/${'a'.repeat(64)}/tokenizer.json` };
const EMBEDDING = { dimensions: 768, is_shortenable: false };
const EMBED = { task: 'embed', embedding: EMBEDDING } as const;

let emulator: TestDatabase;
let managed: ManagedDeployments;
let organization: string;
let owner: Actor;
useManagedDeployments((tenant) => {
  ({ emulator, managed, organization, owner } = tenant);
});

const create = (fields: object) => managed.create(owner, fields);
const update = (id: string, fields: object): Promise<DeploymentResource> =>
  updateDeployment(managed.deps, owner, { id, expected: undefined }, DeploymentUpdate.parse(fields));
const addRuntime = async (dialect: string): Promise<string> => {
  const id = `${dialect.replaceAll('_', '-')}-${newId('key').slice(-8).toLowerCase()}`;
  const image = '123456789012.dkr.ecr.us-east-1.amazonaws.com/team/runtime:1.8.2';
  await createRuntime(managed.deps, managed.admin, NewRuntime.parse({ id, image, dialect }));
  return id;
};

test('a deployment generates text unless it has another task', async () => {
  expect(await create({})).toMatchObject({ task: 'generate', embedding: null, max_output_tokens: 4_096, capabilities: { tools: true } });
});

test('a deployment that embeds or ranks has no output and no abilities of chat', async () => {
  const noText = {
    max_output_tokens: null,
    default_output_tokens: null,
    context_length: 8_192,
    capabilities: { tools: false, logprobs: false },
  };
  expect(await create({ ...EMBED, name: 'embed' })).toMatchObject({ task: 'embed', embedding: EMBEDDING, ...noText });
  expect(await create({ task: 'rerank', name: 'rerank' })).toMatchObject({ task: 'rerank', embedding: null, ...noText });
});

test.each<[string, object, string]>([
  ['vectors without a size', { task: 'embed' }, 'embedding'],
  ['vectors of a deployment that ranks', { task: 'rerank', embedding: EMBEDDING }, 'embedding'],
  ['vectors of a deployment that generates text', { embedding: EMBEDDING }, 'embedding'],
  ['output tokens of a deployment that embeds', { ...EMBED, max_output_tokens: 5 }, 'max_output_tokens'],
  ['default output tokens of a deployment that ranks', { task: 'rerank', default_output_tokens: 5 }, 'default_output_tokens'],
])('a creation rejects %s', async (_, fields, param) => {
  await expect(create(fields)).rejects.toMatchObject({ status: 400, param });
  expect(managed.asked).toEqual([]);
});

test('a runtime must be able to do the task', async () => {
  const [llama, tei] = [await addRuntime('llama_cpp'), await addRuntime('tei')];
  await expect(create({ ...EMBED, runtime: llama })).rejects.toMatchObject({
    status: 400,
    param: 'runtime',
    message: `Invalid value for 'runtime': expected a runtime whose dialect has the task 'embed'; '${llama}' has the dialect 'llama_cpp'. GET /v1/runtimes shows the dialects.`,
  });
  await expect(create({ runtime: tei, tokenizer: TOKENIZER })).rejects.toMatchObject({ status: 400, param: 'runtime' });
  const { id } = await create(EMBED);
  await expect(update(id, { runtime: llama })).rejects.toMatchObject({ status: 400, param: 'runtime' });
});

test('a deployment on Text Embeddings Inference needs its tokenizer, which counts a text', async () => {
  const runtime = await addRuntime('tei');
  await expect(create({ ...EMBED, runtime })).rejects.toMatchObject({ status: 400, param: 'tokenizer' });
  const { id } = await create({ ...EMBED, runtime, tokenizer: TOKENIZER });
  // A chat template would render a conversation.
  expect(managed.counted).toEqual([]);
  await expect(update(id, { tokenizer: null })).rejects.toMatchObject({ status: 400, param: 'tokenizer' });
});

test('an update can change the vectors, and never the task', async () => {
  const { id } = await create(EMBED);
  expect(await update(id, { embedding: { dimensions: 1_024 } })).toMatchObject({ embedding: { dimensions: 1_024 }, task: 'embed' });
  expect(await update(id, { context_length: 512 })).toMatchObject({ context_length: 512, embedding: { dimensions: 1_024 } });
  await expect(update(id, { max_output_tokens: 5 })).rejects.toMatchObject({ status: 400, param: 'max_output_tokens' });
  await expect(update(id, { capabilities: { tools: true } })).rejects.toMatchObject({ status: 400, param: 'capabilities.tools' });
  expect(DeploymentUpdate.safeParse({ task: 'generate' }).success).toBe(false);
  const text = await create({ name: 'text' });
  await expect(update(text.id, { embedding: EMBEDDING })).rejects.toMatchObject({ status: 400, param: 'embedding' });
});

test('a shared model that is made of it has the same task', async () => {
  const { id } = await create(EMBED);
  await managed.observe(id, (before) => ({ ...before, state: 'in_service' }));
  const { name, serving } = await managed.stored(id);
  await emulator.models.put(organization, {
    ...serving,
    name,
    status: 'published',
    created: 1,
    targets: [{ endpoint: 'e' }],
    deployment: { id, is_ready: true },
    prices: [{ version: 'price_1', effective_at: 0, prompt_nanos: 0, completion_nanos: 0 }],
  });
  const prices = [{ per_million: { prompt: '0.02', completion: '0' }, effective_at: NOW_MS / 1_000 }];
  const shared = `shared-${newId('key').slice(-8)}`;
  const publication = { name: shared, prices, accept_failed_checks: false };
  await publishDeployment(managed.deps, managed.admin, { id, expected: undefined }, publication);
  expect(await emulator.models.get(SERVERLESS_POOL, shared)).toMatchObject({ task: 'embed', embedding: EMBEDDING });
});

test('a creation that the last release has made can be repeated', async () => {
  const { id } = await create({});
  const { task: _, ...body } = managed.bodyOf(owner, { organization });
  const sorted = JSON.stringify({ ...body, validate_only: false }, (__, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  const hash = createHash('sha256').update(sorted).digest('base64url');
  expect(await managed.stored(id)).toMatchObject({ creation_hash: hash });
});

test('a row of the last release generates text', () => {
  const { task: _, ...serving } = newDeployment({ organization }).serving;
  expect(Serving.parse(serving).task).toBe('generate');
});
