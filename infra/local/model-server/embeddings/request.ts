import * as z from 'zod';
import { Integer } from '../requests/fields.ts';

const TokenIds = z.array(Integer);

/** The fields of vLLM's pooling requests that embeddings and rerank share. As in vLLM, unknown keys pass. */
export const poolingFields = {
  model: z.string().nullish(),
  user: z.string().nullish(),
  truncate_prompt_tokens: Integer.min(-1).nullish(),
  request_id: z.string().optional(),
  cache_salt: z.string().min(1).max(1_024).nullish(),
};

/** The fields of vLLM's `EmbeddingCompletionRequest` that this container reads. */
export const EmbeddingRequest = z.looseObject({
  ...poolingFields,
  input: z.union([TokenIds, z.array(TokenIds), z.string(), z.array(z.string())]),
  encoding_format: z.enum(['float', 'base64']).default('float'),
  embed_dtype: z.literal('float32').default('float32'),
  endianness: z.enum(['native', 'little', 'big']).default('native'),
  dimensions: Integer.nullish(),
  add_special_tokens: z.boolean().default(true),
});
export type EmbeddingRequest = z.infer<typeof EmbeddingRequest>;

/** One input is a text or token ids. */
export const inputsOf = ({ input }: EmbeddingRequest): (string | number[])[] => {
  if (typeof input === 'string') return [input];
  const ids = input.filter((item) => typeof item === 'number');
  return ids.length > 0 ? [ids] : input.filter((item) => typeof item !== 'number');
};
