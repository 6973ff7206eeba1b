import * as z from 'zod';
import { exactInteger } from '../../../shared/http/json/json-numbers.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import type { Actor } from '../access/actor.ts';
import type { UsageGroup } from '../query/group-usage.ts';
import { type CompletionsQuery, USAGE_LIMITS } from '../query/usage-query.ts';
import { pageOfBuckets, pageSchema } from './page.ts';
import { readUsage, type UsageDependencies } from './read-usage.ts';

// An integer of any size: sums of tokens are bigints.
const Tokens = z.unknown().meta({ type: 'integer', minimum: 0 });
const Zero = z.literal(0);
const Name = z.string().nullable();

const CompletionsResult = z
  .object({
    object: z.literal('organization.usage.completions.result'),
    input_tokens: Tokens,
    input_uncached_tokens: Tokens,
    input_cached_tokens: Tokens.meta({ description: 'The input tokens that the runtime read from its cache.' }),
    input_text_tokens: Tokens.meta({ description: 'Equals `input_uncached_tokens`: Sluice does not count text, audio and images apart.' }),
    input_cached_text_tokens: Tokens,
    input_cache_write_tokens: Zero.meta({
      description:
        'Always 0: tokens that the runtime writes to its cache have no price of their own and are part of `input_uncached_tokens`.',
    }),
    input_cache_write_30m_tokens: Zero,
    input_cache_write_12h_tokens: Zero,
    input_audio_tokens: Zero,
    input_cached_audio_tokens: Zero,
    input_image_tokens: Zero,
    input_cached_image_tokens: Zero,
    output_tokens: Tokens,
    output_text_tokens: Tokens,
    output_audio_tokens: Zero,
    output_image_tokens: Zero,
    num_model_requests: z.int(),
    cost: z.string().meta({ description: 'The cost: an exact decimal number, in the currency of the costs.', examples: ['12.34'] }),
    organization: Name,
    project_id: Name,
    api_key_id: Name,
    user_id: Name,
    model: Name,
    route: Name,
    deployment: Name,
    batch: z.null(),
    service_tier: z.null(),
    api_source: z.null(),
  })
  .meta({ description: 'A name is null unless the results are grouped by it, and for usage without it.' });
type CompletionsResult = z.infer<typeof CompletionsResult>;

export const CompletionsUsage = pageSchema(CompletionsResult);

const resultOf = ({ by, sums: { requests, promptTokens, cachedTokens, completionTokens, costNanos } }: UsageGroup): CompletionsResult => {
  const uncached = promptTokens > cachedTokens ? exactInteger(promptTokens - cachedTokens) : 0;
  return {
    object: 'organization.usage.completions.result',
    input_tokens: exactInteger(promptTokens),
    input_uncached_tokens: uncached,
    input_cached_tokens: exactInteger(cachedTokens),
    input_text_tokens: uncached,
    input_cached_text_tokens: exactInteger(cachedTokens),
    input_cache_write_tokens: 0,
    input_cache_write_30m_tokens: 0,
    input_cache_write_12h_tokens: 0,
    input_audio_tokens: 0,
    input_cached_audio_tokens: 0,
    input_image_tokens: 0,
    input_cached_image_tokens: 0,
    output_tokens: exactInteger(completionTokens),
    output_text_tokens: exactInteger(completionTokens),
    output_audio_tokens: 0,
    output_image_tokens: 0,
    num_model_requests: requests,
    cost: dollarsOf(costNanos),
    organization: by.organization ?? null,
    project_id: by.project_id ?? null,
    api_key_id: by.api_key_id ?? null,
    user_id: by.user_id ?? null,
    model: by.model ?? null,
    route: by.route ?? null,
    deployment: by.deployment ?? null,
    batch: null,
    service_tier: null,
    api_source: null,
  };
};

/** Returns the usage that an actor can see, by buckets of time. @throws 400, 404 */
export const completionsUsage = async (deps: UsageDependencies, actor: Actor, query: CompletionsQuery) =>
  pageOfBuckets(await readUsage(deps, actor, query, { name: 'completions', limits: USAGE_LIMITS[query.bucket_width] }), resultOf);
