import * as z from 'zod';
import { DeprecationNotice, deprecationNotice } from '../../shared/models/deprecation.ts';
import { Capabilities, Embedding, type Model, ModelTask } from '../../shared/models/model.ts';
import { priceAt } from '../../shared/prices/price.ts';
import { Pricing, pricingOf } from '../../shared/prices/price-version.ts';

// All are about generated text, but a model of any task is published with their defaults.
const NO_CAPABILITIES: Readonly<Record<string, boolean>> = Object.fromEntries(Object.keys(Capabilities.shape).map((name) => [name, false]));

/**
 * A model as callers see it: the fields of OpenAI's and Anthropic's lists, and those that a client needs to choose a
 * model and to size a request.
 */
export const ModelEntry = z.object({
  id: z.string().meta({ description: 'The name to send as `model`. It can contain slashes.' }),
  object: z.literal('model'),
  type: z.literal('model'),
  display_name: z.string().meta({ description: 'The same as `id`.' }),
  created: z.int().meta({ description: 'Unix time in seconds.' }),
  created_at: z.iso.datetime().meta({ description: '`created` as RFC 3339 writes it.' }),
  owned_by: z.string(),
  alias_of: z.string().nullable().meta({
    description: 'The model that answers to this name; null: `id` is its own name. Usage and prices are those of that model.',
  }),
  task: ModelTask.meta({
    description:
      '`generate`: the model generates text. `embed`: it returns vectors (`/v1/embeddings`). `rerank`: it sorts documents by relevance (`/v1/rerank`).',
  }),
  embedding: z
    .object(Embedding.shape)
    .nullable()
    .meta({ description: 'The vectors of an embedding model; null: the model has another task.' }),
  context_length: z.int().meta({
    description:
      'The maximum number of tokens of prompt and answer together; of a model that generates no text, of the tokens of each input.',
  }),
  max_output_tokens: z
    .int()
    .nullable()
    .meta({ description: 'The maximum number of tokens in an answer; null: the model generates no text.' }),
  fallbacks: z.array(z.string()).meta({
    description:
      "The models that answer in place of an alias's model while that one fails, has no capacity or sleeps, in the order in which they are tried. Usage and prices are those of the model that answers.",
  }),
  max_input_tokens: z.int().meta({ description: 'The same as `context_length`.' }),
  max_tokens: z.int().nullable().meta({ description: 'The same as `max_output_tokens`.' }),
  pricing: Pricing.nullable().meta({
    description: 'The current price; null if the model has no price yet and cannot be called.',
  }),
  capabilities: z.object(Object.fromEntries(Object.keys(Capabilities.shape).map((name) => [name, z.boolean()]))).meta({
    description:
      'The features that the model supports; a model that generates no text has none. Other features return 400, or are ignored and listed in `x-sluice-ignored`.',
  }),
  deprecation: DeprecationNotice,
});
export type ModelEntry = z.infer<typeof ModelEntry>;

export const ModelList = z.object({
  object: z.literal('list'),
  data: z.array(ModelEntry),
  has_more: z.literal(false).meta({ description: 'The list is never paged.' }),
  first_id: z.string().nullable().meta({ description: 'The `id` of the first model; null: there is none.' }),
  last_id: z.string().nullable().meta({ description: 'The `id` of the last model; null: there is none.' }),
});
export type ModelList = z.infer<typeof ModelList>;

/**
 * Converts a model of the inventory to its entry at `nowMs`.
 * @param name its own or an alias
 * @param fallbacks the models that can answer instead
 */
export const modelEntryOf = (
  model: Model,
  nowMs: number,
  name: string = model.name,
  fallbacks: readonly Pick<Model, 'name'>[] = [],
): ModelEntry => {
  const price = priceAt(model.prices, nowMs);
  const { created, task, embedding = null, context_length } = model;
  const max_output_tokens = task === 'generate' ? model.max_output_tokens : null;
  return {
    id: name,
    object: 'model',
    type: 'model',
    display_name: name,
    created,
    created_at: new Date(created * 1_000).toISOString(),
    owned_by: 'sluice',
    alias_of: name === model.name ? null : model.name,
    task,
    embedding,
    fallbacks: fallbacks.map((fallback) => fallback.name),
    context_length,
    max_output_tokens,
    max_input_tokens: context_length,
    max_tokens: max_output_tokens,
    pricing: price ? pricingOf(price) : null,
    capabilities: task === 'generate' ? model.capabilities : NO_CAPABILITIES,
    deprecation: deprecationNotice(model),
  };
};

/** All models that a caller sees, as one page. */
export const modelListOf = (data: ModelEntry[]): ModelList => ({
  object: 'list',
  data,
  has_more: false,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
});
