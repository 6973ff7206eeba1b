import * as z from 'zod';
import { ToldDeprecation, toldDeprecation } from '../../../shared/models/deprecation.ts';
import { Capabilities, Dialect, type Model, ModelStatus, TokenizerFiles } from '../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { priceAt } from '../../../shared/prices/price.ts';
import { figuresOf, newestFirst, PriceFigures, Pricing, pricingOf } from '../../../shared/prices/price-version.ts';
import { RegistrationReport } from './registration-report.ts';

const ResourceTarget = z.object({
  endpoint: z.string(),
  component: z.string().nullable().meta({ description: 'The inference component; null: the endpoint has none.' }),
  region: z.string().nullable().meta({ description: "null: the deployment's own." }),
  container_model: z
    .string()
    .nullable()
    .meta({ description: "The name that the container knows the model by; null: the container's own." }),
  weight: z.int().meta({ description: 'Its share of the requests, beside the weights of the other targets.' }),
});

/** A model, as the control plane shows it. */
export const ModelResource = z.object({
  object: z.literal('model'),
  name: z.string().meta({ description: 'What requests name it by. It may hold slashes.' }),
  organization: z.string().nullable().meta({ description: 'Whose deployment it is; null: it is shared.' }),
  status: ModelStatus.meta({ description: '`published`: it can be called, within 30 s after it was set.' }),
  created: z.int().meta({ description: 'Unix time in seconds.' }),
  dialect: Dialect.meta({ description: 'The words in which its runtime is asked.' }),
  thinking_variable: z.string().meta({ description: 'The variable of its chat template that turns thinking on and off.' }),
  capabilities: z.object(Object.fromEntries(Object.keys(Capabilities.shape).map((name) => [name, z.boolean()]))).meta({
    description: 'What its runtime can do beside plain chat.',
  }),
  context_length: z.int().meta({ description: 'Tokens of prompt and answer together.' }),
  max_output_tokens: z.int(),
  default_output_tokens: z.int().meta({ description: 'What a request that names no max_tokens gets.' }),
  tokenizer: z
    .object(TokenizerFiles.shape)
    .nullable()
    .meta({ description: 'Where its own tokenizer and chat template are; null: prompts are not counted.' }),
  deprecation: ToldDeprecation,
  pricing: Pricing.nullable().meta({ description: 'The price in force now; null: none yet, and the model cannot be called.' }),
  targets: z.array(ResourceTarget).optional().meta({ description: 'What serves it. Only for admins.' }),
  prices: z.array(PriceFigures).optional().meta({ description: 'All of its price versions, the newest first. Only for admins.' }),
  version: z.int().meta({ description: 'Counted up by every change; the ETag is made of it.' }),
});
export type ModelResource = z.infer<typeof ModelResource>;

/** A model with the report of its checks. */
export const RegisteredModel = ModelResource.extend({ report: RegistrationReport });
export type RegisteredModel = z.infer<typeof RegisteredModel>;

/** The organization of a pool; null: of the shared models. */
export const organizationOf = (pool: string): string | null => (pool === SERVERLESS_POOL ? null : pool);

/** The fields of a model that every user sees who may see the model. */
const publicFields = (pool: string, model: Model, nowMs: number): ModelResource => {
  const price = priceAt(model.prices, nowMs);
  return {
    object: 'model',
    name: model.name,
    organization: organizationOf(pool),
    status: model.status,
    created: model.created,
    dialect: model.dialect,
    thinking_variable: model.thinking_variable,
    capabilities: model.capabilities,
    context_length: model.context_length,
    max_output_tokens: model.max_output_tokens,
    default_output_tokens: model.default_output_tokens,
    tokenizer: model.tokenizer ?? null,
    deprecation: toldDeprecation(model),
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

/** A model's pool, and who sees the model when. */
interface View {
  pool: string;
  isAdmin: boolean;
  nowMs: number;
}

/** A model on the wire; its targets and all its prices are for admins. */
export const toResource = (model: Model, { pool, isAdmin, nowMs }: View): ModelResource => {
  const { version, ...fields } = publicFields(pool, model, nowMs);
  return { ...fields, ...(isAdmin && adminFields(model)), version };
};

/** The fields that the audit log compares: all that do not change with time alone. */
export const auditedFields = (pool: string, model: Model): Record<string, unknown> => {
  const { pricing: _, ...fields } = toResource(model, { pool, isAdmin: true, nowMs: 0 });
  return fields;
};
