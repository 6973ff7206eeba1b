import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Behaviour, bodyOf, FAILURES, failsWith, publish, startFallbackPipeline } from './fallback-fixtures.ts';

let pipeline: Awaited<ReturnType<typeof startFallbackPipeline>>;
beforeAll(async () => {
  pipeline = await startFallbackPipeline();
  for (const name of ['own', 'second', 'third']) await publish(pipeline.database, name);
});
afterAll(() => pipeline.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const noCapacity = failsWith(FAILURES.no_capacity);

// Sends a request twice under one idempotency key. The named model can answer only the second time.
const sendTwice = async (behaviours: Record<string, Behaviour>, stream: boolean) => {
  const { call, events, invoked } = await pipeline.setUp(behaviours);
  const replies = [];
  for (const _ of [1, 2]) {
    const reply = await call({ model: 'own', models: ['second', 'third'], stream }, 600_000, { 'Idempotency-Key': 'k' });
    replies.push({ headers: reply.headers, models: new Set((await bodyOf(reply)).match(/"model":"[^"]*"/g)) });
    delete behaviours.own;
  }
  const [original, replay] = replies;
  return { original, replay, invoked, events: await events() };
};

describe.each([false, true])('a request that is repeated under its idempotency key, streamed: %s', (stream) => {
  test('has the model and the number of the fallback that answered it, and is charged once', async () => {
    const { original, replay, invoked, events } = await sendTwice({ own: noCapacity, second: noCapacity }, stream);
    expect(original).toMatchObject({ headers: { 'x-sluice-fallback': '2' }, models: new Set(['"model":"third"']) });
    expect(replay).toMatchObject({
      headers: { 'x-sluice-fallback': '2', 'idempotent-replayed': 'true' },
      models: new Set(['"model":"third"']),
    });
    expect(invoked).toEqual(['own', 'second', 'third']);
    expect(events).toMatchObject([{ model: 'third', fallback: 2 }]);
  });

  test('names no fallback if its own model answered', async () => {
    const { replay } = await sendTwice({}, stream);
    expect(replay).toMatchObject({ headers: { 'idempotent-replayed': 'true' }, models: new Set(['"model":"own"']) });
    expect(replay?.headers['x-sluice-fallback']).toBeUndefined();
  });
});
