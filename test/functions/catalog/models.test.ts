import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createVisibleModels, listModels, retrieveModel, sharedModels } from '../../../functions/catalog/models.ts';
import { createInventory } from '../../../shared/models/inventory.ts';
import type { Model } from '../../../shared/models/model.ts';
import { withAliases } from '../../../shared/models/with-aliases.ts';
import { eventOf } from '../../support/emulators/api-event.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { makeCaller, wide } from '../../support/fixtures/callers.ts';
import { createKey } from '../../support/fixtures/create-key.ts';
import { modelOf, storeOf } from './published-models.ts';

const inventoryOf = (...models: Model[]) => aliasedInventoryOf({}, ...models);
const aliasedInventoryOf = (aliases: Record<string, string>, ...models: Model[]) =>
  withAliases(
    createInventory(storeOf(...models), 'serverless', Date.now),
    () => new Map(Object.entries(aliases).map(([alias, model]) => [alias, { alias, model, fallbacks: [] }])),
    ['serverless'],
  );
const retrieve = (name: string, inventory: ReturnType<typeof inventoryOf>, headers: Record<string, string> = {}) =>
  retrieveModel(sharedModels(inventory))({ ...eventOf(`/v1/models/${name}`, { headers }), pathParameters: { model: name } });

const price = (effective_at: number, prompt_nanos: number, completion_nanos: number): Model['prices'][number] => ({
  version: `v${effective_at}`,
  effective_at,
  prompt_nanos,
  completion_nanos,
});

describe('GET /v1/models', () => {
  test('lists the published models by name, each with its sizes, price and capabilities', async () => {
    const inventory = inventoryOf(modelOf({ name: 'b/c' }), modelOf({ name: 'a' }), modelOf({ name: 'z', status: 'unpublished' }));
    const reply = await listModels(sharedModels(inventory))(eventOf('/v1/models'));
    expect(reply).toMatchObject({ statusCode: 200, headers: { 'cache-control': 'public, max-age=30', etag: expect.stringMatching(/^"/) } });
    const { data, ...list } = JSON.parse(reply.body);
    expect(list).toEqual({ object: 'list', has_more: false, first_id: 'a', last_id: 'b/c' });
    expect(data.map(({ id }: { id: string }) => id)).toEqual(['a', 'b/c']);
    expect(data[0]).toEqual({
      id: 'a',
      object: 'model',
      type: 'model',
      display_name: 'a',
      created: 7,
      created_at: '1970-01-01T00:00:07.000Z',
      owned_by: 'sluice',
      alias_of: null,
      task: 'generate',
      embedding: null,
      fallbacks: [],
      context_length: 1_000,
      max_output_tokens: 100,
      max_input_tokens: 1_000,
      max_tokens: 100,
      pricing: { prompt: '0.00000005', cached_prompt: '0.00000005', completion: '0.0000002' },
      capabilities: { tools: true, json_object: true, logprobs: true, thinking_budget: false, structured_outputs: false },
      deprecation: null,
    });
  });

  test('shows the task and the vectors of a model that generates no text, whose output has no length', async () => {
    const embedding = { dimensions: 8, is_shortenable: true };
    const inventory = inventoryOf(modelOf({ task: 'embed', embedding }));
    const { data } = JSON.parse((await listModels(sharedModels(inventory))(eventOf('/v1/models'))).body);
    expect(data).toMatchObject([{ task: 'embed', embedding, max_input_tokens: 1_000, max_output_tokens: null, max_tokens: null }]);
    expect(Object.values(data[0].capabilities)).toEqual([false, false, false, false, false]);
  });

  test('is an empty list without models', async () => {
    const reply = await listModels(sharedModels(inventoryOf()))(eventOf('/v1/models'));
    expect(JSON.parse(reply.body)).toEqual({ object: 'list', data: [], has_more: false, first_id: null, last_id: null });
  });

  test('lists aliases among the models, each with its model', async () => {
    const inventory = aliasedInventoryOf({ 'claude-x': 'm', gone: 'nothing' }, modelOf(), modelOf({ name: 'a' }));
    const { data } = JSON.parse((await listModels(sharedModels(inventory))(eventOf('/v1/models'))).body);
    expect(data.map(({ id, alias_of }: { id: string; alias_of: string }) => [id, alias_of])).toEqual([
      ['a', null],
      ['claude-x', 'm'],
      ['m', null],
    ]);
    expect(data[1]).toEqual({ ...data[2], id: 'claude-x', display_name: 'claude-x', alias_of: 'm' });
  });
});

describe('GET /v1/models of an on-demand host', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await startTestDatabase();
  });
  afterAll(async () => {
    await database.close();
  });

  test('is cached for each key by itself, whichever header has the key', async () => {
    const { secret } = await createKey(database.limiters, { ...wide, scope: 'on_demand' });
    const listing = createVisibleModels({
      host: { scope: 'on_demand' },
      keys: makeCaller(database.limiters, Date.now),
      models: storeOf(modelOf()),
      aliases: { list: async () => new Map() },
      now: Date.now,
    });
    const user = { 'x-user-id': randomUUID() };
    for (const key of [{ authorization: `Bearer ${secret}` }, { 'x-api-key': secret, 'anthropic-version': '2023-06-01' }])
      expect(await listModels(listing)(eventOf('/v1/models', { headers: { ...key, ...user } as Record<string, string> }))).toMatchObject({
        statusCode: 200,
        headers: { 'cache-control': 'private, max-age=30', vary: 'authorization, x-api-key, x-user-id' },
      });
  });
});

describe('GET /v1/models/{model}', () => {
  test('returns a published model, and 404 for unknown and unpublished ones', async () => {
    const inventory = inventoryOf(modelOf({ name: 'b/c' }), modelOf({ name: 'z', status: 'unpublished' }));
    expect(JSON.parse((await retrieve('b/c', inventory)).body)).toMatchObject({ id: 'b/c', object: 'model' });
    for (const name of ['z', 'nothing', '__proto__'])
      await expect(retrieve(name, inventory)).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  });

  test('returns the model of an alias under that name', async () => {
    const inventory = aliasedInventoryOf({ 'claude-x': 'm' }, modelOf());
    expect(JSON.parse((await retrieve('claude-x', inventory)).body)).toMatchObject({
      id: 'claude-x',
      alias_of: 'm',
      context_length: 1_000,
    });
    expect(JSON.parse((await retrieve('m', inventory)).body)).toMatchObject({ id: 'm', alias_of: null });
  });

  test('returns the price in force, or null before the first price takes effect', async () => {
    // Events arrive at 1,000 ms.
    const prices = [price(0, 1, 2), price(1_000, 3, 1e15), price(1_001, 5, 6)];
    const now = JSON.parse((await retrieve('m', inventoryOf(modelOf({ prices })))).body);
    expect(now.pricing).toEqual({ prompt: '0.000000000000003', cached_prompt: '0.000000000000003', completion: '1' });
    const later = JSON.parse((await retrieve('m', inventoryOf(modelOf({ prices: [price(1_001, 5, 6)] })))).body);
    expect(later.pricing).toBeNull();
  });

  test('returns 304 for a known ETag until the model changes', async () => {
    const first = await retrieve('m', inventoryOf(modelOf()));
    const known = { 'if-none-match': first.headers.etag as string };
    expect(await retrieve('m', inventoryOf(modelOf()), known)).toMatchObject({
      statusCode: 304,
      body: '',
      headers: { etag: first.headers.etag },
    });
    expect(await retrieve('m', inventoryOf(modelOf({ context_length: 1_001 })), known)).toMatchObject({ statusCode: 200 });
  });

  test('returns the deprecation, sunset and successor of a deprecated model only', async () => {
    const deprecation = { deprecated_at: 1_795_219_200, sunset_at: 1_805_673_600, successor: 'Qwen/näxt' };
    const going = await retrieve('m', inventoryOf(modelOf({ deprecation })));
    expect(going.headers).toMatchObject({
      deprecation: '@1795219200',
      sunset: 'Mon, 22 Mar 2027 00:00:00 GMT',
      'x-sluice-successor': 'Qwen/n%C3%A4xt',
    });
    expect(going.headers['access-control-expose-headers']).toMatch(/\bdeprecation, sunset, x-sluice-successor\b/);
    expect(JSON.parse(going.body).deprecation).toEqual(deprecation);
    const undecided = await retrieve('m', inventoryOf(modelOf({ deprecation: { deprecated_at: 0 } })));
    expect(JSON.parse(undecided.body).deprecation).toEqual({ deprecated_at: 0, sunset_at: null, successor: null });
    expect(undecided.headers).toMatchObject({ deprecation: '@0' });
    expect(Object.keys(undecided.headers)).not.toContain('sunset');
    expect(Object.keys((await retrieve('m', inventoryOf(modelOf()))).headers)).not.toContain('deprecation');
  });
});
