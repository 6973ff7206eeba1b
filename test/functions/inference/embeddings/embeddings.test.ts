import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { RefusedByModel, UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import type { Invoke } from '../../../../shared/upstream/invocation.ts';
import {
  base64Of,
  bodyOf,
  DIMENSIONS,
  LARGE_DIMENSIONS,
  PRICE_NANOS,
  repliesWith,
  type SentBody,
  startEmbeddings,
  vectorOf,
  vllmReply,
} from './fixtures.ts';

let route: Awaited<ReturnType<typeof startEmbeddings>>;
beforeAll(async () => {
  route = await startEmbeddings();
});
afterAll(() => route.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const answers = repliesWith(vllmReply);

describe('POST /v1/embeddings', () => {
  test.each([
    ['a string', 'a text', ['a text']],
    ['strings', ['one', 'two'], ['one', 'two']],
  ])('embeds %s, in order', async (_, input, texts) => {
    const { call, sent } = await route.setUp(answers);
    expect(await bodyOf(await call({ input }))).toEqual({
      object: 'list',
      data: texts.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) })),
      model: 'e',
      usage: { prompt_tokens: texts.length, total_tokens: texts.length },
    });
    expect(sent.map(({ input: given }) => given)).toEqual([texts]);
  });

  test.each([
    ['token ids', [1, 2, 99], [[1, 2, 99]]],
    ['lists of token ids', [[1], [2, 3]], [[1], [2, 3]]],
  ])('embeds %s', async (_, input, texts) => {
    const { call, sent } = await route.setUp(answers);
    const { data } = (await bodyOf(await call({ model: 'short', input }))) as { data: { embedding: number[] }[] };
    expect(data.map(({ embedding }) => embedding)).toEqual(texts.map((text) => vectorOf(text)));
    expect(sent[0]?.input).toEqual(texts);
  });

  test('returns base64 of little-endian floats, and asks the runtime for the same whatever the caller wants', async () => {
    const { call, sent } = await route.setUp(answers);
    for (const [encoding_format, embedding] of [
      ['base64', base64Of(vectorOf('text'))],
      ['float', vectorOf('text')],
      [null, vectorOf('text')],
    ] as const)
      expect(await bodyOf(await call({ input: 'text', encoding_format }))).toMatchObject({ data: [{ embedding }] });
    expect(sent).toEqual(
      Array(3).fill(expect.objectContaining({ encoding_format: 'base64', embed_dtype: 'float32', endianness: 'little' })),
    );
  });

  test('sorts vectors by the index that the runtime gives, and reads numbers, too', async () => {
    const reversed = repliesWith(({ input }) => ({
      data: input.map((text, index) => ({ index, embedding: vectorOf(text) })).reverse(),
      usage: { prompt_tokens: 2 },
    }));
    const { call } = await route.setUp(reversed);
    const { data } = await bodyOf(await call({ input: ['a', 'bb'] }));
    expect(data).toEqual(['a', 'bb'].map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) })));
  });

  test('keeps 32-bit floats exactly, however small or large', async () => {
    const values = [Math.fround(0.1), Math.fround(-1.17549435e-38), Math.fround(3.4028235e38), -0];
    const { call } = await route.setUp(
      repliesWith(() => ({ data: [{ index: 0, embedding: base64Of(values) }], usage: { prompt_tokens: 1 } })),
    );
    const { data } = (await bodyOf(await call({ input: 'a' }))) as { data: { embedding: number[] }[] };
    expect(Float32Array.from(data[0]?.embedding ?? [])).toEqual(Float32Array.from(values.map((value) => value + 0)));
    const { data: coded } = (await bodyOf(await call({ input: 'a', encoding_format: 'base64' }))) as { data: { embedding: string }[] };
    expect(coded[0]?.embedding).toBe(base64Of(values));
  });

  test('shortens vectors only if the request asks for less than their length', async () => {
    const { call, sent } = await route.setUp(answers);
    const { data } = (await bodyOf(await call({ model: 'short', input: 'abc', dimensions: 2 }))) as { data: { embedding: number[] }[] };
    expect(data[0]?.embedding).toEqual(vectorOf('abc', 2));
    await call({ input: 'abc', dimensions: DIMENSIONS });
    expect(sent.map(({ dimensions }) => dimensions)).toEqual([2, undefined]);
  });

  test('lists fields without effect, and passes none of the runtime’s own on', async () => {
    const { call, sent } = await route.setUp(answers);
    const own = { stream: true, truncate_prompt_tokens: -1, cache_salt: 'x', request_id: 'y', priority: 1, metadata: 'no object' };
    const { headers } = await call({ input: 'a', user: 'u', dimensions: null, ...own });
    expect(headers['x-sluice-ignored']).toBe(Object.keys(own).join(', '));
    expect(Object.keys(sent[0] ?? {})).toEqual([
      'model',
      'input',
      'encoding_format',
      'embed_dtype',
      'endianness',
      'cache_salt',
      'request_id',
    ]);
    expect(sent[0]?.cache_salt).toMatch(/^[0-9a-f]{64}$/);
  });

  test('replaces lone surrogates, which no tokenizer can read', async () => {
    const { call, sent } = await route.setUp(answers);
    await call('{"model":"e","input":["\\ud800 a"]}');
    expect(sent[0]?.input).toEqual(['\ufffd a']);
  });
});

describe('the schema of a request for embeddings', () => {
  const expectRefused = async (fields: object, param: string, words: string): Promise<void> => {
    const { call, sent, events } = await route.setUp(answers);
    await expect(call(fields)).rejects.toMatchObject({ status: 400, param, message: expect.stringContaining(words) });
    expect([sent, await events()]).toEqual([[], []]);
  };

  test.each([
    ['no input', {}, 'input', 'non-empty string'],
    ['an empty string', { input: '' }, 'input', 'non-empty string'],
    ['an empty list', { input: [] }, 'input', 'non-empty'],
    ['an empty string first', { input: ['', 'a'] }, 'input[0]', 'non-empty string'],
    ['an empty string later', { input: ['a', ''] }, 'input[1]', 'non-empty string'],
    ['strings and numbers', { input: ['a', 1] }, 'input[1]', 'non-empty string'],
    ['numbers and strings', { input: [1, 'a'] }, 'input[1]', 'token id'],
    ['a number that is not whole', { input: [1.5] }, 'input[0]', 'token id'],
    ['a negative id', { input: [[3, -1]] }, 'input[0]', 'token ids'],
    ['an empty list of ids', { input: [[1], []] }, 'input[1]', 'token ids'],
    ['an object', { input: { text: 'a' } }, 'input', 'non-empty string'],
    ['null', { input: null }, 'input', 'non-empty string'],
    ['2,049 inputs', { input: Array(2_049).fill('a') }, 'input', 'at most 2048 inputs, got 2049'],
    ['another format', { input: 'a', encoding_format: 'int8' }, 'encoding_format', 'float'],
    ['no dimensions at all', { input: 'a', dimensions: 0 }, 'dimensions', '1'],
    ['more dimensions than there are', { model: 'short', input: 'a', dimensions: 5 }, 'dimensions', 'Send 4 or less'],
    ['fewer dimensions of a model that has one length', { input: 'a', dimensions: 2 }, 'dimensions', 'does not support'],
    ['an id outside the vocabulary', { model: 'short', input: [[1], [100]] }, 'input[1]', 'check_embedding_ctx_length=False'],
    ['ids for a model without a vocabulary', { input: [1] }, 'input', 'OpenAILikeEmbedding'],
    ['ids beyond the window', { model: 'short', input: [[1], Array(1_001).fill(1)] }, 'input[1]', '1001 tokens'],
    ['too many tokens', { input: Array(301).fill('x'.repeat(4_000)) }, 'input', '300000 tokens'],
    ['a model for text', { model: 'm', input: 'a' }, 'model', '/v1/chat/completions'],
  ])('rejects %s', (_, fields, param, words) => expectRefused(fields, param, words));
});

describe('a text longer than the context window', () => {
  const counted = {
    count: async ({ texts }: { texts: string[] }) => ({
      prompt_tokens: null,
      text_tokens: texts.map((text) => text.length),
      special_tokens: 2,
    }),
  };
  const tokenizer = { ...counted, fit: jest.fn(), tokenize: jest.fn(), detokenize: jest.fn() } as never;

  test('is rejected with its index before the model is invoked, and nothing is charged', async () => {
    const { call, sent, events, inFlight } = await route.setUp(answers, { tokenizer });
    const input = ['a', 'x'.repeat(998), 'x'.repeat(999)];
    await expect(call({ model: 'short', input })).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'input[2]',
      message: expect.stringMatching(/^This model's maximum context length is 1000 tokens, but 'input\[2\]' has 1001 tokens\./),
    });
    expect([sent.length, await inFlight()]).toEqual([0, 0]);
    expect(await events()).toMatchObject([{ outcome: 'upstream_failed', cost_nanos: 0n, prompt_tokens: 0 }]);
    expect((await call({ model: 'short', input: input.slice(0, 2) })).statusCode).toBe(200);
  });

  test('is rejected in our words if only the runtime can tell', async () => {
    const tooLong: Invoke = async function* () {
      yield* [];
      throw new RefusedByModel("This model's maximum context length is 1000 tokens. Please reduce the length of the messages.");
    };
    const { call } = await route.setUp(tooLong);
    await expect(call({ input: ['a', 'b'] })).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'input',
      message: expect.stringContaining("between 'input[0]' and 'input[1]'"),
    });
  });
});

describe('the charge', () => {
  test('is for the prompt tokens that the runtime counted, in one event', async () => {
    const { call, events, inFlight } = await route.setUp(answers);
    await call({ input: ['one', 'two'], user: 'me' });
    expect(await events()).toMatchObject([
      {
        route: '/v1/embeddings',
        model: 'e',
        stream: false,
        prompt_tokens: 2,
        completion_tokens: 0,
        cost_nanos: BigInt(2 * PRICE_NANOS),
        source: 'runtime',
        outcome: 'completed',
        time_to_first_token_ms: null,
        user: 'me',
      },
    ]);
    expect(await inFlight()).toBe(0);
  });

  test.each([
    ['no count', undefined],
    ['a count that is not a number', 'many'],
    ['more tokens than the request can have', 10_000],
  ])('is an estimate if the runtime sends %s', async (_, prompt_tokens) => {
    const { call, events } = await route.setUp(repliesWith((sent) => ({ ...vllmReply(sent), usage: { prompt_tokens } })));
    expect(await bodyOf(await call({ input: 'x'.repeat(40) }))).toMatchObject({ usage: { prompt_tokens: 10, total_tokens: 10 } });
    expect(await events()).toMatchObject([{ prompt_tokens: 10, source: 'estimated', cost_nanos: BigInt(10 * PRICE_NANOS) }]);
  });

  test.each([
    ['none', null],
    ['more tokens than the request can have', { prompt_tokens: 10_000 }],
  ])('is the tokenizer’s count if the runtime sends %s', async (_, usage) => {
    const tokenizer = {
      count: async ({ texts }: { texts: string[] }) => ({ prompt_tokens: null, text_tokens: texts.map(() => 30), special_tokens: 2 }),
    };
    const { call, events } = await route.setUp(
      repliesWith((sent) => ({ ...vllmReply(sent), usage })),
      { tokenizer: tokenizer as never },
    );
    await call({ model: 'short', input: ['x'.repeat(40), 'y'.repeat(40)] });
    expect(await events()).toMatchObject([{ prompt_tokens: 64, source: 'estimated' }]);
  });
});

describe('a reply of the runtime that no caller may get', () => {
  const NAN = base64Of([1, Number.NaN, 0, 0]);
  const one = (embedding: unknown, index: unknown = 0) => ({ data: [{ index, embedding }], usage: { prompt_tokens: 1 } });
  test.each([
    ['NaN in base64', one(NAN)],
    ['infinity in base64', one(base64Of([1, Number.NEGATIVE_INFINITY, 0, 0]))],
    ['NaN in JSON', '{"data":[{"index":0,"embedding":[1,NaN,0,0]}]}'],
    ['null in JSON', one([1, null, 0, 0])],
    ['a number beyond 32 bits', one([1e39, 0, 0, 0])],
    ['a vector that is too long', one(base64Of([1, 2, 3, 4, 5]))],
    ['a vector that is too short', one([1, 2, 3])],
    ['no vector', one(undefined)],
    ['an index that is not there', one(base64Of(vectorOf('a')), 1)],
    ['no entry', { data: [] }],
    ['null', 'null'],
    ['text', 'Internal error: the text of the caller'],
  ])('is a 503 that costs nothing: %s', async (_, reply) => {
    const { call, events, inFlight } = await route.setUp(repliesWith(() => reply));
    await expect(call({ input: 'a' })).rejects.toMatchObject({ status: 503, code: 'upstream_error' });
    expect(await events()).toMatchObject([{ outcome: 'upstream_failed', cost_nanos: 0n }]);
    expect(await inFlight()).toBe(0);
  });
});

describe('a request of many inputs', () => {
  const many = Array.from({ length: 2_048 }, (_, index) => `input ${index}`);

  test('is split into calls, and answered whole, in order and with one event', async () => {
    const { call, sent, events } = await route.setUp(answers);
    const { data, usage } = (await bodyOf(await call({ input: many }))) as {
      data: { index: number; embedding: number[] }[];
      usage: unknown;
    };
    expect(data.map(({ embedding }) => embedding)).toEqual(many.map((text) => vectorOf(text)));
    expect(data.map(({ index }) => index)).toEqual([...many.keys()]);
    expect(usage).toEqual({ prompt_tokens: 2_048, total_tokens: 2_048 });
    expect(sent.map(({ input }) => input.length)).toEqual(Array(32).fill(64));
    expect(new Set(sent.map(({ request_id }) => request_id)).size).toBe(32);
    const all = await events();
    expect(all).toMatchObject([{ prompt_tokens: 2_048, cost_nanos: BigInt(2_048 * PRICE_NANOS) }]);
    expect(all[0]?.tries).toBeUndefined();
  });

  test('has at most four calls at a time', async () => {
    let running = 0;
    let most = 0;
    const counting = repliesWith(async (sent) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return vllmReply(sent);
    });
    const { call } = await route.setUp(counting);
    await call({ input: many });
    expect(most).toBe(4);
  });

  test('fails as a whole if one call fails: it costs nothing, and no more calls are made', async () => {
    let calls = 0;
    const failing: Invoke = (invocation) => (++calls === 6 ? broken(invocation) : answers(invocation));
    const broken: Invoke = async function* () {
      yield* [];
      throw new UpstreamFailed('no_capacity', 'busy');
    };
    const { call, sent, events, inFlight } = await route.setUp(failing);
    await expect(call({ input: many })).rejects.toMatchObject({ status: 503, code: 'no_capacity' });
    expect(sent.length).toBeLessThan(12);
    expect(await events()).toMatchObject([{ outcome: 'upstream_failed', cost_nanos: 0n, prompt_tokens: 0 }]);
    expect(await inFlight()).toBe(0);
  });

  test('stops the calls that run when one fails, which does not count against their targets', async () => {
    const failed: string[] = [];
    const health = {
      order: <T>(targets: T) => targets,
      invoked: () => undefined,
      answered: () => undefined,
      failed: () => void failed.push(''),
    };
    let stopped = 0;
    const first: { request?: SentBody } = {};
    const hanging = repliesWith(async (sent, { signal }) => {
      first.request ??= sent;
      if (first.request === sent) throw new RefusedByModel('No.');
      await new Promise((_, reject) =>
        signal.signal.addEventListener('abort', () => {
          stopped++;
          reject(new UpstreamFailed('upstream_error', 'aborted'));
        }),
      );
    });
    const { call } = await route.setUp(hanging, { health });
    await expect(call({ model: 'spread', input: many })).rejects.toMatchObject({ status: 400 });
    expect([stopped, failed.length]).toEqual([3, 0]);
  });

  test('has a timeout whose text is about its inputs', async () => {
    const slow: Invoke = async function* () {
      yield* [];
      throw new UpstreamFailed('upstream_timeout', 'slow');
    };
    const { call } = await route.setUp(slow);
    await expect(call({ input: many })).rejects.toMatchObject({
      status: 503,
      code: 'upstream_timeout',
      message: expect.stringContaining('fewer or shorter'),
    });
  });
});

describe('the header X-Wait-For-Capacity', () => {
  test('is rejected if it is invalid, and has no effect on a model that is no deployment if it is valid', async () => {
    const { call, sent } = await route.setUp(answers);
    await expect(call({ input: 'a' }, { 'x-wait-for-capacity': '281' })).rejects.toMatchObject({
      status: 400,
      param: 'X-Wait-For-Capacity',
    });
    expect((await call({ input: 'a' }, { 'x-wait-for-capacity': '280' })).statusCode).toBe(200);
    expect(sent).toHaveLength(1);
  });

  test('rejects an invalid header for fallbacks, although it has none', async () => {
    const { call } = await route.setUp(answers);
    const refused = { status: 400, param: 'x-sluice-fallback' };
    await expect(call({ input: 'a' }, { 'x-sluice-fallback': 'no' })).rejects.toMatchObject(refused);
    expect((await call({ input: 'a' }, { 'x-sluice-fallback': 'off' })).statusCode).toBe(200);
  });
});

describe('an idempotency key', () => {
  const KEY = { 'idempotency-key': 'k' };

  test('replays a short reply, for the price of one', async () => {
    const { call, sent, events } = await route.setUp(answers);
    const first = await bodyOf(await call({ input: 'a' }, KEY));
    const again = await call({ input: 'a' }, KEY);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await bodyOf(again)).toEqual(first);
    expect([sent.length, (await events()).length]).toEqual([1, 1]);
  });

  test('says that a long reply is not stored, and writes it in pieces', async () => {
    const values = Array.from({ length: LARGE_DIMENSIONS }, (_, place) => Math.fround(Math.sin(place)));
    const embedding = base64Of(values);
    const large = repliesWith(({ input }) => ({
      data: input.map((_, index) => ({ index, embedding })),
      usage: { prompt_tokens: input.length },
    }));
    const { call, sent } = await route.setUp(large);
    const body = { model: 'large', input: Array(100).fill('a'), encoding_format: 'base64' };
    const reply = await call(body, KEY);
    expect([typeof reply.body, reply.headers['content-type'], reply.headers['x-sluice-idempotency']]).toEqual([
      'object',
      'application/json',
      'not-stored',
    ]);
    expect((await bodyOf(reply)).data).toEqual(body.input.map((_, index) => ({ object: 'embedding', index, embedding })));
    // A call's reply has at most 4 MB.
    expect(sent.map(({ input }) => input.length)).toEqual([48, 48, 4]);
    await expect(call(body, KEY)).rejects.toMatchObject({ status: 409 });
  });
});
