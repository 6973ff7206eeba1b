import { Model } from '../../../../../shared/models/model.ts';

/** A model with every default. */
export const createDefaultModel = (): Model =>
  Model.parse({
    name: 'm',
    status: 'published',
    created: 0,
    context_length: 1_000,
    max_output_tokens: 800,
    default_output_tokens: 100,
    targets: [{ endpoint: 'e' }],
    prices: [{ version: 'p', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
  });
