import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { entriesOf, type LimiterItem } from '../../../../shared/admission/item/limiter-item.ts';
import { isForDeployment } from '../../../../shared/admission/item/reservation-entry.ts';
import { createLimiterCache } from '../../../../shared/admission/stores/limiter-cache.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { silentAfter } from '../../../support/fixtures/pipeline.ts';
import { answers, type Behaviour, bodyOf, FAILURES, failsWith, publish, startFallbackPipeline } from './fallback-fixtures.ts';

let pipeline: Awaited<ReturnType<typeof startFallbackPipeline>>;
beforeAll(async () => {
  pipeline = await startFallbackPipeline();
  const { database } = pipeline;
  const later = [{ version: 'later', effective_at: 99_999_999_999_999, prompt_nanos: 1, completion_nanos: 1 }];
  await publish(database, 'first');
  await publish(database, 'dear', 9);
  await publish(database, 'third');
  await publish(database, 'configured', 1, { fallbacks: ['gone', 'unpriced', 'dear'] });
  await publish(database, 'unpriced', 1, { prices: later, fallbacks: ['third'] });
  await publish(database, 'without-tools', 1, { capabilities: { tools: false } });
  await publish(database, 'small', 1, { context_length: 60, tokenizer: { tokenizer: 'k' } });
});
afterAll(() => pipeline.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const noCapacity = failsWith(FAILURES.no_capacity);
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };

describe.each([false, true])('a request with fallbacks, streamed: %s', (stream) => {
  test.each(Object.entries(FAILURES))('is answered and charged by the next model after %s', async (code, thrown) => {
    const { call, events, invoked, inFlight } = await pipeline.setUp({ first: failsWith(thrown) });
    const reply = await call({ model: 'first', models: ['dear', 'third'], stream });
    expect(reply.headers['x-sluice-fallback']).toBe('1');
    expect(await bodyOf(reply)).toContain('"model":"dear"');
    expect(invoked).toEqual(['first', 'dear']);
    const [event, ...others] = await events();
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      model: 'dear',
      fallback: 1,
      attempts: [{ model: 'first', code, ms: expect.any(Number) }],
      price_version: 'price of dear',
      cost_nanos: 81n,
      tries: 2,
      outcome: 'completed',
    });
    expect(event?.alias).toBeUndefined();
    expect(await inFlight()).toBe(0);
  });

  test('is answered by the model that it names without a header, if that answers', async () => {
    const { call, events } = await pipeline.setUp({});
    const reply = await call({ model: 'first', models: ['first', 'dear'], stream });
    expect(reply.headers['x-sluice-fallback']).toBeUndefined();
    expect(await bodyOf(reply)).toContain('"model":"first"');
    const [event] = await events();
    expect(event).toMatchObject({ model: 'first', price_version: 'price of first' });
    expect([event?.fallback, event?.attempts]).toEqual([undefined, undefined]);
  });

  test('fails as its last model does if all fail, and costs nothing', async () => {
    const { call, events, inFlight } = await pipeline.setUp({
      first: noCapacity,
      dear: failsWith(FAILURES.model_not_ready),
      third: failsWith(FAILURES.upstream_error),
    });
    const reply = await call({ model: 'first', models: ['dear', 'third'], stream }).catch((error: unknown) => error);
    expect(reply).toMatchObject({ status: 503, code: 'upstream_error' });
    expect((await events())[0]).toMatchObject({
      model: 'third',
      error_code: 'upstream_error',
      cost_nanos: 0n,
      attempts: [{ code: 'no_capacity' }, { model: 'dear', code: 'model_not_ready' }],
    });
    expect(await inFlight()).toBe(0);
  });

  test('uses the fallbacks of its model, without those that are unknown or have no price', async () => {
    const { call } = await pipeline.setUp({ configured: noCapacity });
    const reply = await call({ model: 'configured', stream });
    expect(reply.headers['x-sluice-fallback']).toBe('3');
    expect(await bodyOf(reply)).toContain('"model":"dear"');
  });

  test('is answered by a fallback if the model that it names has no price yet', async () => {
    const { call, events, invoked } = await pipeline.setUp({});
    expect(await bodyOf(await call({ model: 'unpriced', stream }))).toContain('"model":"third"');
    expect(invoked).toEqual(['third']);
    expect((await events())[0]).toMatchObject({ fallback: 1, attempts: [{ model: 'unpriced', code: 'model_not_ready', ms: 0 }] });
  });

  test('skips a model that cannot do what it asks for', async () => {
    const { call, invoked } = await pipeline.setUp({ first: noCapacity });
    const reply = await call({ model: 'first', models: ['without-tools', 'third'], tools: [tool], stream });
    expect(await bodyOf(reply)).toContain('"model":"third"');
    expect(reply.headers['x-sluice-fallback']).toBe('2');
    expect(invoked).toEqual(['first', 'third']);
  });

  test('skips a model whose window is too small, and then fails as the model before it did', async () => {
    const tokenizer = { fit: async () => ({ prompt_tokens: 80, kept: null }) };
    const { call, invoked } = await pipeline.setUp({ first: noCapacity }, { tokenizer: tokenizer as never });
    const reply = await call({ model: 'first', models: ['small'], stream }).catch((error: unknown) => error);
    expect(reply).toMatchObject({ status: 503, code: 'no_capacity' });
    expect(invoked).toEqual(['first']);
  });

  test('gives its first model no more time than leaves the next one 20 s', async () => {
    const { call, events, invoked } = await pipeline.setUp({ first: silentAfter() });
    const reply = await call({ model: 'first', models: ['third'], stream }, 20_000 + 20_000 + 250);
    expect(await bodyOf(reply)).toContain('"model":"third"');
    expect(invoked).toEqual(['first', 'third']);
    expect((await events())[0]).toMatchObject({ attempts: [{ model: 'first', code: 'upstream_timeout' }], outcome: 'completed' });
  });

  test('reserves what its most expensive model can cost', async () => {
    const { call, invoked } = await pipeline.setUp({}, {}, { day_budget_nanos: 2_000n });
    const ofOne = await call({ model: 'first', stream });
    await bodyOf(ofOne);
    await expect(call({ model: 'first', models: ['dear'], stream })).rejects.toMatchObject({ status: 429 });
    expect(invoked).toEqual(['first']);
  });
});

describe('the names of fallbacks in a request', () => {
  test('must be of models: an unknown one is a 404 that names the field', async () => {
    const { call, invoked } = await pipeline.setUp({});
    await expect(call({ model: 'first', models: ['thirdd'] })).rejects.toMatchObject({
      status: 404,
      param: 'models',
      message: expect.stringContaining("'third'"),
    });
    expect(invoked).toEqual([]);
  });

  test('must be on the allow-list of the key, whether they exist or not', async () => {
    const { call } = await pipeline.setUp({ first: noCapacity, configured: noCapacity }, {}, { models: ['first', 'configured'] });
    for (const name of ['dear', 'gone'])
      await expect(call({ model: 'first', models: [name] })).rejects.toMatchObject({ status: 403, code: 'model_not_allowed' });
    await expect(call({ model: 'configured' })).rejects.toMatchObject({ status: 503, code: 'no_capacity' });
  });

  test('can be three at most besides the model itself', async () => {
    const { call } = await pipeline.setUp({});
    await expect(call({ model: 'first', models: ['a', 'b', 'c', 'd'] })).rejects.toMatchObject({ status: 400, param: 'models' });
    await bodyOf(await call({ model: 'first', models: ['first', 'dear', 'third', 'configured'] }));
  });

  test.each(['ON!', ''])('go with the header x-sluice-fallback: on or off, not %j', async (value) => {
    const { call } = await pipeline.setUp({});
    await expect(call({ model: 'first' }, 600_000, { 'x-sluice-fallback': value })).rejects.toMatchObject({
      status: 400,
      param: 'x-sluice-fallback',
    });
  });
});

describe('a fallback that is a deployment', () => {
  const id = newId('deployment');
  beforeAll(() => publish(pipeline.database, 'deployed', 1, { deployment: { id, is_ready: true } }));

  // Notes the deployment's use each time that an endpoint is called.
  const usesDuring = async (first: Behaviour, change: Parameters<typeof pipeline.setUp>[1] = {}) => {
    const uses: [endpoint: string, isInUse: boolean][] = [];
    const noting = (behaviour: Behaviour): Behaviour =>
      async function* (invocation) {
        const item = await pipeline.database.limiters.whole(keyId);
        const entries = entriesOf(item as LimiterItem);
        uses.push([invocation.target.endpoint, entries.some(([, entry]) => isForDeployment(entry, id))]);
        yield* behaviour(invocation);
      };
    const { call, keyId, inFlight } = await pipeline.setUp({ first: noting(first), deployed: noting(answers) }, change);
    const { statusCode } = await call({ model: 'first', models: ['deployed'] });
    return { uses, statusCode, left: await inFlight() };
  };

  test('is not in use by requests that another model answers', async () => {
    expect(await usesDuring(answers)).toEqual({ uses: [['first', false]], statusCode: 200, left: 0 });
  });

  test('is in use while it answers', async () => {
    const uses = [
      ['first', false],
      ['deployed', true],
    ];
    expect(await usesDuring(noCapacity)).toEqual({ uses, statusCode: 200, left: 0 });
  });

  test('answers even if that can’t be recorded', async () => {
    const store = { ...pipeline.limiters, apply: () => Promise.reject(new Error('Out of reach.')) };
    const keys = { store, cache: createLimiterCache(), now: Date.now };
    expect(await usesDuring(noCapacity, { keys })).toMatchObject({ statusCode: 200, left: 0 });
  });
});
