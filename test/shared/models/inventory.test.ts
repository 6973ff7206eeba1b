import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createInventory } from '../../../shared/models/inventory.ts';
import type { NewModel } from '../../../shared/models/model.ts';
import type { ModelReader } from '../../../shared/models/model-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

let database: TestDatabase;
let now = 0;
let lists = 0;
let isDown = false;
let store: ModelReader;
beforeAll(async () => {
  database = await startTestDatabase();
  store = {
    list: async (pool) => {
      lists++;
      if (isDown) throw new Error('DynamoDB is down');
      return database.models.list(pool);
    },
  };
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  [now, lists, isDown] = [1_000_000, 0, false];
});
afterEach(() => {
  jest.restoreAllMocks();
});

const model = (name: string, change: Partial<NewModel> = {}): NewModel => ({
  name,
  status: 'published',
  created: 0,
  context_length: 10,
  max_output_tokens: 5,
  default_output_tokens: 5,
  targets: [{ endpoint: 'e' }],
  prices: [{ version: '1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
  ...change,
});

describe('the inventory', () => {
  test('lists the published models of its pool, by name', async () => {
    await database.models.put('one', model('b'));
    await database.models.put('one', model('a'));
    await database.models.put('one', model('hidden', { status: 'unpublished' }));
    await database.models.put('two', model('c'));
    const inventory = createInventory(store, 'one', () => now);
    expect((await inventory.list()).map(({ name }) => name)).toEqual(['a', 'b']);
    for (const name of ['hidden', 'c', '__proto__', ''])
      await expect(inventory.find(name)).rejects.toMatchObject({ status: 404, param: 'model' });
  });

  test('is read once for concurrent calls, and again after 30 s', async () => {
    await database.models.put('many', model('a'));
    const inventory = createInventory(store, 'many', () => now);
    await Promise.all(Array.from({ length: 20 }, () => inventory.find('a')));
    now += 29_999;
    await inventory.find('a');
    expect(lists).toBe(1);
    await database.models.put('many', model('b'));
    now += 1;
    expect(await inventory.find('b')).toMatchObject({ name: 'b' });
    expect(lists).toBe(2);
  });

  test('is read again when the clock goes back, so that a new price arrives', async () => {
    now = 1_000_000 + 24 * 86_400_000;
    await database.models.put('back', model('a'));
    const inventory = createInventory(store, 'back', () => now);
    await inventory.find('a');
    now = 1_000_000;
    const prices = [{ version: '2', effective_at: 0, prompt_nanos: 2, completion_nanos: 2 }];
    await database.models.put('back', model('a', { prices }));
    expect(await inventory.find('a')).toMatchObject({ prices });
    now += 29_999;
    await inventory.find('a');
    expect(lists).toBe(2);
  });

  test('does not wait for a time before which it failed when the clock goes back', async () => {
    await database.models.put('failed', model('a'));
    const inventory = createInventory(store, 'failed', () => now);
    await inventory.find('a');
    now += 60_000;
    isDown = true;
    await inventory.find('a');
    isDown = false;
    now -= 20_000;
    await inventory.find('a');
    expect(lists).toBe(3);
  });

  test('suggests the published model that was probably meant', async () => {
    await database.models.put('named', model('sluice-tiny'));
    await database.models.put('named', model('sluice-hidden', { status: 'unpublished' }));
    const inventory = createInventory(store, 'named', () => now);
    await expect(inventory.find('sluice-tinny')).rejects.toThrow("Did you mean 'sluice-tiny'? GET /v1/models lists");
    for (const name of ['sluice-hiden', 'gpt-4o']) await expect(inventory.find(name)).rejects.toThrow(/does not exist\. GET/);
  });

  test('uses cached models while the table does not answer, but not forever', async () => {
    await database.models.put('outage', model('a'));
    const inventory = createInventory(store, 'outage', () => now);
    await inventory.find('a');
    isDown = true;
    now += 10 * 60_000;
    expect(await inventory.find('a')).toMatchObject({ name: 'a' });
    now += 5_000;
    await expect(inventory.find('a')).rejects.toThrow('DynamoDB is down');
    isDown = false;
    expect(await inventory.find('a')).toMatchObject({ name: 'a' });
  });

  test('skips a row that can’t be read', async () => {
    await database.models.put('broken', model('a'));
    await database.database.put({ TableName: database.tables.Models as string, Item: { pool: 'broken', name: 'b', targets: 'nonsense' } });
    const inventory = createInventory(store, 'broken', () => now);
    expect((await inventory.list()).map(({ name }) => name)).toEqual(['a']);
  });
});
