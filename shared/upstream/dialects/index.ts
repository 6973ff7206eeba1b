import type { Model } from '../../models/model.ts';
import { sluice } from './sluice.ts';
import { vllm } from './vllm.ts';

/** Every dialect by its name in a model's row. */
export const dialects = { vllm, sluice } satisfies Readonly<Record<Model['dialect'], typeof vllm>>;
