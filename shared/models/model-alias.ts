import * as z from 'zod';
import { ignoringUnknown } from '../database/ignoring-unknown.ts';
import { ModelName } from './model.ts';

/** Another name of a model. */
export const ModelAlias = z.strictObject({
  alias: ModelName.meta({ description: 'The name that requests can send as `model`.' }),
  model: ModelName.meta({ description: 'The name of the model that answers.' }),
});
export type ModelAlias = z.infer<typeof ModelAlias>;

/** Unknown attributes are ignored, so that this release can read rows of a later one. */
export const StoredModelAlias = ignoringUnknown(ModelAlias);
