import type { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createIdempotencyStore } from '../../../../functions/inference/idempotency/idempotency-store.ts';
import type { Dependencies } from '../../../../functions/inference/pipeline/dependencies.ts';
import { seededRandom } from '../../../../infra/local/sagemaker/seeded-random.ts';
import { createLimiterCache } from '../../../../shared/admission/stores/limiter-cache.ts';
import { createLimiterStore } from '../../../../shared/admission/stores/limiter-store.ts';
import { createDirectDatabases } from '../../../../shared/database/direct-database.ts';
import { createInventory } from '../../../../shared/models/inventory.ts';
import { createModelStore, SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { createInvoke } from '../../../../shared/upstream/invoke.ts';
import { createUsageStore } from '../../../../shared/usage/usage-store.ts';
import { startWordContainer, WORD_USAGE } from '../../../support/emulators/word-container.ts';
import { type ByteFault, type ByteFaultProxy, startByteFaultProxy } from '../../../support/faults/byte-fault-proxy.ts';
import { FRAME_PLACES, type Place, REPLY_PLACES, REQUEST_PLACES } from '../../../support/faults/byte-places.ts';
import { read, startTestPipeline, type TestPipeline } from '../../../support/fixtures/pipeline.ts';
import { sweepNow } from '../../../support/fixtures/sweep-now.ts';
import { sized } from '../../../support/sized.ts';

const REQUESTS = sized(150, 400);
const CALLERS = 12;
const WORDS = ['one ', 'two ', 'three ', 'four'];
// Each call that stalls takes 3 s. Of fewer calls a larger share stalls, so that some do in any order of the callers.
const FAULTY = 0.1;
const STALLED = sized(0.01, 0.003);
// The function reserves 20 s of its time, so an invocation may take 3 s.
const REMAINING_MS = 23_000;
const SWEPT_AFTER_MS = 12 * MINUTE_MS;

const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret' };
const random = seededRandom(20_261_122);

let pipeline: TestPipeline;
let container: Awaited<ReturnType<typeof startWordContainer>>;
let proxies: Record<'dynamodb' | 'sagemaker', ByteFaultProxy>;
beforeAll(async () => {
  pipeline = await startTestPipeline();
  container = await startWordContainer(WORDS);
  const proxyOf = (url: string) => startByteFaultProxy(url, { random, faultOf: () => undefined, credentials });
  proxies = { dynamodb: await proxyOf(pipeline.database.url), sagemaker: await proxyOf(container.sagemakerUrl) };
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_DYNAMODB: proxies.dynamodb.url,
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: proxies.sagemaker.url,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });
});
afterAll(async () => {
  await Promise.all(Object.values(proxies).map((proxy) => proxy.close()));
  await container.close();
  await pipeline.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const randomFaults = (places: readonly Place[], count: Record<string, number>) => (): ByteFault | undefined => {
  const drawn = random();
  if (drawn >= FAULTY + STALLED) return undefined;
  const kind = drawn < STALLED ? 'stall' : drawn < STALLED + FAULTY / 2 ? 'cut' : 'corrupt';
  const place = places[Math.floor(random() * places.length)] as Place;
  count[kind] = (count[kind] ?? 0) + 1;
  return { kind, place };
};

const dependencies = (): Partial<Dependencies> => {
  const { database, once } = createDirectDatabases();
  const { Keys, Models, Responses, Usage } = pipeline.database.tables as Record<string, string>;
  const inventory = createInventory(createModelStore(database, Models as string), SERVERLESS_POOL, Date.now);
  // One time for all admissions, so that no counter is removed before the admitted requests are counted.
  const nowMs = Date.now();
  return {
    modelsOf: () => inventory,
    keys: { store: createLimiterStore(database, Keys as string, once), cache: createLimiterCache(), now: () => nowMs },
    usage: createUsageStore(database, Usage as string),
    idempotency: createIdempotencyStore(database, Responses as string, Date.now),
  };
};

describe('requests whose calls lose, delay and corrupt bytes', () => {
  test(`have one event each if they are admitted, and the key counts their sum, after ${REQUESTS} requests`, async () => {
    const { call, events, inFlight, keyId } = await pipeline.setUp(createInvoke(), dependencies(), { total_budget_nanos: 1_000_000_000n });
    const faults: Record<string, number> = {};
    proxies.dynamodb.setFaults(randomFaults([...REQUEST_PLACES, ...REPLY_PLACES], faults));
    proxies.sagemaker.setFaults(randomFaults([...REQUEST_PLACES, ...REPLY_PLACES, ...FRAME_PLACES], faults));

    // Undefined if the reply failed, or the deadline cut it off.
    const answerOf = async (number: number): Promise<string | undefined> => {
      const stream = number % 2 === 0;
      const headers = number % 5 === 0 ? { 'Idempotency-Key': `${number}` } : {};
      try {
        const reply = await call({ stream, max_tokens: 20 }, REMAINING_MS, headers);
        if (!stream) {
          const [{ message, finish_reason }] = JSON.parse(reply.body as string).choices;
          return finish_reason === 'length' ? undefined : message.content;
        }
        const text = await read(reply as typeof reply & { body: Readable });
        if (!text.includes('[DONE]')) return undefined;
        const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json as string));
        if (chunks.some(({ choices }) => choices[0]?.finish_reason === 'length')) return undefined;
        return chunks.map(({ choices }) => choices[0]?.delta?.content ?? '').join('');
      } catch {
        return undefined;
      }
    };
    const answers: (string | undefined)[] = [];
    let next = 0;
    const caller = async (): Promise<void> => {
      while (next < REQUESTS) answers.push(await answerOf(next++));
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    for (const proxy of Object.values(proxies)) proxy.setFaults(() => undefined);

    // Each answer belongs to its caller.
    const answered = answers.filter((answer) => answer !== undefined);
    expect(new Set(answered)).toEqual(new Set([WORDS.join('')]));
    expect(answered.length).toBeGreaterThan(REQUESTS / 2);
    expect(answered.length).toBeLessThan(REQUESTS);
    for (const kind of ['cut', 'stall', 'corrupt']) expect(faults[kind]).toBeGreaterThan(0);

    const { limiters, usage } = pipeline.database;
    const sweepAt = (nowMs: number) =>
      sweepNow({
        limiters,
        usage,
        now: () => nowMs,
        maxInFlightMs: SWEPT_AFTER_MS - MINUTE_MS,
        hasTime: () => true,
        database: pipeline.database.database,
      });
    const item = await limiters.get(keyId);
    const admitted = Object.entries(item ?? {}).reduce((sum, [name, count]) => (/^r\d+$/.test(name) ? sum + Number(count) : sum), 0);
    expect(await sweepAt(Date.now() + SWEPT_AFTER_MS)).toMatchObject({ complete: true });
    expect(await sweepAt(Date.now() + SWEPT_AFTER_MS + 5 * MINUTE_MS)).toMatchObject({ released: 0, orphaned: 0, undone: 0 });

    const written = await events();
    expect(new Set(written.map(({ request_id }) => request_id)).size).toBe(written.length);
    expect(written).toHaveLength(admitted);
    expect(await inFlight()).toBe(0);
    const completed = written.filter(({ outcome }) => outcome === 'completed');
    // The sweep records an answer whose settlement failed three times as orphaned.
    const orphaned = written.filter(({ outcome }) => outcome === 'orphaned');
    // An answer that stalls between its last word and its terminator is recorded as timed out at the deadline, and its
    // caller has all words.
    const late = written.filter(({ outcome }) => outcome === 'timed_out');
    expect(completed.length + orphaned.length + late.length).toBeGreaterThanOrEqual(answered.length);
    for (const event of completed) expect(event).toMatchObject(WORD_USAGE);
    const spent = written.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
    expect(BigInt((await limiters.get(keyId))?.spent ?? 0)).toBe(spent);
    expect(container.invocations()).toBeLessThanOrEqual(admitted);
  });
});
