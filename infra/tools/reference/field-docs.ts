import type { FieldDoc } from '../../../shared/hosts/operation.ts';
import { MODELS_PATH } from '../../../shared/models/models-path.ts';

/* For fields that some runtimes do not support. */
const ifSupported = 'Has no effect if the runtime of the model does not support it, and is then listed in `x-sluice-ignored`.';
const refusedIfNot = 'Returns 400 if the runtime of the model does not support it.';
const MAX_BIASES = 1_024;

/** The documentation of fields in request bodies. A field has the same meaning in every body that has it. */
export const fieldDocs: Readonly<Record<string, FieldDoc>> = {
  model: {
    description: `The name of a published model, as listed by \`GET ${MODELS_PATH}\`.`,
    examples: ['qwen3-8b'],
  },
  messages: { description: 'The conversation so far.' },
  prompt: {
    description:
      'The text to continue: a string, a list of token ids, or several of either. Choices are generated for each prompt. Token ids return 400 if the model was published without its tokenizer.',
  },
  encoding_format: {
    description: 'The form of the vectors: a list of numbers, or the base64 of their little-endian 32-bit floats.',
    default: 'float',
  },
  dimensions: {
    description:
      'The length of the vectors. Only models whose vectors can be shortened accept less than their own length, which `GET /v1/models` lists; others return 400.',
  },
  tokens: { description: 'The token ids to convert to text.' },
  temperature: { description: 'The sampling temperature. Higher values are more random; 0 always chooses the most likely token.' },
  top_p: { description: 'Samples from the most likely tokens with this total probability. 0 always chooses the most likely token.' },
  max_tokens: {
    description:
      'The maximum number of tokens to generate. It is lowered if the context window has less room after the prompt. Defaults to a value that is set for each model. Set it, because an answer is generated and charged to its end even if the client disconnects.',
  },
  max_completion_tokens: { description: 'The newer name of `max_tokens`. If both are set, this one is used.' },
  n: { description: 'The number of choices to generate. Each choice is charged. With a temperature of 0 it must be 1.' },
  best_of: { description: 'Has no effect, and is listed in `x-sluice-ignored`. Use `n` instead.' },
  suffix: { description: 'Not supported. Returns 400 unless it is empty.', maxLength: 0 },
  stop: { description: 'Up to 4 strings that end the answer. The stop string is not part of the answer.' },
  top_k: { description: 'Samples from this number of most likely tokens. -1 and 0 turn this off.' },
  min_p: { description: 'Samples only from tokens with at least this share of the probability of the most likely token.' },
  typical_p: { description: `Samples from locally typical tokens with this total probability. ${ifSupported}` },
  seed: {
    description: 'Makes repeated requests sample the same tokens, as far as the runtime supports it. An integer of 64 bits.',
    type: ['integer', 'null'],
  },
  repetition_penalty: { description: 'Values above 1 make tokens less likely if they are already in the prompt or the answer.' },
  mirostat_target: { description: `The target perplexity of Mirostat sampling. ${ifSupported}` },
  mirostat_lr: { description: `The learning rate of Mirostat sampling. ${ifSupported}` },
  stream: { description: 'Whether to send the answer as server-sent events while it is generated.', default: false },
  stream_options: {
    description:
      'Allowed only with `stream: true`. `include_usage` adds an event with the usage before the end. Other options have no effect.',
  },
  response_format: {
    description:
      'The format of the answer: text, one JSON object, or JSON that follows a schema. With `json_object`, also ask for JSON in a message. `json_schema` returns 400 unless the model has `capabilities.structured_outputs`. Unknown keys in this object return 400.',
  },
  tools: { description: 'The functions that the model can call.' },
  tool_choice: {
    description: '`auto`: the model decides. `none`: no calls. `required`: at least one call. An object: a call of that function.',
    default: 'auto',
  },
  parallel_tool_calls: { description: 'Whether one answer can have several calls.' },
  presence_penalty: { description: 'Values above 0 make tokens less likely if they are already in the answer.' },
  frequency_penalty: { description: 'Values above 0 make tokens less likely each time they appear in the answer.' },
  logprobs: { description: 'Whether to return the log probabilities of the tokens in the answer.' },
  top_logprobs: { description: 'The number of most likely tokens to return at each position. Allowed only with `logprobs: true`.' },
  logit_bias: {
    description: 'An object of token ids, as decimal strings, and the values to add to their logits.',
    type: ['object', 'null'],
    propertyNames: { pattern: '^\\d{1,9}$' },
    additionalProperties: { type: 'number', minimum: -100, maximum: 100 },
    maxProperties: MAX_BIASES,
  },
  user: {
    description:
      'Your own id for the end user. It is stored with the usage of the request. If the API key has limits for each of its end users (`per_user`), it is required, and they are counted by it: a 429 that names this field in `param` is about one of them.',
  },
  metadata: { description: 'An object of your own, up to 16 KiB of JSON. It is stored with the usage of the request.' },
  prompt_truncate_len: { description: 'Truncates the prompt to this number of tokens. The oldest messages are removed first.' },
  context_length_exceeded_behavior: {
    description: 'If prompt and `max_tokens` do not fit the context window: `truncate` lowers `max_tokens`, `error` returns 400.',
    default: 'truncate',
  },
  return_token_ids: { description: 'Whether to return `token_ids` in each choice, and `prompt_token_ids`.', default: false },
  prompt_cache_isolation_key: {
    description: 'Requests with different keys do not share cached prompts. Organizations never share cached prompts.',
  },
  raw_output: { description: `Whether to return the answer as it was before parsing. ${refusedIfNot}`, default: false },
  perf_metrics_in_response: { description: 'Whether to return `perf_metrics`.', default: false },
  echo: { description: `Whether to start the answer with the prompt. ${refusedIfNot}`, default: false },
  echo_last: { description: `The number of tokens at the end of the prompt to start the answer with. ${ifSupported}` },
  ignore_eos: { description: 'Whether to continue after the token that ends an answer.', default: false },
  speculation: { description: `A draft of the answer, as text or token ids, for the runtime to verify. ${ifSupported}` },
  prediction: { description: `The expected text of most of the answer. ${ifSupported}` },
  reasoning_effort: {
    description:
      'How much a reasoning model thinks: an effort level; true or false; or a maximum number of tokens, if the model supports one. Not allowed together with `thinking`.',
  },
  reasoning_history: {
    description:
      'The earlier reasoning to include in the prompt. `disabled`: none. `interleaved`: the reasoning since the last user message. `preserved`: all. Some chat templates remove it anyway.',
  },
  thinking: { description: 'Turns the thinking of the model on or off. Not allowed together with `reasoning_effort`.' },
  functions: { description: 'The older name of `tools`.', deprecated: true },
  function_call: { description: 'The older name of `tool_choice`.', deprecated: true },
  models: {
    description:
      "Up to 3 models that answer in place of `model`, in this order, if it has no capacity, is not ready, fails or is too slow before it has sent anything. The first one can repeat `model`. It replaces the fallbacks that are configured; an empty array means none. You pay the price of the model that answers, which `model` of the response and the header `x-sluice-fallback` name. Unknown names return 404, and names that the API key may not use 403; a model that can't do what the request asks for is left out.",
    examples: [['qwen3-8b', 'qwen3-4b']],
  },
  fallbacks: {
    description:
      "Up to 3 models that answer in place of `model`, in this order, if it has no capacity, is not ready, fails or is too slow before it has sent anything. They replace the fallbacks that are configured; an empty array means none. You pay the price of the model that answers, which `model` of the response and the header `x-sluice-fallback` name. Unknown names return 404, and names that the API key may not use 403; a model that can't do what the request asks for is left out.",
    examples: [[{ model: 'qwen3-4b' }]],
  },
  min_tokens: { description: 'The minimum number of tokens to generate.' },
  stop_token_ids: { description: 'Token ids that end the answer.' },
  include_stop_str_in_output: { description: 'Whether to include the stop string in the answer.' },
  skip_special_tokens: { description: 'Whether to leave special tokens out of the text of the answer.' },
  bad_words: { description: 'Words that are never generated.' },
  allowed_token_ids: { description: 'The only token ids that can be generated.' },
};
