import { describe, expect, test } from '@jest/globals';
import { createCompletion, createCompletionStream } from '../../../../functions/inference/completions/reply.ts';
import { CompletionRequest, promptsOf } from '../../../../functions/inference/completions/request.ts';
import { completions } from '../../../../functions/inference/completions/route.ts';
import { checkCompletion, ignoredCompletionFields, maxTokensOf } from '../../../../functions/inference/completions/support.ts';
import { toUpstreamCompletion } from '../../../../functions/inference/completions/to-upstream.ts';
import { prepareRequest, resolveMaxTokens } from '../../../../functions/inference/pipeline/prepare-request.ts';
import { trackUsage } from '../../../../functions/inference/pipeline/request-usage.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { Model } from '../../../../shared/models/model.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import { createStreamReader } from '../../../../shared/upstream/read-stream.ts';

const model = (change: object = {}): Model =>
  Model.parse({
    name: 'm',
    status: 'published',
    created: 0,
    context_length: 100,
    max_output_tokens: 50,
    default_output_tokens: 10,
    tokenizer: { tokenizer: 'k', vocabulary_size: 100 },
    targets: [{ endpoint: 'e' }],
    prices: [{ version: '1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
    ...change,
  });
const read = (body: object): CompletionRequest => validate(CompletionRequest, { model: 'm', prompt: 'Once', ...body });
const upstream = (body: object): Record<string, unknown> => {
  const request = read(body);
  const facts = {
    containerModel: '',
    prompt: completions.toPrompt(request, model()),
    maxTokens: 10,
    requestId: 'req_1',
    cacheSalt: 'salt',
  };
  return toUpstreamCompletion(request, model(), facts);
};
const always = {
  model: '',
  prompt: 'Once',
  max_tokens: 10,
  cache_salt: 'salt',
  stream: true,
  stream_options: { include_usage: true },
  request_id: 'req_1',
};

const checkWith = (request: CompletionRequest, of: Model): void => checkCompletion(request, of, resolveMaxTokens(maxTokensOf(request), of));

// Only output is charged if the answer breaks off, and only output ends the wait for the first token.
test.each([
  ['an echo', { echo: true }, 'Once', false],
  ['text after an echo', { echo: true }, 'Once u', true],
  ['text whose prompt is echoed as token ids, not as text', { echo: true, return_token_ids: true }, 'u', true],
])('counts output: %s', (_, body, text, isOutput) => {
  const request = read(body);
  const of = model();
  const prepared = prepareRequest(completions, request, of, of.prices[0] as (typeof of.prices)[number]);
  const facts = { event: { receivedAtMs: 0 }, request } as unknown as Parameters<typeof trackUsage>[0];
  const first = { model: of, prepared } as Parameters<typeof trackUsage>[1];
  const usage = trackUsage(facts, first, [], { now: () => 0, tokenizerOf: () => ({}) as never });
  usage.count([{ choices: [{ index: 0, delta: { content: text } }] }]);
  expect(usage.hasOutput()).toBe(isOutput);
});

describe('a completion request', () => {
  test.each([
    ['Once', ['Once']],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [[1, 2], [[1, 2]]],
    [
      [[1], [2, 3]],
      [[1], [2, 3]],
    ],
  ])('accepts the prompt %j', (prompt, prompts) => {
    expect(promptsOf(read({ prompt }))).toEqual(prompts);
  });

  test.each([
    ['prompt', { prompt: null }],
    ['prompt', { prompt: '' }],
    ['prompt', { prompt: [] }],
    ['prompt', { prompt: ['a', 1] }],
    ['prompt', { prompt: [[]] }],
    ['prompt', { prompt: undefined }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: -1 }],
    ['logprobs', { logprobs: 6 }],
    ['logprobs', { logprobs: true }],
    ['suffix', { suffix: 'the end' }],
    ['stream_options', { stream_options: { include_usage: true } }],
    ['n', { n: 2, temperature: 0 }],
    ['n', { n: 16, prompt: Array(9).fill('a') }],
    ['temperature', { temperature: 3 }],
  ])('names %s when it gets %j', (param, body) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ status: 400, param: expect.stringMatching(new RegExp(`^${param}\\b`)) }));
  });

  test.each([
    { suffix: null },
    { suffix: '' },
    { max_tokens: 0, echo: true },
    { stop: ['\nuser:'] },
    { n: 1, temperature: 0 },
    { best_of: 1 },
  ])('accepts %j', (body) => {
    expect(() => read(body)).not.toThrow();
  });

  test('gets 16 tokens without max_tokens, as with OpenAI and vLLM', () => {
    expect(completions.maxTokens(read({}))).toBe(16);
    expect(completions.choices(read({ prompt: ['a', 'b'], n: 3 }))).toBe(6);
  });

  test('is sent upstream without nulls and unsupported fields, which are listed as ignored', () => {
    expect(upstream({ temperature: null, best_of: 2, user: 'u', messages: [], cache_salt: 'x', priority: 1 })).toEqual(always);
    const passed = { echo: true, logprobs: 0, top_k: 5, seed: 1, stop: ['a'], n: 2, min_tokens: 3, return_token_ids: true };
    expect(upstream({ ...passed, prompt: [1, 2] })).toEqual({ ...always, ...passed, prompt: [1, 2] });
    expect(upstream({ prompt: ['a', 'b'] }).prompt).toEqual(['a', 'b']);
    expect(ignoredCompletionFields(read({ best_of: 2, messages: [], typical_p: 1, user: 'u' }), model())).toEqual([
      'typical_p',
      'best_of',
      'messages',
    ]);
    const streamed = read({ stream: true, stream_options: { include_usage: true, include_obfuscation: false } });
    expect(ignoredCompletionFields(streamed, model())).toEqual(['stream_options.include_obfuscation']);
  });

  test('can have only token ids of the vocabulary', () => {
    expect(() => checkWith(read({ prompt: [99] }), model())).not.toThrow();
    expect(() => checkWith(read({ prompt: [[1], [100]] }), model())).toThrow(expect.objectContaining({ status: 400, param: 'prompt' }));
    expect(() => checkWith(read({ prompt: [1] }), model({ tokenizer: undefined }))).toThrow(expect.objectContaining({ param: 'prompt' }));
    expect(() => checkWith(read({ logit_bias: { '100': 1 } }), model())).toThrow(expect.objectContaining({ param: 'logit_bias' }));
  });
});

describe('log probabilities that would not fit into memory', () => {
  const large = model({ context_length: 40_000, max_output_tokens: 8_000 });
  const check = (body: object) => () => checkWith(read(body), large);
  const words = (count: number) => 'a'.repeat(count);
  const ids = (count: number) => Array<number>(count).fill(1);

  test.each([
    ['of all choices without streaming', { n: 16, max_tokens: 1_000, logprobs: 5 }],
    ['of several prompts without streaming', { prompt: Array(120).fill('a'), max_tokens: 200, logprobs: 2 }],
    ['of echoes without streaming', { prompt: Array(50).fill(words(1_000)), echo: true, max_tokens: 1, logprobs: 1 }],
    ['of the echoes of every choice', { prompt: words(3_000), n: 16, echo: true, max_tokens: 1, logprobs: 1 }],
    ['of one echo, even with streaming', { prompt: words(30_000), echo: true, max_tokens: 1, logprobs: 2, stream: true }],
    ['of one echo of token ids', { prompt: ids(20_000), echo: true, max_tokens: 1, logprobs: 5, stream: true }],
  ])('are a 400 that names logprobs: those %s', (_, body) => {
    const refusal = expect.objectContaining({
      status: 400,
      param: 'logprobs',
      message: expect.stringMatching(/log probabilities .*at most 70000/),
    });
    expect(check(body)).toThrow(refusal as never);
  });

  test.each([
    ['a stream has no limit', { n: 16, max_tokens: 8_000, logprobs: 5, stream: true }],
    ['a few fit without streaming', { n: 16, max_tokens: 700, logprobs: 5 }],
    ['a stream sends each echo separately', { prompt: Array(50).fill(words(1_000)), echo: true, max_tokens: 1, logprobs: 1, stream: true }],
    ['no prompt has more tokens than the window', { prompt: words(1_000_000), echo: true, max_tokens: 0, logprobs: 0 }],
    ['none were requested', { prompt: words(1_000_000), echo: true, n: 16, max_tokens: 8_000 }],
  ])('are no fault if %s', (_, body) => {
    expect(check(body)).not.toThrow();
  });
});

const facts = { id: 'cmpl-1', created: 1, model: 'm', requestId: 'req_1', organization: 'org_1', mayStore: true };
const logprobs = (token: string) => ({ tokens: [token], token_logprobs: [-1], top_logprobs: [{ [token]: -1 }], text_offset: [0] });
const sse = [
  { choices: [{ index: 1, text: 'b', logprobs: logprobs('b'), prompt_token_ids: [7] }] },
  { choices: [{ index: 0, text: 'a', logprobs: logprobs('a'), token_ids: [1] }] },
  { choices: [{ index: 0, text: '', finish_reason: 'length' }] },
  { choices: [{ index: 1, text: 'c', logprobs: logprobs('c'), finish_reason: 'stop', stop_reason: 5 }] },
  { choices: [], usage: { prompt_tokens: 2, completion_tokens: 3 } },
]
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  .join('');
const chunks = (): UpstreamChunk[] => {
  const reader = createStreamReader(2);
  return [...reader.push(Buffer.from(`${sse}data: [DONE]\n\n`)), ...reader.end()];
};
const usage = { prompt_tokens: 2, completion_tokens: 3 };

describe('a reply', () => {
  test('has every choice with all its log probabilities if it is not streamed', () => {
    const reply = createCompletion(facts, { includeUsage: true, tokenIds: true });
    reply.take(chunks());
    expect(reply.whole(usage)).toMatchObject({
      id: 'cmpl-1',
      object: 'text_completion',
      choices: [
        { index: 0, text: 'a', finish_reason: 'length', stop_reason: null, token_ids: [1], logprobs: logprobs('a') },
        {
          index: 1,
          text: 'bc',
          finish_reason: 'stop',
          stop_reason: '5',
          prompt_token_ids: [7],
          logprobs: { tokens: ['b', 'c'], token_logprobs: [-1, -1], top_logprobs: [{ b: -1 }, { c: -1 }], text_offset: [0, 0] },
        },
      ],
      usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
    });
  });

  test('can have as many tokens at once as a runtime may send', () => {
    const many = Array<number>(200_000).fill(0);
    const scores = { tokens: many, token_logprobs: many, top_logprobs: many, text_offset: many };
    const reply = createCompletion(facts, { includeUsage: false, tokenIds: true });
    reply.take([{ choices: [{ index: 0, delta: { content: 'a' }, logprobs: scores as never, token_ids: many, finish_reason: 'stop' }] }]);
    const { choices } = reply.whole(usage) as { choices: { token_ids: number[]; logprobs: { tokens: number[] } }[] };
    expect([choices[0]?.token_ids.length, choices[0]?.logprobs.tokens.length]).toEqual([200_000, 200_000]);
  });

  test('has the same content as a stream, with one finish per choice, and usage only if requested', () => {
    const events = (includeUsage: boolean) => {
      const reply = createCompletionStream(facts, { includeUsage, tokenIds: false });
      return (reply.take(chunks()) + reply.usage(usage))
        .split('\n\n')
        .filter(Boolean)
        .map(
          (event) =>
            JSON.parse(event.slice('data: '.length)) as {
              choices: { index: number; text: string; finish_reason: string | null }[];
              usage?: unknown;
            },
        );
    };
    const all = events(true);
    const textOf = (index: number) =>
      all.flatMap(({ choices }) => choices.filter((choice) => choice.index === index).map(({ text }) => text)).join('');
    expect([textOf(0), textOf(1)]).toEqual(['a', 'bc']);
    expect(all.flatMap(({ choices }) => choices.filter((choice) => choice.finish_reason))).toHaveLength(2);
    expect(all.map((event) => event.usage ?? null).filter(Boolean)).toHaveLength(1);
    expect(all.every((event) => 'usage' in event)).toBe(true);
    expect(events(false).some((event) => 'usage' in event)).toBe(false);
    expect(JSON.stringify(all)).not.toContain('token_ids');
  });
});
