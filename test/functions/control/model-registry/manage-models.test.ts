import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { deleteModel, updateModel } from '../../../../functions/control/model-registry/change-model.ts';
import { retrieveModel } from '../../../../functions/control/model-registry/find-model.ts';
import { RegisteredModel } from '../../../../functions/control/model-registry/model-resource.ts';
import { checkAgain, registerModel } from '../../../../functions/control/model-registry/register-model.ts';
import { ModelUpdate } from '../../../../functions/control/model-registry/registration.ts';
import type { Model } from '../../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { actorOf, admin, type Managed, manage, NOW_SECONDS, reportOf } from '../../../support/fixtures/managed-models.ts';

let database: TestDatabase;
let managed: Managed;
beforeAll(async () => {
  database = await startTestDatabase();
  managed = manage(database);
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  managed.setPassing(true);
  managed.checkedModels.length = 0;
});

const addressOf = (name: string, organization?: string, expected?: number[]) => ({ name, organization, expected });
// The clock advances a second with each call, so that the log has an order.
let seconds = NOW_SECONDS;
const nextAdmin = () => actorOf('admin', null, ++seconds * 1_000);
const update = (name: string, fields: object, organization?: string, expected?: number[], deps = managed.deps) =>
  updateModel(deps, nextAdmin(), addressOf(name, organization, expected), ModelUpdate.parse(fields));
const destroy = (name: string, organization?: string) => deleteModel(managed.deps, nextAdmin(), addressOf(name, organization));
const retrieve = (name: string) => retrieveModel(managed.deps, admin, name, undefined);

describe('a model', () => {
  test('is registered, published, deprecated, unpublished and deleted, and the audit log has each step', async () => {
    const { name: successor } = await managed.register();
    const registered = await managed.register({
      targets: [
        { endpoint: 'e', weight: 3 },
        { endpoint: 'f', component: 'c' },
      ],
    });
    expect(RegisteredModel.parse(registered)).toEqual(registered);
    expect(registered).toMatchObject({ status: 'unpublished', organization: null, version: 1, report: reportOf(true), deprecation: null });
    expect(registered).toMatchObject({ created: NOW_SECONDS, targets: [{ weight: 3 }, { component: 'c', weight: 1, region: null }] });
    const { name } = registered;

    expect(await update(name, { status: 'published' })).toMatchObject({ status: 'published', version: 2 });
    await expect(destroy(name)).rejects.toMatchObject({ status: 409, code: 'model_published' });
    const deprecation = { deprecated_at: NOW_SECONDS, successor };
    expect(await update(name, { deprecation })).toMatchObject({ deprecation: { ...deprecation, sunset_at: null }, version: 3 });
    expect(await update(name, { deprecation: null, status: 'unpublished' })).toMatchObject({ deprecation: null, version: 4 });
    expect(await retrieve(name)).toMatchObject({ status: 'unpublished', version: 4 });
    await destroy(name);
    await expect(retrieve(name)).rejects.toMatchObject({ status: 404, code: 'model_not_found' });

    const log = await managed.log(null, name);
    expect(log.map(({ action }) => action)).toEqual([
      'model.deleted',
      'model.updated',
      'model.updated',
      'model.updated',
      'model.registered',
    ]);
    expect(log[3]).toMatchObject({ changes: { status: { from: 'unpublished', to: 'published' } }, actor: { id: 'user_admin' } });
    expect(JSON.stringify(log)).not.toContain('arn:');
  });

  test('keeps the fields that an update omits', async () => {
    const { name } = await managed.register({ capabilities: { tools: false }, tokenizer: { tokenizer: 'k' } });
    await update(name, { capabilities: { logprobs: false }, max_output_tokens: 60, default_top_p: 0.9 });
    expect(await retrieve(name)).toMatchObject({
      capabilities: { tools: false, logprobs: false, json_object: true },
      tokenizer: { tokenizer: 'k' },
      max_output_tokens: 60,
      default_output_tokens: 50,
      default_temperature: 1,
      default_top_p: 0.9,
    });
    expect(await update(name, { tokenizer: null })).toMatchObject({ tokenizer: null });
  });

  test('is rejected if its name is in use in the same pool, even if two are registered concurrently', async () => {
    const { name } = await managed.register();
    await expect(managed.register({ name })).rejects.toMatchObject({ status: 409, code: 'model_exists' });
    const { id } = await managed.newOrganization();
    expect(await managed.register({ name, organization: id })).toMatchObject({ organization: id });
    const racing = await Promise.allSettled([managed.register({ name: 'raced' }), managed.register({ name: 'raced' })]);
    expect(racing.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(racing.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 409, code: 'model_exists' } });
  });

  test('is rejected if its pool has 1,000 models', async () => {
    const known = await database.models.get(SERVERLESS_POOL, (await managed.register()).name);
    const full = new Map(Array.from({ length: 1_000 }, (_, i) => [`m${i}`, known as Model]));
    const deps = { ...managed.deps, models: { ...managed.deps.models, list: async () => full } };
    await expect(registerModel(deps, admin, managed.bodyOf())).rejects.toMatchObject({ status: 409, code: 'too_many_models' });
  });

  test.each([
    [{ prices: [{ effective_at: NOW_SECONDS + 60, per_million: { prompt: '1', completion: '1' } }] }, 'prices'],
    [{ max_output_tokens: 1_001 }, 'max_output_tokens'],
    [{ default_output_tokens: 101 }, 'default_output_tokens'],
  ])('is rejected with %j', async (fields, param) => {
    await expect(managed.register(fields)).rejects.toMatchObject({ status: 400, param });
  });

  test.each(['', 'a b', '/a', 'a/', 'a//b', 'ä', 'a\n', '?'])('cannot be named %j', (name) => {
    expect(() => managed.bodyOf({ name })).toThrow();
  });
});

describe('registerModel and updateModel', () => {
  test('reject a model with failed checks, unless the request accepts them', async () => {
    managed.setPassing(false);
    const name = 'unchecked/model';
    await expect(managed.register({ name })).rejects.toMatchObject({
      status: 409,
      code: 'checks_failed',
      message: expect.stringContaining("The check 'exists' failed for targets[0] ('e'): There is none."),
    });
    await expect(retrieve(name)).rejects.toMatchObject({ status: 404 });
    expect(await managed.register({ name, accept_failed_checks: true })).toMatchObject({ name, report: { passed: false } });
    expect(await checkAgain(managed.deps, { model: name })).toEqual(reportOf(false));
    await expect(checkAgain(managed.deps, { model: 'none' })).rejects.toMatchObject({ status: 404 });
  });

  test('repeat the checks if targets, dialect or tokenizer change or structured outputs are switched on', async () => {
    const { name } = await managed.register();
    managed.setPassing(false);
    managed.checkedModels.length = 0;
    for (const fields of [{ targets: [{ endpoint: 'g' }] }, { dialect: 'sluice' }, { tokenizer: { tokenizer: 'k' } }])
      await expect(update(name, fields)).rejects.toMatchObject({ status: 409, code: 'checks_failed' });
    expect(managed.checkedModels).toEqual([name, name, name]);
    await update(name, { status: 'published', dialect: 'vllm', targets: [{ endpoint: 'e' }] });
    expect(await update(name, { targets: [{ endpoint: 'g' }], accept_failed_checks: true })).toMatchObject({
      targets: [{ endpoint: 'g' }],
    });
    expect(managed.checkedModels).toHaveLength(3);
    const structured = (structured_outputs: boolean) => ({ capabilities: { structured_outputs } });
    await expect(update(name, structured(true))).rejects.toMatchObject({ status: 409, code: 'checks_failed' });
    await update(name, { ...structured(true), accept_failed_checks: true });
    await update(name, structured(true));
    await update(name, structured(false));
    expect(managed.checkedModels).toHaveLength(4);
  });
});

describe('two changes of a model', () => {
  test('are concurrent: one succeeds and is audited, the other returns 412', async () => {
    const { name } = await managed.register();
    const deps = managed.racing();
    const results = await Promise.allSettled(
      [2_000, 3_000].map((context_length) => update(name, { context_length }, undefined, undefined, deps)),
    );
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 412, code: 'version_conflict' } });
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await retrieve(name)).toMatchObject({ version: 2 });
    expect((await managed.log(null, name)).map(({ action }) => action)).toEqual(['model.updated', 'model.registered']);
  });

  test('are sequential: the second one returns 412 if it expects the old version', async () => {
    const { name } = await managed.register();
    await update(name, { context_length: 2_000 }, undefined, [1]);
    await expect(update(name, { context_length: 3_000 }, undefined, [1])).rejects.toMatchObject({ status: 412 });
    await expect(deleteModel(managed.deps, admin, addressOf(name, undefined, [1]))).rejects.toMatchObject({ status: 412 });
  });

  test('start at version 1 for a row without a version', async () => {
    const { name } = await managed.register();
    const place = { TableName: database.tables.Models as string, Key: { pool: SERVERLESS_POOL, name } };
    await database.database.update({ ...place, UpdateExpression: 'REMOVE #version', ExpressionAttributeNames: { '#version': 'version' } });
    expect(await retrieve(name)).toMatchObject({ version: 1 });
    expect(await update(name, { status: 'published' }, undefined, [1])).toMatchObject({ version: 2 });
  });
});

describe('a deprecation', () => {
  test.each(['none', 'itself'])('is rejected with a successor that is %s', async (successor) => {
    const { name } = await managed.register();
    const deprecation = { deprecated_at: NOW_SECONDS, successor: successor === 'itself' ? name : successor };
    await expect(update(name, { deprecation })).rejects.toMatchObject({ status: 400, param: 'deprecation.successor' });
  });

  test('is rejected if it ends before it begins', () => {
    expect(() => ModelUpdate.parse({ deprecation: { deprecated_at: 2, sunset_at: 1 } })).toThrow('not before deprecated_at');
  });
});

describe('the fallbacks of a model', () => {
  test('are other models of its pool, and are shown, changed and audited', async () => {
    const [{ name }, { name: other }] = [await managed.register(), await managed.register()];
    expect(await update(name, { fallbacks: [other] })).toMatchObject({ fallbacks: [other] });
    expect(await retrieve(name)).toMatchObject({ fallbacks: [other] });
    expect((await managed.log(null, name))[0]).toMatchObject({ action: 'model.updated' });
    expect(await update(name, { fallbacks: [] })).toMatchObject({ fallbacks: [] });
  });

  test('are rejected if they are unknown, the model itself, or named twice', async () => {
    const [{ name }, { name: other }] = [await managed.register(), await managed.register()];
    for (const [index, fallbacks] of [['nobody'], [other, name], [other, other]].entries())
      await expect(update(name, { fallbacks })).rejects.toMatchObject({ status: 400, param: `fallbacks.${Math.min(index, 1)}` });
  });
});
