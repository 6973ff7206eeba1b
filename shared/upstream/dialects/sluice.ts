import { passed } from './dialect.ts';
import { vllm } from './vllm.ts';

/** Our own container: vLLM's words and rules, and a few samplers and echoes that vLLM does not have. */
export const sluice: typeof vllm = {
  ...vllm,
  fields: {
    ...vllm.fields,
    typical_p: passed,
    mirostat_target: passed,
    mirostat_lr: passed,
    echo: passed,
    echo_last: passed,
  },
};
