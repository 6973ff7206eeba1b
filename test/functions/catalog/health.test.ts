import { describe, expect, jest, test } from '@jest/globals';
import { health } from '../../../functions/catalog/health.ts';
import type { Model } from '../../../shared/models/model.ts';
import { eventOf } from '../../support/emulators/api-event.ts';
import { modelOf } from './published-models.ts';

const event = eventOf('/health');
const keys = async (): Promise<undefined> => undefined;
const inventoryOf =
  (...models: Model[]) =>
  async (): Promise<Map<string, Model>> =>
    new Map(models.map((model) => [model.name, model]));

describe('GET /health', () => {
  test('returns 200 with the availability of each published model if all dependencies respond', async () => {
    const price = { version: 'p', effective_at: 2_000, prompt_nanos: 1, completion_nanos: 1 };
    const inventory = inventoryOf(
      modelOf({ name: 'b/c' }),
      modelOf({ name: 'a', prices: [price] }),
      modelOf({ name: 'hidden', status: 'unpublished' }),
    );
    const reply = await health({ inventory, keys }, () => 1_999)(event);
    expect(reply).toMatchObject({ statusCode: 200, headers: { 'cache-control': 'no-store' } });
    expect(JSON.parse(reply.body)).toEqual({ status: 'ok', models: { a: 'unavailable', 'b/c': 'available' } });
  });

  test('returns 503 with the names of failed dependencies, without the reason', async () => {
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const probes = { keys, inventory: async () => Promise.reject(new Error('secret internals')) };
    await expect(health(probes, Date.now)(event)).rejects.toMatchObject({
      status: 503,
      message: 'The service is not ready. These dependencies do not respond: inventory. Try again shortly.',
      headers: { 'retry-after': '5' },
    });
    jest.restoreAllMocks();
  });

  test('returns 503 after two seconds if a dependency hangs', async () => {
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    jest.useFakeTimers();
    const answer = health({ inventory: inventoryOf(), keys: () => new Promise(() => undefined) }, Date.now)(event);
    const message = 'The service is not ready. These dependencies do not respond: keys. Try again shortly.';
    const refused = expect(answer).rejects.toMatchObject({ status: 503, message });
    await jest.advanceTimersByTimeAsync(2_000);
    await refused;
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  test('runs the probes at most once in two seconds', async () => {
    let now = 0;
    let reads = 0;
    const handle = health({ inventory: inventoryOf(), keys: async () => void reads++ }, () => now);
    await Promise.all([handle(event), handle(event)]);
    now = 1_999;
    await handle(event);
    expect(reads).toBe(1);
    now = 2_000;
    await handle(event);
    expect(reads).toBe(2);
  });
});
