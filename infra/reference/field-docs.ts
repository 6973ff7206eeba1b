import type { FieldDoc } from '../../shared/hosts/operation.ts';

/** A property that a runtime may not have. */
const ifSupported = 'Without effect on a model whose runtime does not have it, and then named in `x-sluice-ignored`.';
const refusedIfNot = 'A 400 on a model whose runtime does not have it.';
const MAX_BIASES = 1_024;

/** What the properties of request bodies mean. The same name means the same in every one of them. */
export const fieldDocs: Readonly<Record<string, FieldDoc>> = {
  model: { description: 'The name of a published model: one of GET /v1/models.', examples: ['qwen3-8b'] },
  messages: { description: 'The conversation so far.' },
  prompt: {
    description:
      'The text to go on from: a string, token ids, or several of either. Each prompt gets choices of its own. Token ids are a 400 on a model that was published without its tokenizer.',
  },
  tokens: { description: 'Token ids of the model.' },
  temperature: { description: 'How freely tokens are drawn. 0 takes the likeliest one each time.' },
  top_p: { description: 'Draws from the likeliest tokens that together have this probability. 0 takes the likeliest one each time.' },
  max_tokens: {
    description:
      'The most tokens to generate. It is lowered to what the context window leaves beside the prompt. Without it the default of the model counts. Set it: an answer that nobody reads any more is generated, and charged, to its end.',
  },
  max_completion_tokens: { description: 'The newer name of max_tokens. It wins where both are set.' },
  n: { description: 'How many choices are generated, each of them charged. With a temperature of 0 it must be 1.' },
  best_of: { description: 'Without effect, and named in `x-sluice-ignored`: ask for `n` choices.' },
  suffix: { description: 'Not supported: a 400 where it is not empty.', maxLength: 0 },
  stop: { description: 'Text that ends the answer, up to 4 of them. It is not part of the answer.' },
  top_k: { description: 'Draws from this many likeliest tokens. -1 and 0: off.' },
  min_p: { description: 'Draws only from tokens with at least this share of the probability of the likeliest one.' },
  typical_p: { description: `Draws from tokens of typical surprise. ${ifSupported}` },
  seed: {
    description: 'Makes the same request draw the same tokens, as far as the runtime can: an integer of 64 bits.',
    type: ['integer', 'null'],
  },
  repetition_penalty: { description: 'Above 1: makes tokens that are in the prompt or the answer already less likely.' },
  mirostat_target: { description: `Target perplexity of Mirostat sampling. ${ifSupported}` },
  mirostat_lr: { description: `Learning rate of Mirostat sampling. ${ifSupported}` },
  stream: { description: 'Sends the answer as server-sent events while it is generated.', default: false },
  stream_options: { description: 'Only with `stream: true`. `include_usage` adds an event with the usage before the end.' },
  response_format: {
    description:
      'The form of the answer: text, or one JSON object. With `json_object`, also say in a message that JSON is wanted. No other keys are taken in it.',
  },
  tools: { description: 'The functions that the model may call.' },
  tool_choice: {
    description: '`auto`: the model decides. `none`: no call. `required`: one call or more. With an object: a call of that function.',
    default: 'auto',
  },
  parallel_tool_calls: { description: 'Whether one answer may hold several calls.' },
  presence_penalty: { description: 'Above 0: makes tokens that are in the answer already less likely.' },
  frequency_penalty: { description: 'Above 0: makes tokens less likely with each time that they are in the answer already.' },
  logprobs: { description: 'Log probabilities of the tokens of the answer.' },
  top_logprobs: { description: 'Those of this many likeliest tokens at each place too. Only with `logprobs: true`.' },
  logit_bias: {
    description: 'Token ids, as decimal strings, with what is added to the logit of each.',
    type: ['object', 'null'],
    propertyNames: { pattern: '^\\d{1,9}$' },
    additionalProperties: { type: 'number', minimum: -100, maximum: 100 },
    maxProperties: MAX_BIASES,
  },
  user: { description: 'Your own id of the end user. It is kept with the usage of the request.' },
  metadata: { description: 'An object of your own, up to 16 KiB of JSON. It is kept with the usage of the request.' },
  prompt_truncate_len: { description: 'Shortens the prompt to this many tokens by leaving out the oldest messages first.' },
  context_length_exceeded_behavior: {
    description: 'What happens where prompt and max_tokens do not fit into the context window: max_tokens is lowered, or a 400.',
    default: 'truncate',
  },
  return_token_ids: { description: 'Adds `token_ids` to each choice, and `prompt_token_ids`.', default: false },
  prompt_cache_isolation_key: {
    description: 'Requests of your organization with different keys share no cached prompts. With other organizations they never do.',
  },
  raw_output: { description: `The answer before it was parsed. ${refusedIfNot}`, default: false },
  perf_metrics_in_response: { description: 'Adds `perf_metrics` to the reply.', default: false },
  echo: { description: `Puts the prompt before the answer. ${refusedIfNot}`, default: false },
  echo_last: { description: `Puts the last tokens of the prompt, this many, before the answer. ${ifSupported}` },
  ignore_eos: { description: 'Goes on behind the token that ends an answer.', default: false },
  speculation: { description: `A draft of the answer, as text or token ids, to be checked instead of written. ${ifSupported}` },
  prediction: { description: `What the answer will mostly be. ${ifSupported}` },
  reasoning_effort: {
    description:
      'How much a reasoning model thinks: a word; true or false; or the most tokens, where the model keeps such a bound. Not together with `thinking`.',
  },
  reasoning_history: {
    description:
      'Which reasoning of earlier turns is put into the prompt: none, that since the last user message, or all. A model whose chat template drops it drops it still.',
  },
  thinking: { description: 'Switches a model’s thinking on or off. Not together with `reasoning_effort`.' },
  functions: { description: 'The older name of `tools`.', deprecated: true },
  function_call: { description: 'The older name of `tool_choice`.', deprecated: true },
  min_tokens: { description: 'Generates at least this many tokens.' },
  stop_token_ids: { description: 'Tokens that end the answer.' },
  include_stop_str_in_output: { description: 'Makes the stop string part of the answer.' },
  skip_special_tokens: { description: 'Leaves special tokens out of the text of the answer.' },
  bad_words: { description: 'Words that are never generated.' },
  allowed_token_ids: { description: 'The only tokens that may be generated.' },
};
