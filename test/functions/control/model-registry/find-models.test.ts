import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { updateModel } from '../../../../functions/control/model-registry/change-model.ts';
import { listModels, retrieveModel } from '../../../../functions/control/model-registry/find-model.ts';
import { ModelResource } from '../../../../functions/control/model-registry/model-resource.ts';
import { ModelUpdate } from '../../../../functions/control/model-registry/registration.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { createInventory } from '../../../../shared/models/inventory.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { actorOf, admin, type Managed, manage, NOW_SECONDS } from '../../../support/fixtures/managed-models.ts';

let database: TestDatabase;
let managed: Managed;
beforeAll(async () => {
  database = await startTestDatabase();
  managed = manage(database);
});
afterAll(async () => {
  await database.close();
});

// The clock advances a second with each call, so that the log has an order.
let seconds = NOW_SECONDS;
const nextAdmin = () => actorOf('admin', null, ++seconds * 1_000);
const update = (name: string, fields: object, organization?: string) =>
  updateModel(managed.deps, nextAdmin(), { name, organization, expected: undefined }, ModelUpdate.parse(fields));
const retrieve = (name: string, actor = admin, organization?: string) => retrieveModel(managed.deps, actor, name, organization);

describe("an organization's own deployment", () => {
  test('requires an active organization', async () => {
    await expect(managed.register({ organization: 'org_none' })).rejects.toMatchObject({ status: 404, code: 'organization_not_found' });
    const organization = await managed.newOrganization();
    const { organizations, database: tables } = managed.deps;
    await transact(tables, [organizations.toReplace({ ...organization, status: 'suspended' })]);
    await expect(managed.register({ organization: organization.id })).rejects.toMatchObject({ status: 403 });
  });

  test('shows members no targets, is in their audit log, and does not exist for other organizations', async () => {
    const { id } = await managed.newOrganization();
    const other = await managed.newOrganization();
    const { name } = await managed.register({ organization: id });
    const seen = await retrieve(name, actorOf('member', id));
    expect(ModelResource.parse(seen)).toEqual(seen);
    expect(seen).toMatchObject({ name, organization: id, status: 'unpublished', pricing: { prompt: '0.00000005' } });
    expect(seen).not.toHaveProperty('targets');
    expect(seen).not.toHaveProperty('prices');
    for (const stranger of [actorOf('owner', other.id), actorOf('member', other.id)]) {
      await expect(retrieve(name, stranger)).rejects.toMatchObject({ status: 404 });
      await expect(retrieve(name, stranger, id)).rejects.toMatchObject({ status: 404 });
      await expect(listModels(managed.deps, stranger, { limit: 9, organization: id })).rejects.toMatchObject({ status: 404 });
    }
    await expect(retrieve(name)).rejects.toMatchObject({ status: 404 });
    expect(await retrieve(name, admin, id)).toMatchObject({ targets: [{ endpoint: 'e' }], prices: [{}] });
    expect(await update(name, { status: 'published' }, id)).toMatchObject({ organization: id, status: 'published' });
    expect((await managed.log(id, name)).map(({ action }) => action)).toEqual(['model.updated', 'model.registered']);
    expect(await managed.log(null, name)).toEqual([]);
  });

  test('takes precedence over a shared model with the same name', async () => {
    const { id } = await managed.newOrganization();
    const { name } = await managed.register({ status: 'published' });
    await managed.register({ name, organization: id, context_length: 77, max_output_tokens: 7, default_output_tokens: 7 });
    expect(await retrieve(name, actorOf('member', id))).toMatchObject({ context_length: 77, organization: id });
    expect(await retrieve(name, actorOf('member', id), id)).toMatchObject({ context_length: 77 });
  });
});

describe('the list', () => {
  test('shows members the published shared models and their own deployments, sorted by name, page by page', async () => {
    const { id } = await managed.newOrganization();
    await managed.register({ name: 'list-b', status: 'published' });
    await managed.register({ name: 'list-hidden' });
    for (const name of ['list-a', 'list-b', 'list-c']) await managed.register({ name, organization: id });
    const seen: string[] = [];
    for (let after: string | undefined, pages = 0; pages < 100; pages++) {
      const page = await listModels(managed.deps, actorOf('member', id), { limit: 1, after });
      for (const { name, organization } of page.data) seen.push(`${name} of ${organization ?? 'all'}`);
      if (page.next === null) break;
      after = page.next;
    }
    expect(seen.filter((name) => name.startsWith('list-'))).toEqual([
      `list-a of ${id}`,
      `list-b of ${id}`,
      'list-b of all',
      `list-c of ${id}`,
    ]);
    await expect(listModels(managed.deps, actorOf('member', id), { limit: 1, after: 'x' })).rejects.toMatchObject({
      status: 400,
      param: 'after',
    });
  });

  test('shows admins every model of a pool with its targets', async () => {
    const { id } = await managed.newOrganization();
    await managed.register({ name: 'all-hidden' });
    await managed.register({ name: 'own', organization: id });
    const shared = await listModels(managed.deps, admin, { limit: 100 });
    expect(shared.data.find(({ name }) => name === 'all-hidden')).toMatchObject({ targets: [{ endpoint: 'e' }] });
    expect(shared.data.every(({ organization }) => organization === null)).toBe(true);
    const own = await listModels(managed.deps, admin, { limit: 100, organization: id });
    expect(own).toMatchObject({ data: [{ name: 'own', organization: id }], has_more: false, next: null });
  });
});

test('requests see a change within 30 s', async () => {
  const { name } = await managed.register();
  let now = NOW_SECONDS * 1_000;
  const inventory = createInventory(database.models, SERVERLESS_POOL, () => now);
  await expect(inventory.find(name)).rejects.toMatchObject({ status: 404 });
  await update(name, { status: 'published' });
  now += 30_000;
  expect(await inventory.find(name)).toMatchObject({ name, version: 2 });
  await update(name, { status: 'unpublished' });
  now += 30_000;
  await expect(inventory.find(name)).rejects.toMatchObject({ status: 404 });
});
