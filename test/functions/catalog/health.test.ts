import { describe, expect, jest, test } from '@jest/globals';
import { health } from '../../../functions/catalog/health.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';

const event = { requestId: 'req_1' } as ApiEvent;

describe('GET /health', () => {
  test('is 200 when everything answers', async () => {
    expect(await health({ keys: async () => undefined }, Date.now)(event)).toMatchObject({ statusCode: 200 });
  });

  test('is 503 naming what fails, and nothing of why', async () => {
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const probes = { keys: async () => undefined, inventory: async () => Promise.reject(new Error('secret internals')) };
    await expect(health(probes, Date.now)(event)).rejects.toMatchObject({
      status: 503,
      message: 'Not ready to serve: inventory does not answer.',
      headers: { 'retry-after': '5' },
    });
    jest.restoreAllMocks();
  });

  test('does not wait for what hangs', async () => {
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    jest.useFakeTimers();
    const answer = health({ keys: () => new Promise(() => undefined) }, Date.now)(event);
    const refused = expect(answer).rejects.toMatchObject({ status: 503 });
    await jest.advanceTimersByTimeAsync(2_000);
    await refused;
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  test('asks at most once in two seconds, however often it is asked', async () => {
    let now = 0;
    let asked = 0;
    const handle = health({ keys: async () => void asked++ }, () => now);
    await Promise.all([handle(event), handle(event)]);
    now = 1_999;
    await handle(event);
    expect(asked).toBe(1);
    now = 2_000;
    await handle(event);
    expect(asked).toBe(2);
  });
});
