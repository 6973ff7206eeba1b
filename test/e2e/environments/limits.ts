import { beforeAll, describe, expect, test } from '@jest/globals';
import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import { HOSTS, type HostRun, startHostRun } from '../../support/clients/hosts.ts';
import { sweepNow } from '../../support/fixtures/sweep-now.ts';
import { sized } from '../../support/sized.ts';
import { environments } from './run.ts';

const ROUNDS = sized(4, 8);
const MAX_ATTEMPTS = 20;

describe.each(HOSTS)('the %s host', (name) => {
  let run: HostRun;
  beforeAll(async () => {
    run = await startHostRun(name, environments.start());
  });

  const MINUTE_MS = 60_000;
  const SWEPT_AFTER_MS = 12 * MINUTE_MS;

  const post = (secret: string, body: Record<string, unknown> = {}): Promise<Response> =>
    fetch(`${run.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...run.host.headers },
      body: JSON.stringify({ model: run.model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 2, temperature: 0, ...body }),
    });

  /**
   * The status of a reply that was read to its end, or `cut` when the connection broke, as it does when its function
   * crashes.
   */
  const ending = async (reply: Promise<Response>): Promise<number | 'cut'> => {
    try {
      const response = await reply;
      await response.text();
      return response.status;
    } catch {
      return 'cut';
    }
  };

  // A request may wait in the queue for an environment longer than the gateway allows.
  const endingInAnEnvironment = async (secret: string): Promise<number | 'cut'> => {
    let end = await ending(post(secret));
    for (let attempt = 1; end === 503 && attempt < MAX_ATTEMPTS; attempt++) end = await ending(post(secret));
    return end;
  };

  const sweepLater = async (): Promise<void> => {
    const report = await sweepNow({
      limiters: run.limiters,
      usage: run.usage,
      now: () => Date.now() + SWEPT_AFTER_MS,
      maxInFlightMs: SWEPT_AFTER_MS - MINUTE_MS,
      hasTime: () => true,
      database: run.database,
    });
    expect(report.complete).toBe(true);
  };

  describe('with eight environments that freeze between invocations', () => {
    test('admits exactly 50 of 200 parallel requests on a key limited to 50 a minute', async () => {
      const { secret, key_id } = await run.createKey({ requests_per_minute: 50 });
      const statuses = await Promise.all(Array.from({ length: 200 }, () => endingInAnEnvironment(secret)));
      expect(statuses.filter((status) => status === 200)).toHaveLength(50);
      expect(statuses.filter((status) => status === 429)).toHaveLength(150);
      expect(await run.eventsOf(key_id)).toHaveLength(50);
      expect((await run.limiters.whole(key_id))?.fl).toEqual({});
    });

    test('admits 3 requests at once on a key limited to 3, and rejects the others with retry-after: 1', async () => {
      const { secret } = await run.createKey({ concurrency: 3 });
      await run.control('container', { token_delay_ms: 60 });
      try {
        const replies = await Promise.all(Array.from({ length: 8 }, () => post(secret, { max_tokens: 30, temperature: 1, seed: 1 })));
        const refused = replies.filter(({ status }) => status === 429);
        expect(refused.length).toBeGreaterThanOrEqual(5);
        for (const reply of refused) expect(reply.headers.get('retry-after')).toBe('1');
        await Promise.all(replies.map((reply) => reply.text()));
      } finally {
        await run.control('container');
      }
    });

    test('writes one event per admitted request and leaves none in flight after kills under load and a sweep', async () => {
      const { secret, key_id } = await run.createKey();
      const random = seededRandom(42);
      await run.control('container', { token_delay_ms: 3 });
      const endings: (number | 'cut')[] = [];
      try {
        for (let round = 0; round < ROUNDS; round++) {
          const replies = Array.from({ length: 12 }, (_, i) =>
            ending(post(secret, { stream: i % 2 === 0, max_tokens: 12, temperature: 1, seed: i })),
          );
          // At this point some replies have ended, some are being sent, and some have not begun.
          await replies[Math.floor(random() * replies.length)];
          const pids = (await run.facts()).pids.functions[run.host.inference] ?? [];
          const isLast = round === ROUNDS - 1;
          // On a slow machine all of them may have ended by now. This one has begun, and takes a second.
          if (isLast) replies.push(ending(Promise.resolve(await post(secret, { stream: true, max_tokens: 300, temperature: 1, seed: 1 }))));
          for (const pid of pids) if (isLast || random() < 0.6) killIfAlive(pid);
          endings.push(...(await Promise.all(replies)));
        }
      } finally {
        await run.control('container');
      }
      const item = await run.limiters.whole(key_id);
      const admitted = Object.entries(item ?? {}).reduce((sum, [name, count]) => (/^r\d+$/.test(name) ? sum + Number(count) : sum), 0);
      await sweepLater();
      const events = await run.eventsOf(key_id);
      expect(new Set(events.map(({ request_id }) => request_id)).size).toBe(events.length);
      expect(events).toHaveLength(admitted);
      expect((await run.limiters.whole(key_id))?.fl).toEqual({});
      // Each caller got its whole reply, an error, or a broken connection, and never a truncated reply that looks
      // complete.
      expect(endings.filter((end) => end !== 200 && end !== 503 && end !== 'cut')).toEqual([]);
      expect(events.filter(({ outcome }) => outcome === 'completed').length).toBeGreaterThanOrEqual(
        endings.filter((end) => end === 200).length,
      );
      expect(events.filter(({ outcome }) => outcome === 'orphaned').length).toBeGreaterThan(0);
      expect(await ending(post(secret))).toBe(200);
    });
  });

  const killIfAlive = (pid: number): void => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
});
