/**
 * A property of the interface: values that it accepts besides null, values that it rejects, and whether it accepts
 * null.
 */
export interface Row {
  takes: readonly unknown[];
  refuses: readonly unknown[];
  isNullable: boolean;
  /** Other fields that the request must have. */
  beside?: Record<string, unknown>;
}

const row = (takes: readonly unknown[], refuses: readonly unknown[], beside?: Record<string, unknown>): Row => ({
  takes,
  refuses,
  isNullable: true,
  ...(beside && { beside }),
});

const user = { role: 'user', content: 'Hi' };
const tool = { type: 'function', function: { name: 'f' } };
const flag = row([true, false], ['yes', 1, {}]);
const share = row([0, 0.5, 1], [-0.1, 1.1, '0.5']);
const penalty = row([-2, 0, 2], [-2.1, 2.1, 'a']);
const count = row([1, 32_000], [0, -1, 1.5, '10']);

/** The rows of interface 2.1, in its order. */
export const requestRows: Readonly<Record<string, Row>> = {
  model: { takes: ['m', 'a/b-1.5'], refuses: ['', 5, {}], isNullable: false },
  messages: {
    takes: [[user], [{ role: 'system', content: 'Be brief.' }, user]],
    refuses: [[], 'Hi', [5], [{ content: 'Hi' }], [{ role: 'wizard', content: 'Hi' }]],
    isNullable: false,
  },
  temperature: row([0, 1, 2], [-0.1, 2.1, '1']),
  top_p: share,
  max_tokens: count,
  max_completion_tokens: count,
  n: row([1, 16], [0, 17, 1.5]),
  stop: row(['\n', [], ['a', 'b', 'c', 'd']], ['', ['a', 'b', 'c', 'd', 'e'], [''], 5, ['x'.repeat(257)]]),
  top_k: row([-1, 0, 40], [-2, 1.5, '1']),
  min_p: share,
  typical_p: share,
  seed: row([0, -1, 2 ** 40, 2 ** 62, -(2 ** 63)], [1.5, 2 ** 63, 1e20, '1']),
  repetition_penalty: row([0.1, 1, 2], [0, -1, 2.1]),
  mirostat_target: row([0, 5], [-1, '5']),
  mirostat_lr: row([0, 0.1], [-1, '5']),
  stream: flag,
  stream_options: row([{}, { include_usage: true }, { include_usage: null }], [true, { include_usage: 'yes' }], { stream: true }),
  response_format: row(
    [{ type: 'text' }, { type: 'json_object' }],
    [{}, { type: 'xml' }, { type: 'json_schema', json_schema: { name: 'a' } }, { type: 'text', extra: 1 }, 'json_object'],
  ),
  tools: row([[], [tool]], [[{ type: 'web_search' }], [{ type: 'function' }], [{ type: 'function', function: { name: 'a b' } }], {}]),
  tool_choice: row(
    ['auto', 'none', 'required', { type: 'function', function: { name: 'f' } }, { type: 'function', function: null }, { type: 'function' }],
    ['always', 5, { type: 'tool' }, { type: 'function', function: { name: 'g' } }],
    { tools: [tool] },
  ),
  parallel_tool_calls: flag,
  presence_penalty: penalty,
  frequency_penalty: penalty,
  logprobs: flag,
  top_logprobs: row([0, 20], [-1, 21, 1.5], { logprobs: true }),
  logit_bias: row([{}, { '5': -100, '6': 100 }], [{ '5': 101 }, { word: 1 }, [5], { '5': 'a' }]),
  user: row(['someone'], [5, 'x'.repeat(513)]),
  metadata: row([{}, { trace: { id: 1 } }], ['a', [1], { big: 'x'.repeat(17_000) }]),
  prompt_truncate_len: count,
  context_length_exceeded_behavior: row(['truncate', 'error'], ['ignore', 1]),
  return_token_ids: flag,
  prompt_cache_isolation_key: row(['team'], [5, 'x'.repeat(257)]),
  raw_output: row([false], ['yes']),
  perf_metrics_in_response: flag,
  echo: row([false], ['yes']),
  echo_last: row([0, 5], [-1, 1.5]),
  ignore_eos: flag,
  speculation: row(['text', [1, 2]], [5, { a: 1 }, ['a']]),
  prediction: row(
    ['text', { content: 'a' }, { type: 'content', content: [{ type: 'text', text: 'a' }] }],
    [5, {}, { type: 'other', content: 'a' }],
  ),
  reasoning_effort: row(['low', 'medium', 'high', 'none', 1, 4_096, true, false], ['extreme', 0, 1.5, {}]),
  reasoning_history: row(['disabled', 'interleaved', 'preserved'], ['all', true]),
  thinking: row(
    [{ type: 'enabled' }, { type: 'enabled', budget_tokens: null }, { type: 'enabled', budget_tokens: 1 }, { type: 'disabled' }],
    [true, {}, { type: 'maybe' }, { type: 'enabled', budget_tokens: 0 }],
  ),
  functions: row([[], [{ name: 'f', parameters: { type: 'object' } }]], [[{}], [{ name: '' }], 'f']),
  function_call: row(['auto', 'none', { name: 'f' }], ['required', {}, { name: 'g' }], { functions: [{ name: 'f' }] }),
};

const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const asking = { role: 'assistant', content: null, tool_calls: [call] };
const inMessage = (message: object): unknown[] => [{ ...user, ...message }];
const inCall = (fields: object): unknown[] => [user, { ...asking, tool_calls: [{ ...call, ...fields }] }];
const inFunction = (fields: object): unknown[] => [{ type: 'function', function: { name: 'f', ...fields } }];

/** Interface 2.2: for each property of a nested type, accepted and rejected values of the field that contains it. */
export const nestedRows: Readonly<
  Record<string, { field: string; takes: readonly unknown[]; refuses: readonly unknown[]; beside?: object }>
> = {
  'Message.role': {
    field: 'messages',
    takes: [
      [{ role: 'system', content: 'a' }, { role: 'developer', content: 'a' }, user, { role: 'assistant', content: 'a' }],
      [user, asking, { role: 'tool', tool_call_id: 'c', content: '5' }],
    ],
    refuses: [inMessage({ role: null }), inMessage({ role: 'wizard' })],
  },
  'Message.content': {
    field: 'messages',
    takes: [
      inMessage({ content: '' }),
      inMessage({ content: [{ type: 'text', text: 'a' }] }),
      [user, { role: 'assistant', content: null }],
    ],
    refuses: [
      inMessage({ content: 5 }),
      inMessage({ content: null }),
      inMessage({ content: [{ type: 'image_url', image_url: { url: 'x' } }] }),
    ],
  },
  'Message.name': { field: 'messages', takes: [inMessage({ name: 'Ann' }), inMessage({ name: null })], refuses: [inMessage({ name: 5 })] },
  'Message.reasoning_content': {
    field: 'messages',
    takes: [inMessage({ reasoning_content: 'a' }), inMessage({ reasoning_content: null })],
    refuses: [inMessage({ reasoning_content: 5 })],
  },
  'Message.tool_call_id': {
    field: 'messages',
    takes: [[user, asking, { role: 'tool', content: '5', tool_call_id: null }], inMessage({ tool_call_id: null })],
    refuses: [inMessage({ tool_call_id: 5 })],
  },
  'Message.tool_calls': {
    field: 'messages',
    takes: [[user, asking], inMessage({ tool_calls: null })],
    refuses: [[user, { role: 'assistant', tool_calls: 'f' }]],
  },
  'Message.reasoning': {
    field: 'messages',
    takes: [inMessage({ reasoning: 'a' }), inMessage({ reasoning: null }), inMessage({ something: { new: true } })],
    refuses: [inMessage({ reasoning: 5 })],
  },
  'StreamOptions.include_usage': {
    field: 'stream_options',
    takes: [{ include_usage: true }, { include_usage: null }],
    refuses: [{ include_usage: 1 }],
    beside: { stream: true },
  },
  'ResponseFormat.type': { field: 'response_format', takes: [{ type: 'text' }], refuses: [{ type: null }, { type: 'text', more: null }] },
  'Tool.type': { field: 'tools', takes: [[tool]], refuses: [[{ ...tool, type: null }], [{ function: { name: 'f' } }]] },
  'Tool.function': { field: 'tools', takes: [[tool]], refuses: [[{ type: 'function', function: null }]] },
  'Function.name': {
    field: 'tools',
    takes: [inFunction({ name: 'a-b_1' })],
    refuses: [inFunction({ name: null }), inFunction({ name: 'x'.repeat(65) })],
  },
  'Function.description': { field: 'tools', takes: [inFunction({ description: 'a' })], refuses: [inFunction({ description: 5 })] },
  'Function.parameters': {
    field: 'tools',
    takes: [inFunction({ parameters: { type: 'object' } }), inFunction({ parameters: null })],
    refuses: [inFunction({ parameters: 'object' })],
  },
  'Function.strict': {
    field: 'tools',
    takes: [inFunction({ strict: true }), inFunction({ strict: null })],
    refuses: [inFunction({ strict: 1 })],
  },
  'FunctionSelection.type': {
    field: 'tool_choice',
    takes: [{ type: 'function', function: { name: 'f' } }],
    refuses: [{ type: null, function: { name: 'f' } }],
    beside: { tools: [tool] },
  },
  'FunctionSelection.function': {
    field: 'tool_choice',
    takes: [{ type: 'function', function: null }],
    refuses: [{ type: 'function', function: 'f' }],
    beside: { tools: [tool] },
  },
  'FunctionNameSpec.name': {
    field: 'tool_choice',
    takes: [{ type: 'function', function: { name: 'f' } }],
    refuses: [{ type: 'function', function: { name: null } }],
    beside: { tools: [tool] },
  },
  'PredictedOutput.content': { field: 'prediction', takes: [{ content: 'a' }, { content: [{}] }], refuses: [{ content: null }] },
  'PredictedOutput.type': { field: 'prediction', takes: [{ type: 'content', content: 'a' }], refuses: [{ type: 'text', content: 'a' }] },
  'ThinkingConfigEnabled.type': { field: 'thinking', takes: [{ type: 'enabled' }], refuses: [{ type: null }] },
  'ThinkingConfigEnabled.budget_tokens': {
    field: 'thinking',
    takes: [{ type: 'enabled', budget_tokens: null }],
    refuses: [{ type: 'enabled', budget_tokens: 1.5 }],
  },
  'ThinkingConfigDisabled.type': { field: 'thinking', takes: [{ type: 'disabled' }], refuses: [{ type: 'off' }] },
  'ToolCall.id': { field: 'messages', takes: [inCall({ id: null }), inCall({ id: 'x' })], refuses: [inCall({ id: 5 })] },
  'ToolCall.type': { field: 'messages', takes: [inCall({ type: undefined })], refuses: [inCall({ type: 'web_search' })] },
  'ToolCall.function': {
    field: 'messages',
    takes: [inCall({ function: { name: null, arguments: null } }), inCall({ function: { name: 'f', arguments: { a: 1 } } })],
    refuses: [inCall({ function: { name: 'f', arguments: 5 } }), inCall({ function: null })],
  },
};

/** Interface 2.3 and 2.4: every key of a reply and of a chunk, but for those of calls that there are none of. */
export const replyKeys = {
  reply: ['id', 'object', 'created', 'model', 'choices', 'usage', 'perf_metrics', 'prompt_token_ids'],
  choice: ['index', 'message', 'finish_reason', 'logprobs', 'raw_output', 'stop_reason', 'token_ids'],
  message: ['role', 'content', 'refusal', 'annotations', 'audio', 'reasoning'],
  usage: ['prompt_tokens', 'total_tokens', 'completion_tokens', 'prompt_tokens_details'],
  chunk: ['id', 'object', 'created', 'model', 'choices', 'usage'],
  streamChoice: ['index', 'delta', 'finish_reason', 'logprobs'],
};
