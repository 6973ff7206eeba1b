import * as z from 'zod';
import { poolingFields } from '../embeddings/request.ts';
import { Integer } from '../requests/fields.ts';

/** The fields of vLLM's `RerankRequest` that this container reads. A document can only be text here. */
export const RerankRequest = z.looseObject({
  ...poolingFields,
  query: z.string(),
  documents: z.union([z.string(), z.array(z.string())]),
  /** 0: all. */
  top_n: Integer.min(0).default(0),
  /** 0: no limit. */
  max_tokens_per_doc: Integer.min(0).default(0),
  /** False: scores are logits. */
  use_activation: z.boolean().nullish(),
});
export type RerankRequest = z.infer<typeof RerankRequest>;
