import { ignored, ours, refused, renamed } from './dialect.ts';
import { vllm } from './vllm-dialect.ts';

/**
 * llama.cpp's server (https://github.com/ggml-org/llama.cpp/tree/master/tools/server). It ignores fields that it
 * doesn't know, so those are not sent, and are listed as ignored. Its prompt cache can't be divided between
 * organizations, so it is off.
 */
export const llamaCpp: typeof vllm = {
  fields: {
    ...vllm.fields,
    typical_p: { how: 'passed' },
    repetition_penalty: renamed('repeat_penalty'),
    return_token_ids: ignored,
    reasoning_effort: ignored,
    // Without a cache every request is isolated.
    prompt_cache_isolation_key: ours,
  },
  extras: [],
  completionFields: { echo: refused, return_token_ids: ignored },
  always: { ...vllm.always, cache_prompt: false },
  keepsThinkingBudget: false,
  hasStrictGrammar: false,
  continuesLastMessage: false,
};
