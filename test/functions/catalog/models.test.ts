import { describe, expect, test } from '@jest/globals';
import { listModels, retrieveModel, sharedModels } from '../../../functions/catalog/models.ts';
import { createInventory } from '../../../shared/models/inventory.ts';
import type { Model } from '../../../shared/models/model.ts';
import { eventOf } from '../../support/emulators/api-event.ts';
import { modelOf, storeOf } from './published-models.ts';

const inventoryOf = (...models: Model[]) => createInventory(storeOf(...models), 'serverless', Date.now);
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
    const { object, data } = JSON.parse(reply.body);
    expect(object).toBe('list');
    expect(data.map(({ id }: { id: string }) => id)).toEqual(['a', 'b/c']);
    expect(data[0]).toEqual({
      id: 'a',
      object: 'model',
      created: 7,
      owned_by: 'sluice',
      context_length: 1_000,
      max_output_tokens: 100,
      pricing: { prompt: '0.00000005', cached_prompt: '0.00000005', completion: '0.0000002' },
      capabilities: { tools: true, json_object: true, logprobs: true, thinking_budget: false, structured_outputs: false },
      deprecation: null,
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
