import * as z from 'zod';

// Values become arguments of a command line, so none can begin with a dash, or be a list.
interface Form {
  pattern: RegExp;
  expected: string;
}
const WHOLE: Form = { pattern: /^[1-9]\d{0,8}$/, expected: 'a positive integer as text' };
const SHARE: Form = { pattern: /^(?:0\.\d{1,4}|1(?:\.0)?)$/, expected: 'a number from 0 to 1 as text, such as "0.9"' };
const SWITCH: Form = { pattern: /^(?:true|false)$/, expected: '"true" or "false"' };
const WORD: Form = { pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, expected: 'one word of letters, digits and _ . -' };

export const MAX_MODEL_LEN = 'SM_VLLM_MAX_MODEL_LEN';
export const TENSOR_PARALLEL_SIZE = 'SM_VLLM_TENSOR_PARALLEL_SIZE';

// Variables that change speed, memory and formats. AWS's images turn `SM_VLLM_X=y` into vLLM's argument `--x y`. Those
// that run code, open ports, write logs or set what Sluice decides (the served name, keys, the chat template) are left
// out.
const ALLOWED: Readonly<Record<string, Form>> = {
  [MAX_MODEL_LEN]: WHOLE,
  [TENSOR_PARALLEL_SIZE]: WHOLE,
  SM_VLLM_GPU_MEMORY_UTILIZATION: SHARE,
  SM_VLLM_QUANTIZATION: WORD,
  SM_VLLM_DTYPE: WORD,
  SM_VLLM_KV_CACHE_DTYPE: WORD,
  SM_VLLM_MAX_NUM_SEQS: WHOLE,
  SM_VLLM_ENABLE_PREFIX_CACHING: SWITCH,
  SM_VLLM_ENABLE_AUTO_TOOL_CHOICE: SWITCH,
  SM_VLLM_TOOL_CALL_PARSER: WORD,
  SM_VLLM_REASONING_PARSER: WORD,
  SM_VLLM_ENFORCE_EAGER: SWITCH,
};
const NAMES = Object.keys(ALLOWED);

const faultOf = (name: string, value: string): string | undefined => {
  const form = Object.hasOwn(ALLOWED, name) ? ALLOWED[name] : undefined;
  if (!form) return `this variable can't be set. You can set ${NAMES.join(', ')}`;
  return form.pattern.test(value) ? undefined : `expected ${form.expected}`;
};

export const Environment = z
  .record(z.string().max(100), z.string().max(100))
  .superRefine((environment, context) => {
    for (const [name, value] of Object.entries(environment)) {
      const message = faultOf(name, value);
      if (message !== undefined) return context.addIssue({ code: 'custom', path: [name], message });
    }
  })
  .meta({
    description: `Variables of the container, which become arguments of vLLM. You can set ${NAMES.map((name) => `\`${name}\``).join(', ')}.`,
  });
