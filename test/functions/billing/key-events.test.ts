import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { eventsOfKeyDay } from '../../../functions/billing/key-events.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { DAY, DAY_BEFORE, Draft, eventsOf, newKeys, shardsOfKey } from '../../support/fixtures/usage-events.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const byId = (a: UsageEvent, b: UsageEvent): number => (a.request_id < b.request_id ? -1 : 1);

test('lists a key’s events of a day in the order of time, from all of its shards and no other keys', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Draft, { maxLength: 30 }), async (drafts) => {
      const keys = newKeys();
      const events = eventsOf(keys, drafts);
      for (const event of events) await database.usage.putIfAbsent(event, shardsOfKey(keys, event.key_id));
      for (const id of [keys.plain, keys.sharded])
        for (const day of [DAY_BEFORE, DAY]) {
          const expected = events.filter((event) => event.key_id === id && new Date(event.admitted_at).toISOString().startsWith(day));
          const listed = await Array.fromAsync(eventsOfKeyDay(database.usage, { id, shards: shardsOfKey(keys, id) }, day));
          expect(listed.map((event) => event.request_id)).toEqual(expected.sort(byId).map((event) => event.request_id));
        }
    }),
    { numRuns: 5 },
  );
});

test('makes at most 16 queries at a time', async () => {
  for (const shards of [1, 5, 42]) {
    let open = 0;
    let most = 0;
    let queries = 0;
    const usage = {
      listByBucket: async function* (): AsyncGenerator<UsageEvent> {
        most = Math.max(most, ++open);
        queries++;
        await Promise.resolve();
        open--;
        yield* [];
      },
    };
    await Array.fromAsync(eventsOfKeyDay(usage, { id: 'key_1', shards }, DAY));
    expect(queries).toBe(144 * shards);
    expect(most).toBeLessThanOrEqual(16);
  }
});
