import * as z from 'zod';
import { ignoringUnknown } from '../database/ignoring-unknown.ts';
import { ModelFallbacks, ModelName } from './model.ts';
import { ModelSplit } from './split.ts';

/** Another name of a model. */
export const ModelAlias = z.strictObject({
  alias: ModelName.meta({ description: 'The name that requests can send as `model`.' }),
  model: ModelName.meta({ description: 'The name of the model that answers.' }),
  /** Absent in rows of earlier releases. */
  fallbacks: ModelFallbacks.default([]),
  split: ModelSplit.optional(),
  /** Absent in rows of earlier releases. Every change increments it. */
  version: z.int().min(1).optional(),
});
export type ModelAlias = z.output<typeof ModelAlias>;

/** Unknown attributes are ignored, so that this release can read rows of a later one. */
export const StoredModelAlias = ignoringUnknown(ModelAlias);
