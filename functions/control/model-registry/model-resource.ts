import * as z from 'zod';
import { DeprecationNotice, deprecationNotice } from '../../../shared/models/deprecation.ts';
import { Capabilities, DialectName, Embedding, type Model, ModelStatus, ModelTask, TokenizerFiles } from '../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { priceAt } from '../../../shared/prices/price.ts';
import { figuresOf, newestFirst, PriceFigures, Pricing, pricingOf } from '../../../shared/prices/price-version.ts';
import { PromiseFiguresResource } from '../service-levels/promise-resource.ts';
import { RegistrationReport } from './registration-report.ts';

const ResourceTarget = z.object({
  endpoint: z.string(),
  component: z.string().nullable().meta({ description: 'The inference component; null: the target is the whole endpoint.' }),
  region: z.string().nullable().meta({ description: "The AWS region; null: the deployment's own region." }),
  container_model: z.string().nullable().meta({ description: "The container's name for the model; null: the container's default." }),
  weight: z.int().meta({ description: 'The share of requests that this target gets, relative to the weights of the other targets.' }),
});

export const ModelResource = z.object({
  object: z.literal('model'),
  name: z.string().meta({ description: 'The `model` of requests. It can contain slashes.' }),
  organization: z.string().nullable().meta({ description: 'The organization whose deployment this is; null: a shared model.' }),
  status: ModelStatus.meta({ description: '`published`: requests can use the model. A change takes effect within 30 s.' }),
  created: z.int().meta({ description: 'Unix time in seconds.' }),
  task: ModelTask.meta({
    description: 'What the model answers with: `generate` text, `embed` vectors, `rerank` the relevance of documents.',
  }),
  embedding: z
    .object(Embedding.shape)
    .nullable()
    .meta({ description: 'The vectors of an embedding model; null: the model has another task.' }),
  dialect: DialectName.meta({ description: 'The request format of its runtime.' }),
  thinking_variable: z.string().meta({ description: 'The chat template variable that turns thinking on and off.' }),
  continuous_usage: z.boolean().meta({ description: 'Whether its runtime counts tokens with every chunk.' }),
  capabilities: z.object(Object.fromEntries(Object.keys(Capabilities.shape).map((name) => [name, z.boolean()]))).meta({
    description: 'The features that its runtime supports besides plain chat.',
  }),
  context_length: z.int().meta({
    description:
      'The maximum number of prompt and completion tokens together; of a model that generates no text, of the tokens of each input.',
  }),
  max_output_tokens: z.int().nullable().meta({ description: 'null: the model generates no text.' }),
  default_output_tokens: z
    .int()
    .nullable()
    .meta({ description: 'The `max_tokens` of a request that does not set it; null: the model generates no text.' }),
  default_temperature: z.number().meta({ description: 'The `temperature` of a response whose request does not set it.' }),
  default_top_p: z.number().meta({ description: 'The `top_p` of a response whose request does not set it.' }),
  tokenizer: z
    .object(TokenizerFiles.shape)
    .nullable()
    .meta({ description: "The model's tokenizer and chat template; null: prompts are not counted." }),
  deprecation: DeprecationNotice,
  fallbacks: z.array(z.string()).meta({
    description: 'The models that answer in its place while it fails. Requests are charged at the price of the model that answers.',
  }),
  pricing: Pricing.nullable().meta({ description: 'The current price; null: no price is in effect yet, so the model cannot be called.' }),
  targets: z.array(ResourceTarget).optional().meta({ description: 'The SageMaker targets of the model. Only for admins.' }),
  prices: z.array(PriceFigures).optional().meta({ description: 'All price versions, newest first. Only for admins.' }),
  service_promise: PromiseFiguresResource.optional().meta({
    description: 'What a shared model promises this month, in the reply to a retrieval; absent: nothing.',
  }),
  version: z.int().meta({ description: 'Incremented by every change. The ETag is derived from it.' }),
});
export type ModelResource = z.infer<typeof ModelResource>;

export const RegisteredModel = ModelResource.extend({ report: RegistrationReport });
export type RegisteredModel = z.infer<typeof RegisteredModel>;

/** The organization of a pool; null: the shared pool. */
export const organizationOf = (pool: string): string | null => (pool === SERVERLESS_POOL ? null : pool);

const publicFields = (pool: string, model: Model, nowMs: number): ModelResource => {
  const price = priceAt(model.prices, nowMs);
  return {
    object: 'model',
    name: model.name,
    organization: organizationOf(pool),
    status: model.status,
    created: model.created,
    task: model.task,
    embedding: model.embedding ?? null,
    dialect: model.dialect,
    thinking_variable: model.thinking_variable,
    continuous_usage: model.continuous_usage,
    capabilities: model.capabilities,
    context_length: model.context_length,
    max_output_tokens: model.task === 'generate' ? model.max_output_tokens : null,
    default_output_tokens: model.task === 'generate' ? model.default_output_tokens : null,
    default_temperature: model.default_temperature,
    default_top_p: model.default_top_p,
    tokenizer: model.tokenizer ?? null,
    deprecation: deprecationNotice(model),
    fallbacks: model.fallbacks,
    pricing: price ? pricingOf(price) : null,
    version: model.version,
  };
};

const adminFields = ({ targets, prices }: Model): Required<Pick<ModelResource, 'targets' | 'prices'>> => ({
  targets: targets.map(({ endpoint, component = null, region = null, container_model = null, weight }) => ({
    endpoint,
    component,
    region,
    container_model,
    weight,
  })),
  prices: newestFirst(prices).map(figuresOf),
});

interface View {
  pool: string;
  isAdmin: boolean;
  nowMs: number;
}

/** Converts a model to the wire. Only admins see its targets and all its prices. */
export const toResource = (model: Model, { pool, isAdmin, nowMs }: View): ModelResource => {
  const { version, ...fields } = publicFields(pool, model, nowMs);
  return { ...fields, ...(isAdmin && adminFields(model)), version };
};

/** The fields that the audit log compares: all except those that change with time. */
export const auditedFields = (pool: string, model: Model): Record<string, unknown> => {
  const { pricing: _, ...fields } = toResource(model, { pool, isAdmin: true, nowMs: 0 });
  return fields;
};
