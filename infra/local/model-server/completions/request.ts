import * as z from 'zod';
import { Integer, sharedFields } from '../requests/fields.ts';

const TokenIds = z.array(Integer.min(0));
const Prompt = z.union([z.string(), TokenIds, z.array(z.string()), z.array(TokenIds)]);

/**
 * The fields of vLLM's `CompletionRequest` that this container reads. As in vLLM, unknown keys pass, and null passes
 * for some fields. The gateway has checked their ranges and combinations.
 */
export const CompletionRequest = z.looseObject({
  ...sharedFields,
  prompt: Prompt,
  n: Integer.optional(),
  logprobs: Integer.nullish(),
  echo: z.boolean().nullish(),
});
export type CompletionRequest = z.infer<typeof CompletionRequest>;
