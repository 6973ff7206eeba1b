import * as z from 'zod';
import { Integer, sharedFields, sharedProblemOf } from '../requests/fields.ts';

const TokenIds = z.array(Integer.min(0));
const Prompt = z.union([z.string(), TokenIds, z.array(z.string()), z.array(TokenIds)]);

const Fields = z.looseObject({
  ...sharedFields,
  prompt: Prompt.nullish(),
  n: Integer.optional(),
  logprobs: Integer.nullish(),
  echo: z.boolean().nullish(),
  suffix: z.string().nullish(),
});

/**
 * The fields of vLLM's `CompletionRequest` that this container reads. As in vLLM, unknown keys pass, and null passes
 * for some fields. Errors that are not about types have vLLM's messages.
 */
export const CompletionRequest = Fields.superRefine((body, context) => {
  const problem = problemOf(body);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});
export type CompletionRequest = z.infer<typeof Fields>;

const problemOf = (body: CompletionRequest): string | null => {
  if ((body.logprobs ?? 0) < -1) return '`logprobs` must be a positive value or -1.';
  const shared = sharedProblemOf(body);
  return shared ?? (body.prompt ? null : 'Either prompt or prompt_embeds must be provided and non-empty.');
};
