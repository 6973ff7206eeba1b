import type { ChatExtra, ChatField } from '../../../functions/inference/chat/request.ts';

/** Values of a field: as text, and as boundary values that the schema must accept or reject. */
export interface Values {
  text: string;
  takes: readonly unknown[];
  refuses: readonly unknown[];
  /** Other fields that the request must have. */
  beside?: Readonly<Record<string, unknown>>;
}

const values = (text: string, takes: readonly unknown[], refuses: readonly unknown[], beside?: Values['beside']): Values => ({
  text,
  takes,
  refuses,
  ...(beside && { beside }),
});

const number = (from: number, to: number): Values => values(`number, ${from} to ${to}`, [from, to], [from - 0.01, to + 0.01]);
const numberFrom = (from: number): Values => values(`number from ${from}`, [from, from + 99.5], [from - 0.01]);
const integer = (from: number, to: number): Values => values(`integer, ${from} to ${to}`, [from, to], [from - 1, to + 1, from + 0.5]);
const integerFrom = (from: number): Values => values(`integer from ${from}`, [from, from + 99], [from - 1, from + 0.5]);
const boolean: Values = values('boolean', [true, false], ['true', 1]);
const string = (most: number): Values => values(`string of up to ${most} characters`, ['x'.repeat(most)], ['x'.repeat(most + 1), 5]);
const oneOf = (...words: readonly string[]): Values =>
  values(words.map((word) => `\`${word}\``).join(' or '), words, ['something else', 5]);
const tokenIds: Values = values('array of up to 1024 token ids', [[], Array(1_024).fill(5)], [Array(1_025).fill(5), [-1], 5]);

const user = { role: 'user', content: 'Hi' };
const functionTool = { name: 'f', description: 'Does it.', parameters: { type: 'object' } };
const tool = { type: 'function', function: functionTool };
const biases = (count: number, bias: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, id) => [id, bias]));

/** The values that each field accepts besides null. */
export const accepted: Readonly<Record<ChatField | ChatExtra, Values>> = {
  model: values('string, required; the name of a model', ['m', 'x'.repeat(256)], ['', null, 'x'.repeat(257)]),
  messages: values('array of 1 to 4096 messages, required', [[user], Array(4_096).fill(user)], [[], null, Array(4_097).fill(user)]),
  temperature: number(0, 2),
  top_p: number(0, 1),
  max_tokens: integerFrom(1),
  max_completion_tokens: integerFrom(1),
  n: integer(1, 16),
  stop: values(
    'string of 1 to 256 characters, or up to 4 of them',
    ['x', 'x'.repeat(256), [], Array(4).fill('x')],
    ['', 'x'.repeat(257), Array(5).fill('x'), ['']],
  ),
  top_k: { ...integerFrom(-1), text: 'integer from -1 (-1 and 0: off)' },
  min_p: number(0, 1),
  typical_p: number(0, 1),
  seed: values('integer of 64 bits', [0, -1, 2n ** 63n - 1n], [0.5, 2 ** 63, 1e20]),
  repetition_penalty: values('number above 0, up to 2', [0.01, 2], [0, 2.01]),
  mirostat_target: numberFrom(0),
  mirostat_lr: numberFrom(0),
  stream: boolean,
  stream_options: values('`{ include_usage: boolean }`, with `stream: true`', [{}, { include_usage: true }], [true, { include_usage: 1 }], {
    stream: true,
  }),
  response_format: values(
    '`{ type: "text" }` or `{ type: "json_object" }`; `json_schema` with `capabilities.structured_outputs`',
    [{ type: 'text' }, { type: 'json_object' }],
    [{ type: 'text', strict: true }, { type: 'json_schema', json_schema: { name: 'a' } }, 'json_object'],
  ),
  tools: values('array of up to 128 function tools', [[], Array(128).fill(tool)], [Array(129).fill(tool), [{ type: 'web_search' }]]),
  tool_choice: values(
    '`auto`, `none`, `required`, or `{ type: "function", function: { name } }`',
    ['auto', 'none', 'required', { type: 'function', function: { name: 'f' } }],
    ['any', { type: 'function', function: { name: 'g' } }],
    { tools: [tool] },
  ),
  parallel_tool_calls: boolean,
  presence_penalty: number(-2, 2),
  frequency_penalty: number(-2, 2),
  logprobs: boolean,
  top_logprobs: { ...integer(0, 20), text: 'integer, 0 to 20, with `logprobs: true`', beside: { logprobs: true } },
  logit_bias: values(
    'object of up to 1024 token ids, each with a number from -100 to 100',
    [{}, biases(1_024, -100), { 5: 100 }],
    [biases(1_025, 1), { 5: 100.1 }, { 5: -100.1 }, { river: 1 }],
  ),
  user: string(512),
  metadata: values('object of up to 16384 bytes of JSON', [{}, { a: 'x'.repeat(16_376) }], [{ a: 'x'.repeat(16_377) }, [1]]),
  prompt_truncate_len: integerFrom(1),
  context_length_exceeded_behavior: oneOf('truncate', 'error'),
  return_token_ids: boolean,
  prompt_cache_isolation_key: string(256),
  raw_output: boolean,
  perf_metrics_in_response: boolean,
  echo: boolean,
  echo_last: integerFrom(0),
  ignore_eos: boolean,
  speculation: values('string, or array of token ids', ['text', [1, 2]], [5, [0.5]]),
  prediction: values('string, or `{ type: "content", content }`', ['text', { content: 'a' }, { type: 'content', content: [{}] }], [5, {}]),
  reasoning_effort: values(
    '`low`, `medium`, `high`, `none`; a number of tokens from 1; or a boolean',
    ['low', 'medium', 'high', 'none', 1, true, false],
    ['much', 0, 1.5],
  ),
  reasoning_history: oneOf('disabled', 'interleaved', 'preserved'),
  thinking: values(
    '`{ type: "enabled", budget_tokens: integer from 1 }` or `{ type: "disabled" }`',
    [{ type: 'enabled' }, { type: 'enabled', budget_tokens: 1 }, { type: 'disabled' }],
    [{}, { type: 'enabled', budget_tokens: 0 }, true],
  ),
  functions: values('deprecated; array of up to 128 functions', [[], Array(128).fill(functionTool)], [Array(129).fill(functionTool), [{}]]),
  function_call: values('deprecated; `auto`, `none` or `{ name }`', ['auto', 'none', { name: 'f' }], ['required', { name: 'g' }], {
    functions: [functionTool],
  }),
  models: values('array of up to 3 names of models besides `model`', [[], ['m2', 'm3', 'm4']], [['a', 'b', 'c', 'd'], [''], 'm2', [5]]),
  min_tokens: integerFrom(0),
  stop_token_ids: tokenIds,
  include_stop_str_in_output: boolean,
  skip_special_tokens: boolean,
  bad_words: values(
    'array of up to 1024 strings of 1 to 256 characters',
    [[], ['x'.repeat(256)]],
    [[''], ['x'.repeat(257)], Array(1_025).fill('x')],
  ),
  allowed_token_ids: tokenIds,
};
