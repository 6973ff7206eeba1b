import type { FieldNames } from '../../../shared/http/errors.ts';

/** The Responses API's names for a chat completion's fields. */
export const fieldNames: FieldNames = {
  messages: 'input',
  max_tokens: 'max_output_tokens',
  prompt_truncate_len: 'truncation',
  response_format: 'text.format',
  reasoning_effort: 'reasoning.effort',
  logprobs: 'top_logprobs',
};
