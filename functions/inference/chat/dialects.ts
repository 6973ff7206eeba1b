import type { Model } from '../../../shared/models/model.ts';
import type { Dialect } from './dialect.ts';
import { sluice } from './sluice-dialect.ts';
import { vllm } from './vllm-dialect.ts';

/** Every dialect by the name that a model's row has. */
export const dialects: Readonly<Record<Model['dialect'], Dialect>> = { vllm, sluice };
