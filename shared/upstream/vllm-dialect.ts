import { type Dialect, ignored, ours, passed, refused, renamed } from './dialect.ts';

const fields = {
  model: ours,
  messages: ours,
  temperature: passed,
  top_p: passed,
  max_tokens: ours,
  max_completion_tokens: renamed('max_tokens'),
  n: passed,
  stop: passed,
  top_k: passed,
  min_p: passed,
  typical_p: ignored,
  seed: passed,
  repetition_penalty: passed,
  mirostat_target: ignored,
  mirostat_lr: ignored,
  stream: ours,
  stream_options: ours,
  response_format: passed,
  tools: passed,
  tool_choice: passed,
  parallel_tool_calls: passed,
  presence_penalty: passed,
  frequency_penalty: passed,
  logprobs: passed,
  top_logprobs: passed,
  logit_bias: passed,
  user: ours,
  metadata: ours,
  prompt_truncate_len: ours,
  context_length_exceeded_behavior: ours,
  return_token_ids: passed,
  prompt_cache_isolation_key: renamed('cache_salt'),
  raw_output: refused,
  perf_metrics_in_response: ours,
  // vLLM's own chat `echo` only prepends the last message to the answer.
  echo: refused,
  echo_last: ignored,
  ignore_eos: passed,
  speculation: ignored,
  prediction: ignored,
  reasoning_effort: passed,
  reasoning_history: ours,
  thinking: renamed('chat_template_kwargs'),
  functions: renamed('tools'),
  function_call: renamed('tool_choice'),
  models: ours,
};

const extras = [
  'min_tokens',
  'stop_token_ids',
  'include_stop_str_in_output',
  'skip_special_tokens',
  'bad_words',
  'allowed_token_ids',
] as const;

/**
 * vLLM behind `/invocations` (0.20 to 0.32). It rejects null in many places, so a field without a value is never
 * sent.
 */
export const vllm: Dialect<keyof typeof fields, (typeof extras)[number]> = {
  fields,
  extras,
  always: { stream: true, stream_options: { include_usage: true } },
  requestIdField: 'request_id',
  keepsThinkingBudget: true,
  hasStrictGrammar: true,
  continuesLastMessage: true,
};
