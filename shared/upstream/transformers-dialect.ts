import { ignored, refused } from './dialect.ts';
import { vllm } from './vllm-dialect.ts';

/**
 * `transformers serve` (https://huggingface.co/docs/transformers/serve-cli/serving). It rejects requests with fields
 * that it doesn't know or doesn't support, so those are not sent: `refused` where an answer without them would be
 * wrong, `ignored` otherwise. It can't isolate its prompt cache.
 */
export const transformers: typeof vllm = {
  fields: {
    ...vllm.fields,
    n: refused,
    top_k: ignored,
    min_p: ignored,
    repetition_penalty: ignored,
    presence_penalty: ignored,
    response_format: refused,
    tool_choice: refused,
    function_call: refused,
    parallel_tool_calls: ignored,
    // It fails for biases without a decimal point, which JSON.stringify never writes for whole numbers.
    logit_bias: refused,
    logprobs: refused,
    top_logprobs: refused,
    return_token_ids: ignored,
    prompt_cache_isolation_key: ignored,
    ignore_eos: ignored,
    reasoning_effort: ignored,
  },
  extras: [],
  completionFields: { echo: refused },
  always: { stream: true },
  keepsThinkingBudget: false,
  hasStrictGrammar: false,
  continuesLastMessage: false,
};
