import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ServiceUnavailable } from '../../../../shared/http/errors.ts';
import type { Tokenizer } from '../../../../shared/tokens/tokenizer.ts';
import { UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import type { Invocation, Invoke } from '../../../../shared/upstream/invocation.ts';
import { answers, END, noTokenizer, read, startTestPipeline, type TestPipeline, text } from '../../../support/fixtures/pipeline.ts';

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await startTestPipeline();
});
afterAll(async () => {
  await pipeline.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('the model’s context window', () => {
  const long = { model: 'counted', messages: [{ role: 'user', content: 'x'.repeat(2_900) }] };

  test('is not exceeded: max_tokens is lowered to what the prompt leaves', async () => {
    const sent: number[] = [];
    const tokenizer: Tokenizer = { ...noTokenizer, fit: async () => ({ prompt_tokens: 2_990, kept: null }) };
    const { call } = await pipeline.setUp(
      async function* ({ body }) {
        sent.push((JSON.parse(body) as { max_tokens: number }).max_tokens);
        yield END;
      },
      { tokenizer },
    );
    await call({ ...long, max_tokens: 90 });
    expect(sent).toEqual([10]);
  });

  test('is a 400 without room for an answer, which costs nothing and leaves nothing in flight', async () => {
    const tokenizer: Tokenizer = { ...noTokenizer, fit: async () => ({ prompt_tokens: 3_000, kept: null }) };
    const { call, events, inFlight } = await pipeline.setUp(answers, { tokenizer });
    await expect(call(long)).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' });
    expect(await events()).toEqual([expect.objectContaining({ prompt_tokens: 0, completion_tokens: 0, cost_nanos: 0n })]);
    expect(await inFlight()).toBe(0);
  });

  test('is a 503 while the tokenizer is unavailable, and nothing stays in flight', async () => {
    const { call, inFlight } = await pipeline.setUp(answers, {
      tokenizer: { ...noTokenizer, fit: async () => Promise.reject(new ServiceUnavailable()) },
    });
    await expect(call(long)).rejects.toMatchObject({ status: 503 });
    expect(await inFlight()).toBe(0);
  });
});

describe('a request that is aborted while it is counted', () => {
  test('invokes no model', async () => {
    let invocations = 0;
    const tokenizer: Tokenizer = {
      ...noTokenizer,
      fit: () => new Promise((resolve) => setTimeout(resolve, 100, { prompt_tokens: 1, kept: null })),
    };
    const { call, events, inFlight } = await pipeline.setUp(
      async function* () {
        invocations++;
        yield END;
      },
      { tokenizer },
    );
    const body = { model: 'counted', messages: [{ role: 'user', content: 'x'.repeat(2_900) }] };
    await expect(call(body, 20_020)).rejects.toMatchObject({ status: 503, code: 'upstream_timeout' });
    expect(invocations).toBe(0);
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'timed_out', cost_nanos: 0n })]);
    expect(await inFlight()).toBe(0);
  });
});

describe('a complete answer', () => {
  test('is billed as completed even if the deadline passes while it is counted', async () => {
    const tokenizer: Tokenizer = {
      ...noTokenizer,
      count: () => new Promise((resolve) => setTimeout(resolve, 100, { prompt_tokens: 8, text_tokens: [2] })),
    };
    const silent: Invoke = async function* () {
      yield text('Hello there');
      yield [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }];
    };
    const { call, events } = await pipeline.setUp(silent, { tokenizer });
    expect((await call({ model: 'counted' }, 20_040)).statusCode).toBe(200);
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'completed', prompt_tokens: 8, completion_tokens: 2 })]);
  });
});

describe('an answer that broke off', () => {
  const broken: Invoke = async function* () {
    yield text('Hello there');
    throw new UpstreamFailed('upstream_error', 'gone');
  };

  test('is counted by the model’s own tokenizer', async () => {
    const sent: unknown[] = [];
    const tokenizer: Tokenizer = {
      ...noTokenizer,
      count: async ({ texts, prompt }) => {
        sent.push([texts, prompt?.messages.length]);
        return { prompt_tokens: 8, text_tokens: [2] };
      },
    };
    const { call, events } = await pipeline.setUp(broken, { tokenizer });
    expect(await read(await call({ model: 'counted', stream: true }))).toContain('"code":"upstream_error"');
    expect(sent).toEqual([[['Hello there'], 1]]);
    expect(await events()).toEqual([
      expect.objectContaining({ outcome: 'upstream_failed', source: 'estimated', prompt_tokens: 8, completion_tokens: 2, cost_nanos: 12n }),
    ]);
  });

  test('is estimated if the tokenizer is unavailable', async () => {
    const { call, events } = await pipeline.setUp(broken);
    await read(await call({ model: 'counted', stream: true }));
    expect(await events()).toEqual([expect.objectContaining({ source: 'estimated', completion_tokens: 3 })]);
  });

  test('costs nothing and is not counted if it was not streamed', async () => {
    const { call, events } = await pipeline.setUp(broken);
    await expect(call({ model: 'counted' })).rejects.toMatchObject({ code: 'upstream_error' });
    expect(await events()).toEqual([expect.objectContaining({ cost_nanos: 0n })]);
  });

  test('comes from the model’s other target, which its event names, if no chunk was sent', async () => {
    const tried: string[] = [];
    const { call, events } = await pipeline.setUp(async function* ({ target }) {
      tried.push(target.endpoint);
      if (tried.length === 1) throw new UpstreamFailed('no_capacity', 'full');
      yield text('Hello');
      yield END;
    });
    const body = await read(await call({ model: 'counted', stream: true }));
    expect(body).toContain('Hello');
    expect(tried.toSorted()).toEqual(['e', 'f']);
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'completed', endpoint: tried[1] })]);
  });
});

describe('measurements', () => {
  test('are returned if requested', async () => {
    // Later than the time of arrival, however long the test takes.
    let clock = Date.now() + 60_000;
    const answering: Invoke = async function* (invocation: Invocation) {
      invocation.onHead?.();
      yield* answers(invocation);
    };
    const { call } = await pipeline.setUp(answering, { now: () => (clock += 5) });
    const { perf_metrics } = JSON.parse((await call({ perf_metrics_in_response: true })).body as string);
    expect(perf_metrics).toEqual({
      time_to_first_token_ms: expect.any(Number),
      tokens_per_second: expect.any(Number),
      gateway_time_ms: expect.any(Number),
      queue_time_ms: expect.any(Number),
    });
    expect(JSON.parse((await call({})).body as string).perf_metrics).toBeNull();
    const stream = await read(await call({ perf_metrics_in_response: true, stream: true }));
    expect(stream.match(/"perf_metrics":\{"time_to_first_token_ms":\d+/g)).toHaveLength(1);
  });
});

describe('fields that have no effect', () => {
  test('are listed in a header', async () => {
    const { call } = await pipeline.setUp(answers);
    const { headers } = await call({ cache_salt: 'x', typical_p: 0.5, schräg: 1, temperature: null, user: 'u' });
    expect(headers['x-sluice-ignored']).toBe('typical_p, cache_salt, schr%C3%A4g');
  });

  test('are counted if their names do not fit into the header', async () => {
    const { call } = await pipeline.setUp(answers);
    const { headers } = await call(Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`property_${i}`, 1])));
    expect(headers['x-sluice-ignored']).toMatch(/^property_0, .*, \d+ more$/);
    expect(headers['x-sluice-ignored']?.length).toBeLessThan(2_100);
  });
});

describe('a field that the model does not support', () => {
  test('is a 400, and admits nothing', async () => {
    const { call, events } = await pipeline.setUp(answers);
    await expect(call({ raw_output: true })).rejects.toMatchObject({ status: 400, param: 'raw_output' });
    expect(await events()).toEqual([]);
  });
});
