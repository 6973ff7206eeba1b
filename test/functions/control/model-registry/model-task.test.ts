import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { updateModel } from '../../../../functions/control/model-registry/change-model.ts';
import { RegisteredModel } from '../../../../functions/control/model-registry/model-resource.ts';
import { ModelUpdate } from '../../../../functions/control/model-registry/registration.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { admin, type Managed, manage } from '../../../support/fixtures/managed-models.ts';

let database: TestDatabase;
let managed: Managed;
beforeAll(async () => {
  database = await startTestDatabase();
  managed = manage(database);
});
afterAll(async () => {
  await database.close();
});

const noOutput = { max_output_tokens: undefined, default_output_tokens: undefined };
const embed = { ...noOutput, task: 'embed', embedding: { dimensions: 8 } };
const rerank = { ...noOutput, task: 'rerank' };
const update = (name: string, fields: object) =>
  updateModel(managed.deps, admin, { name, organization: undefined, expected: undefined }, ModelUpdate.parse(fields));

describe('the task of a model', () => {
  test.each([
    [embed, { task: 'embed', embedding: { dimensions: 8, is_shortenable: false } }],
    [rerank, { task: 'rerank', embedding: null }],
  ])('is registered without output tokens and capabilities: %j', async (fields, expected) => {
    const registered = await managed.register(fields);
    expect(RegisteredModel.parse(registered)).toEqual(registered);
    expect(registered).toMatchObject({ ...expected, context_length: 1_000, max_output_tokens: null, default_output_tokens: null });
    expect(Object.values(registered.capabilities)).not.toContain(true);
    expect(await database.models.get(SERVERLESS_POOL, registered.name)).toMatchObject({ task: fields.task, max_output_tokens: 1 });
  });

  test('is to generate text by default', async () => {
    expect(await managed.register()).toMatchObject({ task: 'generate', embedding: null, max_output_tokens: 100 });
  });

  test.each([
    [{ task: 'generate', embedding: { dimensions: 8 } }, 'embedding'],
    [{ task: 'generate', max_output_tokens: undefined }, 'max_output_tokens'],
    [{ task: 'generate', default_output_tokens: undefined }, 'default_output_tokens'],
    [{ ...embed, embedding: undefined }, 'embedding'],
    [{ ...embed, max_output_tokens: 5 }, 'max_output_tokens'],
    [{ ...embed, default_output_tokens: 5 }, 'default_output_tokens'],
    [{ ...embed, dialect: 'llama_cpp' }, 'dialect'],
    [{ ...rerank, dialect: 'transformers' }, 'dialect'],
    [{ ...rerank, embedding: { dimensions: 8 } }, 'embedding'],
    [{ dialect: 'tei', tokenizer: { tokenizer: 'k' } }, 'dialect'],
    [{ ...embed, dialect: 'tei' }, 'tokenizer'],
  ])('rejects a registration whose fields do not fit: %j', async (fields, param) => {
    await expect((async () => managed.register(fields))()).rejects.toMatchObject({ status: 400, param });
  });

  test.each([
    [{ max_output_tokens: 5 }, 'max_output_tokens'],
    [{ capabilities: { tools: true } }, 'capabilities.tools'],
    [{ dialect: 'llama_cpp' }, 'dialect'],
    [{ dialect: 'tei' }, 'tokenizer'],
  ])('rejects an update that does not fit: %j', async (fields, param) => {
    const { name } = await managed.register(embed);
    await expect(update(name, fields)).rejects.toMatchObject({ status: 400, param });
  });

  test('keeps its vectors in an update that omits them, and checks new ones', async () => {
    const { name } = await managed.register(embed);
    managed.checkedModels.length = 0;
    expect(await update(name, { context_length: 500 })).toMatchObject({ embedding: { dimensions: 8 }, context_length: 500 });
    expect(managed.checkedModels).toEqual([]);
    const embedding = { dimensions: 16, is_shortenable: true };
    expect(await update(name, { embedding })).toMatchObject({ embedding });
    expect(managed.checkedModels).toEqual([name]);
    const { name: chat } = await managed.register();
    await expect(update(chat, { embedding })).rejects.toMatchObject({ status: 400, param: 'embedding' });
  });
});
