import * as z from 'zod';
import { isTokenId } from '../../../shared/tokens/token-ids.ts';
import { MAX_CHOICES } from '../../../shared/upstream/chunk-fault.ts';
import { Metadata, StreamOptions } from '../chat/request.ts';
import { Count, Switch, samplingExtras, samplingFault, samplingFields } from '../chat/sampling-fields.ts';
import { modelsFault, RequestedModels } from '../fallback/requested-models.ts';

const MAX_PROMPTS = 128;

type PromptInput = string | string[] | number[] | number[][];

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isTokenIds = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isTokenId);
const isList = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.length <= MAX_PROMPTS && (value.every(isText) || value.every(isTokenIds));

const tokenIdsSchema = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } } as const;
const textSchema = { type: 'string', minLength: 1 } as const;
const listOf = (items: object) => ({ type: 'array', minItems: 1, maxItems: MAX_PROMPTS, items });

// One check instead of a union of arrays: a zod issue for each of several hundred thousand invalid ids would not fit
// into memory.
const Prompt = z
  .custom<PromptInput>((value) => isText(value) || isTokenIds(value) || isList(value), {
    error: `expected a non-empty string, a non-empty array of token ids, or an array of up to ${MAX_PROMPTS} of either`,
  })
  .meta({ anyOf: [textSchema, listOf(textSchema), tokenIdsSchema, listOf(tokenIdsSchema)] });

// As OpenAI and vLLM define them, with those of interface 2.1 that apply to completions.
const documented = {
  model: z.string().min(1).max(256),
  prompt: Prompt,
  max_tokens: z.int().min(0).nullish(),
  ...samplingFields,
  best_of: Count,
  echo: Switch,
  logprobs: z.int().min(0).max(5).nullish(),
  suffix: z.string().nullish(),
  stream: Switch,
  stream_options: StreamOptions.nullish(),
  user: z.string().max(512).nullish(),
  metadata: Metadata.nullish(),
  return_token_ids: Switch,
  prompt_cache_isolation_key: z.string().max(256).nullish(),
  perf_metrics_in_response: Switch,
  models: RequestedModels,
};

const AnyCompletionRequest = z.looseObject({ ...documented, ...samplingExtras });

export type CompletionRequest = z.output<typeof AnyCompletionRequest>;
export type CompletionField = keyof typeof documented;

export const completionFields = Object.keys(documented) as CompletionField[];

/** The prompts of a request as a list. */
export const promptsOf = ({ prompt }: Pick<CompletionRequest, 'prompt'>): (string | number[])[] => {
  if (typeof prompt === 'string') return [prompt];
  return typeof prompt[0] === 'number' ? [prompt as number[]] : (prompt as (string | number[])[]);
};

const contradiction = (request: CompletionRequest): { path: string[]; message: string } | undefined => {
  const { stream, stream_options, max_tokens, echo, suffix, n } = request;
  const fault = (path: string, message: string) => ({ path: [path], message });
  if (stream_options && !stream) return fault('stream_options', 'stream_options is only valid when stream is true');
  if (max_tokens === 0 && !echo) return fault('max_tokens', 'expected at least 1; 0 is only valid with echo');
  if (suffix) return fault('suffix', 'suffix is not supported: include its text in the prompt instead');
  if (promptsOf(request).length * (n ?? 1) > MAX_CHOICES)
    return fault('n', `expected at most ${MAX_CHOICES} choices in total (prompts × n)`);
  return modelsFault(request) ?? samplingFault(request, max_tokens);
};

/** The schema of a completion request. Unknown fields are accepted and dropped. */
export const CompletionRequest: z.ZodType<CompletionRequest> = AnyCompletionRequest.superRefine((request, context) => {
  const fault = contradiction(request);
  if (fault) context.addIssue({ code: 'custom', ...fault });
});
