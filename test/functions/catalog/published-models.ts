import type { Model } from '../../../shared/models/model.ts';
import { Model as ModelSchema } from '../../../shared/models/model.ts';
import type { ModelReader } from '../../../shared/models/model-store.ts';

/** A published model with one price that is in force from the start; the given fields replace its own. */
export const modelOf = (fields: Partial<Model> = {}): Model =>
  ModelSchema.parse({
    name: 'm',
    status: 'published',
    created: 7,
    context_length: 1_000,
    max_output_tokens: 100,
    default_output_tokens: 50,
    targets: [{ endpoint: 'e' }],
    prices: [{ version: 'p1', effective_at: 0, prompt_nanos: 50_000_000, completion_nanos: 200_000_000 }],
    ...fields,
  });

/** A reader of these models. */
export const storeOf = (...models: Model[]): ModelReader => ({
  list: async () => new Map(models.map((model) => [model.name, model])),
});
