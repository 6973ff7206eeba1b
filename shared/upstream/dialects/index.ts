import type { Model } from '../../models/model.ts';
import type { Dialect } from './dialect.ts';
import { sluice } from './sluice.ts';
import { vllm } from './vllm.ts';

/** Every dialect by the name that a model's row has. */
export const dialects: Readonly<Record<Model['dialect'], Dialect>> = { vllm, sluice };
