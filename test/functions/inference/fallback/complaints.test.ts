import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { toUpstreamError } from '../../../../shared/upstream/errors.ts';
import { text } from '../../../support/fixtures/pipeline.ts';
import { answers, type Behaviour, bodyOf, FAILURES, failsWith, publish, startFallbackPipeline } from './fallback-fixtures.ts';

type Started = Awaited<ReturnType<typeof startFallbackPipeline>>;

let pipeline: Started;
beforeAll(async () => {
  pipeline = await startFallbackPipeline();
  const { database } = pipeline;
  await publish(database, 'own');
  await publish(database, 'other');
  await publish(database, 'dear', 50);
  await publish(database, 'with-fallback', 1, { fallbacks: ['other'] });
  await publish(database, 'two-targets', 1, { targets: [{ endpoint: 'target-a' }, { endpoint: 'target-b' }] });
});
afterAll(() => pipeline.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const noCapacity = failsWith(FAILURES.no_capacity);
const breaksAfter = (chunks: number): Behaviour =>
  async function* () {
    for (let i = 0; i < chunks; i++) yield text('word ');
    throw toUpstreamError(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
  };

interface Outcome {
  invoked: string[];
  status: number;
  code?: string | null;
  body: string;
  headers: Record<string, string>;
  event: Record<string, unknown>;
}

const send = async (
  behaviours: Record<string, Behaviour>,
  body: Record<string, unknown>,
  { headers, limits }: { headers?: Record<string, string>; limits?: Parameters<Started['setUp']>[2] } = {},
): Promise<Outcome> => {
  const { call, events, invoked } = await pipeline.setUp(behaviours, {}, limits);
  try {
    const reply = await call(body, 600_000, headers);
    const text = await bodyOf(reply);
    return { invoked, status: reply.statusCode, body: text, headers: reply.headers, event: (await events())[0] as never };
  } catch (error) {
    const { status, code, message } = error as { status: number; code: string; message: string };
    return { invoked, status, code, body: message, headers: {}, event: (await events())[0] as never };
  }
};

// Complaints of users of other gateways.
const COMPLAINTS: Record<string, (stream: boolean) => Promise<void>> = {
  'a dearer model answers silently, and the bill is a surprise': async (stream) => {
    const alone = await send({ own: noCapacity }, { model: 'own', stream });
    expect(alone).toMatchObject({ status: 503, invoked: ['own'] });
    const unpayable = await send({ own: noCapacity }, { model: 'own', models: ['dear'], stream }, { limits: { day_budget_nanos: 2_000n } });
    expect(unpayable).toMatchObject({ status: 429, invoked: [] });
    const named = await send({ own: noCapacity }, { model: 'own', models: ['dear'], stream });
    expect(named.headers['x-sluice-fallback']).toBe('1');
    expect(named.body).toContain('"model":"dear"');
    expect(named.event).toMatchObject({ model: 'dear', cost_nanos: 450n });
  },
  'there is no fallback in streams': async (stream) => {
    expect((await send({ own: noCapacity }, { model: 'own', models: ['other'], stream })).body).toContain('"model":"other"');
  },
  'the rules of a key only count without streaming': async (stream) => {
    const { status, invoked } = await send(
      { own: noCapacity },
      { model: 'own', models: ['other'], stream },
      { limits: { no_fallback: true } },
    );
    expect([status, invoked]).toEqual([503, ['own']]);
  },
  'another model continues in the middle of an answer': async (stream) => {
    const { invoked, body, event } = await send({ own: breaksAfter(1) }, { model: 'own', models: ['other'], stream });
    expect(invoked).toEqual(['own']);
    expect(body).not.toContain('"model":"other"');
    expect(event).toMatchObject({ model: 'own', outcome: 'upstream_failed' });
  },
  'a stream that breaks after 20 chunks ends as if it were complete': async (stream) => {
    const { status, body } = await send({ own: breaksAfter(20) }, { model: 'own', models: ['other'], stream });
    if (!stream) return expect(status).toBe(503);
    expect(body).toContain('"error"');
    expect(body).not.toContain('[DONE]');
  },
  'a request that is pinned to a model is answered by another one': async (stream) => {
    const { status, invoked } = await send({ 'with-fallback': noCapacity }, { model: 'with-fallback', models: [], stream });
    expect([status, invoked]).toEqual([503, ['with-fallback']]);
  },
  'a caller cannot forbid fallbacks': async (stream) => {
    const headers = { 'X-Sluice-Fallback': 'Off' };
    const { status, invoked } = await send({ 'with-fallback': noCapacity }, { model: 'with-fallback', stream }, { headers });
    expect([status, invoked]).toEqual([503, ['with-fallback']]);
  },
  'another model answers although a second target has the same weights': async (stream) => {
    const user = { user: 'u' };
    for (const failing of ['target-a', 'target-b']) {
      const { body, headers } = await send({ [failing]: noCapacity }, { model: 'two-targets', models: ['other'], ...user, stream });
      expect(body).toContain('"model":"two-targets"');
      expect(headers['x-sluice-fallback']).toBeUndefined();
    }
  },
  'a conversation moves to another model after one failure, and loses its cache': async (stream) => {
    let calls = 0;
    const failsOnce: Behaviour = (invocation) => (calls++ === 0 ? noCapacity(invocation) : answers(invocation));
    const { call } = await pipeline.setUp({ own: failsOnce });
    const named: string[] = [];
    for (let i = 0; i < 3; i++) {
      const body = await bodyOf(await call({ model: 'own', models: ['other'], stream }));
      named.push(/"model":"(\w+)"/.exec(body)?.[1] ?? '');
    }
    expect(named).toEqual(['other', 'own', 'own']);
  },
  'a model falls back if it is overloaded, but not if it is gone or broken': async (stream) => {
    const gone = { name: 'ValidationError', message: 'Endpoint own of account 123456789012 not found.' };
    const reset = { code: 'ECONNRESET' };
    for (const thrown of [gone, reset, ...Object.values(FAILURES)])
      expect((await send({ own: failsWith(thrown) }, { model: 'own', models: ['other'], stream })).body).toContain('"model":"other"');
  },
  'the model of a header is used instead of the one in the body': async (stream) => {
    const headers = { 'x-ai-eg-model': 'other', 'x-model': 'other' };
    expect((await send({}, { model: 'own', stream }, { headers })).invoked).toEqual(['own']);
  },
  'a background call with a name that does not exist is a gateway error': async (stream) => {
    expect(await send({}, { model: 'nobody', models: ['other'], stream })).toMatchObject({
      status: 404,
      code: 'model_not_found',
      invoked: [],
    });
  },
  'an endpoint that is full is not left for another one': async (stream) => {
    const full = failsWith({ name: 'ModelError', facts: { OriginalStatusCode: 429 } });
    expect((await send({ own: full }, { model: 'own', models: ['other'], stream })).body).toContain('"model":"other"');
  },
  'failed attempts are charged, or nobody knows of them': async (stream) => {
    const { event } = await send({ own: failsWith(FAILURES.upstream_error) }, { model: 'own', models: ['other'], stream });
    expect(event).toMatchObject({ cost_nanos: 9n, attempts: [{ model: 'own', code: 'upstream_error' }] });
  },
  "a caller's own mistake is sent to every model": async (stream) => {
    const refuses = failsWith({
      name: 'ModelError',
      facts: { OriginalStatusCode: 400, OriginalMessage: '{"message":"temperature is wrong"}' },
    });
    const { status, invoked } = await send({ own: refuses }, { model: 'own', models: ['other'], stream });
    expect([status, invoked]).toEqual([400, ['own']]);
  },
};

describe.each([false, true])('a complaint about fallbacks, streamed: %s', (stream) => {
  test.each(Object.entries(COMPLAINTS))('does not apply here: %s', async (_, check) => check(stream));
});
