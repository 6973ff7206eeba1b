import fc from 'fast-check';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';

// Some have lone surrogates, because a runtime can cut anywhere.
const text = fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('', '\ud83d', '\udc4b', '\n"'));
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const loose = <Value>(value: fc.Arbitrary<Value>) => fc.oneof(value, fc.constantFrom(null, undefined));
const ids = fc.array(fc.nat(9), { maxLength: 3 });
const promptIds = fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom([1], [2], []) });

const call = fc.record({
  index: fc.constantFrom(0, 0, 0, 1, null, undefined),
  id: fc.constantFrom(undefined, undefined, undefined, 'a', 'b', '', null),
  function: loose(
    fc.record({
      name: fc.constantFrom(undefined, undefined, undefined, 'f', 'g', '', null),
      arguments: fc.oneof(loose(text), fc.constant({ x: 1 })),
    }),
  ),
});

const delta = fc.oneof(
  { weight: 3, arbitrary: fc.record({ content: text }) },
  { weight: 3, arbitrary: fc.record({ reasoning: text }) },
  { weight: 3, arbitrary: fc.record({ tool_calls: fc.array(call, { maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.constantFrom(null, undefined, {}, { role: 'assistant', content: '' }, { content: [{}] }, { tool_calls: {} }) },
  {
    weight: 1,
    arbitrary: fc.record({
      role: fc.constantFrom('assistant', null, undefined),
      content: loose(text),
      reasoning: loose(text),
      reasoning_content: loose(text),
      tool_calls: loose(fc.array(call, { maxLength: 2 })),
    }),
  },
);

const logprobs = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(null, undefined, { content: null }, { content: [] }) },
  { weight: 2, arbitrary: fc.array(fc.record({ token: text, logprob: fc.integer() }), { maxLength: 2 }).map((content) => ({ content })) },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        tokens: fc.constantFrom(['a'], ['b', 'c'], [], null),
        token_logprobs: fc.constantFrom([-1], [null, -2], null),
        top_logprobs: fc.constantFrom([{ a: -1 }], [null], null),
        text_offset: fc.constantFrom([0], [1, 2]),
      },
      { requiredKeys: ['tokens'] },
    ),
  },
);

const choice = fc.record({
  index: fc.constantFrom(0, 0, 0, 1, 2, undefined),
  delta,
  logprobs,
  token_ids: loose(ids),
  prompt_token_ids: promptIds,
  finish_reason: fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(null, undefined, '') },
    { weight: 1, arbitrary: fc.constantFrom('stop', 'length', 'tool_calls', 'eos', 'content_filter') },
  ),
  stop_reason: fc.constantFrom(null, undefined, 5, '\n'),
});

const chunk = fc.record({
  choices: fc.oneof({ weight: 20, arbitrary: fc.array(choice, { minLength: 1, maxLength: 3 }) }, fc.constantFrom(null, undefined, [])),
  usage: maybe(fc.constantFrom(null, { prompt_tokens: 3, completion_tokens: 4 })),
  prompt_token_ids: promptIds,
  metrics: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.record({ queue: fc.nat(9) }) }),
});

/** Answers that a runtime could give, however unlikely. */
export const randomAnswer = fc.array(chunk, { maxLength: 40 }) as fc.Arbitrary<unknown> as fc.Arbitrary<UpstreamChunk[]>;
