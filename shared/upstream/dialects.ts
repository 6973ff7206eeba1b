import type { Model } from '../models/model.ts';
import { passed } from './dialect.ts';
import { llamaCpp } from './llama-cpp-dialect.ts';
import { transformers } from './transformers-dialect.ts';
import { vllm } from './vllm-dialect.ts';

// Our own container knows vLLM's fields, plus a few samplers and echo options that vLLM does not have.
const sluice: typeof vllm = {
  ...vllm,
  fields: { ...vllm.fields, typical_p: passed, mirostat_target: passed, mirostat_lr: passed, echo: passed, echo_last: passed },
};

/** Every dialect of runtimes that generate text, by its name in a model's row. */
export const dialects = { vllm, sluice, llama_cpp: llamaCpp, transformers } satisfies Readonly<
  Partial<Record<Model['dialect'], typeof vllm>>
>;

/** The dialect of a model that generates text. */
export const dialectOf = ({ dialect }: Pick<Model, 'dialect'>): typeof vllm => {
  if (dialect === 'tei') throw new Error(`Models of the dialect '${dialect}' do not generate text.`);
  return dialects[dialect];
};
