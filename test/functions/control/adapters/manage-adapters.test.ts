import { expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { addAdapter, deleteAdapter, listAdapters, retrieveAdapter } from '../../../../functions/control/adapters/manage-adapters.ts';
import { updateDeployment } from '../../../../functions/control/deployments/update-deployment.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { type ManagedDeployments, useManagedDeployments } from '../../../support/fixtures/managed-deployments.ts';

let emulator: TestDatabase;
let managed: ManagedDeployments;
let organization: string;
let owner: Actor;
useManagedDeployments((tenant) => {
  ({ emulator, managed, organization, owner } = tenant);
});

const support = { max_rank: 16, max_loaded: 2 };
const folder = (name = 'legal'): string => `s3://weights/${organization}/${name}`;
const create = async (fields: object = { adapters: support }): Promise<string> => (await managed.create(owner, fields)).id;
const add = (id: string, name = 'legal', source = folder(name), actor = owner) => addAdapter(managed.deps, actor, id, { name, source });

test('is added to a deployment, and queues a pass', async () => {
  const id = await create();
  managed.reconciled.length = 0;
  const adapter = await add(id);
  expect(adapter).toMatchObject({ object: 'adapter', deployment: id, name: 'legal', source: `${folder()}/`, state: 'pending', rank: null });
  expect(managed.reconciled).toEqual([id]);
  expect(await listAdapters(managed.deps, owner, id)).toEqual({ object: 'list', data: [adapter] });
  expect(await retrieveAdapter(managed.deps, owner, { id, adapter: adapter.id })).toEqual(adapter);
});

test('is the same adapter if the request is repeated', async () => {
  const id = await create();
  const adapter = await add(id);
  expect(await add(id)).toEqual(adapter);
  expect((await listAdapters(managed.deps, owner, id)).data).toHaveLength(1);
  await expect(add(id, 'legal', folder('other'))).rejects.toThrow("already has a deployment or an adapter named 'legal'");
});

test('is added or deleted whatever else happens to its deployment at the same moment', async () => {
  const id = await create();
  const [legal, repeated, medical] = await Promise.all([add(id), add(id), add(id, 'medical')]);
  expect(repeated).toEqual(legal);
  const other = add(id, 'tax');
  await Promise.all([
    deleteAdapter(managed.deps, owner, { id, adapter: legal.id }),
    other,
    deleteAdapter(managed.deps, owner, { id, adapter: medical.id }),
  ]);
  const { data } = await listAdapters(managed.deps, owner, id);
  expect(data.map(({ name, state }) => [name, state]).sort()).toEqual([
    ['legal', 'deleting'],
    ['medical', 'deleting'],
    ['tax', 'pending'],
  ]);
});

test('has a name that no deployment, no other adapter and no model of the organization has', async () => {
  const id = await create();
  await expect(add(id, 'qwen')).rejects.toMatchObject({ status: 409 });
  await add(id);
  await expect(managed.create(owner, { name: 'legal' })).rejects.toMatchObject({ status: 409 });
  const model = {
    targets: [{ endpoint: 'e' }] as [{ endpoint: string }],
    prices: [{ version: 'price_1', effective_at: 0, prompt_nanos: 0, completion_nanos: 0 }],
  };
  const sizes = { context_length: 8_192, max_output_tokens: 64, default_output_tokens: 64 };
  await emulator.models.put(organization, { name: 'by-hand', status: 'published', created: 1, ...sizes, ...model });
  await expect(add(id, 'by-hand')).rejects.toMatchObject({ status: 409 });
  expect((await managed.deps.deployments.list(organization, { limit: 100 })).deployments.map(({ name }) => name)).toEqual(['qwen']);
});

test.each(['s3://weights/org_2/legal/', 's3://other/x/', 'Qwen/adapter', `s3://weights/ORG/../org_2/legal/`])(
  'can’t have files outside of its organization’s folder: %s',
  async (source) => {
    const id = await create();
    await expect(add(id, 'legal', source.replace('ORG', organization))).rejects.toMatchObject({ status: 400, param: 'source' });
  },
);

test('needs a deployment whose containers load adapters, and room for it', async () => {
  const plain = await create({});
  await expect(add(plain)).rejects.toMatchObject({ status: 409, code: 'adapters_not_enabled' });
  const id = await create({ name: 'with-adapters', adapters: support });
  for (let i = 0; i < 8; i++) await add(id, `adapter-${i}`);
  await expect(add(id)).rejects.toMatchObject({ status: 409, code: 'too_many_adapters' });
});

test('is deleted by the next passes, and can be deleted again', async () => {
  const id = await create();
  const { id: adapter } = await add(id);
  const deleted = await deleteAdapter(managed.deps, owner, { id, adapter });
  expect(deleted).toMatchObject({ id: adapter, state: 'deleting' });
  expect(await deleteAdapter(managed.deps, owner, { id, adapter })).toEqual(deleted);
  await expect(deleteAdapter(managed.deps, owner, { id, adapter: 'lora_none' })).rejects.toMatchObject({
    status: 404,
    code: 'adapter_not_found',
  });
});

test('is a 404 at another deployment', async () => {
  const id = await create();
  const { id: adapter } = await add(id);
  const other = await create({ name: 'other', adapters: support });
  await expect(retrieveAdapter(managed.deps, owner, { id: other, adapter })).rejects.toMatchObject({ status: 404 });
  await expect(deleteAdapter(managed.deps, owner, { id: other, adapter })).rejects.toMatchObject({ status: 404 });
});

test('keeps its deployment from a generation that could not load it', async () => {
  const id = await create();
  await add(id);
  const row = await managed.deps.deployments.get(organization, id);
  const [generation] = row.generations;
  const adapters = (row.adapters ?? []).map((each) => ({ ...each, state: 'ready' as const, packed: { rank: 16, bytes: 1 } }));
  const ready = {
    ...row,
    state: 'in_service' as const,
    adapters,
    generations: [{ ...generation, status: 'ready' as const }] as typeof row.generations,
  };
  await transact(emulator.database, [managed.deps.deployments.toReplace(ready)]);
  const update = (fields: object) => updateDeployment(managed.deps, owner, { id }, fields);
  await expect(update({ adapters: null })).rejects.toMatchObject({ status: 409, code: 'adapters_exist' });
  await expect(update({ adapters: { max_rank: 8, max_loaded: 2 } })).rejects.toMatchObject({ code: 'adapters_exist' });
  const rolled = await update({ adapters: { max_rank: 32, max_loaded: 2 } });
  expect(rolled).toMatchObject({ adapters: { max_rank: 32 }, generations: [{ adapters: support }, { adapters: { max_rank: 32 } }] });
  expect((await update({ tags: { team: 'search' } })).generations).toHaveLength(2);
});

test('is not for deployments that embed, nor for runtimes that load none', async () => {
  const fields = { adapters: support, task: 'rerank' };
  await expect(create(fields)).rejects.toMatchObject({ status: 400, param: 'adapters' });
});
