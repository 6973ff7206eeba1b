import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { transact } from '../../../shared/database/transaction.ts';
import { Model } from '../../../shared/models/model.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const modelOf = (name: string, capabilities: object): Model =>
  Model.parse({
    name,
    status: 'published',
    created: 0,
    capabilities,
    context_length: 10,
    max_output_tokens: 5,
    default_output_tokens: 5,
    targets: [{ endpoint: 'e' }],
    prices: [{ version: '1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
  });
const rowOf = async (name: string) =>
  (await database.database.get({ TableName: database.tables.Models as string, Key: { pool: 'p', name } })).Item;

describe('the store of models', () => {
  test.each([true, false])('keeps structured_outputs %s, in a row that release 0.1.0 can read', async (structured_outputs) => {
    const { models } = database;
    const model = modelOf(`m-${structured_outputs}`, { structured_outputs });
    const isAsWritten = async (version: number) => {
      expect(await models.get('p', model.name)).toEqual({ ...model, version });
      expect((await models.list('p')).get(model.name)).toEqual({ ...model, version });
      // That release rejects capabilities with other names.
      expect(Object.keys((await rowOf(model.name))?.capabilities as object).sort()).toEqual([
        'json_object',
        'logprobs',
        'thinking_budget',
        'tools',
      ]);
    };
    await transact(database.database, [models.toCreate('p', model)]);
    await isAsWritten(1);
    await transact(database.database, [models.toReplace('p', model)]);
    await isAsWritten(2);
    await models.put('p', model);
    await isAsWritten(1);
  });
});
