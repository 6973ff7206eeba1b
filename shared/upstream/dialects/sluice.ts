import { passed } from './dialect.ts';
import { vllm } from './vllm.ts';

/** Our own container: vLLM's fields, plus a few samplers and echo options that vLLM does not have. */
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
