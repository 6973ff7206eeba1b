import * as z from 'zod';
import {
  Capabilities,
  DefaultTemperature,
  DefaultTopP,
  Deprecation,
  DialectName,
  Embedding,
  MAX_PRICES,
  Model,
  ModelFallbacks,
  ModelName,
  ModelStatus,
  ModelTask,
  Targets,
  ThinkingVariable,
  TokenizerFiles,
  Tokens,
} from '../../../shared/models/model.ts';
import { type NewFigures, NewFigures as NewFiguresSchema, toPrice } from '../../../shared/prices/price-version.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { changeBody } from '../access/change-body.ts';
import { OrganizationId } from '../organizations/organization.ts';
import { forTask } from './model-task.ts';

// Names appear in paths, headers and lists: printable ASCII without spaces, and slashes only between words.
const NAME = /^[A-Za-z0-9][\w.:@+-]*(\/[\w.:@+-]+)*$/;

/** The name of a model or a deployment in requests. */
export const ServedName = ModelName.regex(NAME, 'expected letters, digits and _ . : @ + -, with single slashes between them');

export const AcceptFailedChecks = z.boolean().default(false).meta({
  description: 'If true, the model is stored even if a check fails. Otherwise a failed check returns 409.',
});

/** A model to register. */
export const ModelRegistration = z.strictObject({
  name: ServedName.meta({ description: 'The `model` of requests.', examples: ['qwen3-8b'] }),
  organization: OrganizationId.optional().meta({ description: 'The organization whose deployment this is. Default: a shared model.' }),
  status: ModelStatus.default('unpublished'),
  task: ModelTask.default('generate').meta({
    description: 'What the model answers with: `generate` text, `embed` vectors, `rerank` the relevance of documents. It never changes.',
  }),
  embedding: Embedding.optional().meta({ description: 'Required for an embedding model, and only for one.' }),
  dialect: DialectName.default('vllm').meta({
    description:
      "The request format of its runtime: vLLM, Sluice's own container, llama.cpp's server, `transformers serve` or Text Embeddings Inference (`tei`).",
  }),
  capabilities: Capabilities.prefault({}).meta({ description: 'The features that its runtime supports besides plain chat.' }),
  thinking_variable: ThinkingVariable.default('enable_thinking').meta({
    description: 'The chat template variable that turns thinking on and off.',
  }),
  continuous_usage: z.boolean().default(false).meta({
    description:
      "Whether its runtime counts tokens with every chunk (`continuous_usage_stats` of vLLM), so that a stream that breaks off is billed by the runtime's own count. This costs the runtime and the gateway time for each token.",
  }),
  context_length: Tokens.meta({
    description:
      'The maximum number of prompt and completion tokens together; of a model that generates no text, of the tokens of each input.',
  }),
  max_output_tokens: Tokens.optional().meta({ description: 'Required for a model that generates text, and only for one.' }),
  default_output_tokens: Tokens.optional().meta({
    description: 'The `max_tokens` of a request that does not set it. Required for a model that generates text, and only for one.',
  }),
  default_temperature: DefaultTemperature.default(1).meta({
    description: 'The `temperature` of a response whose request does not set it. Chat completions leave it to the runtime.',
  }),
  default_top_p: DefaultTopP.default(1).meta({ description: 'The `top_p` of a response whose request does not set it.' }),
  tokenizer: TokenizerFiles.optional().meta({
    description: "The model's tokenizer and chat template, as object keys in the tokenizers bucket. If omitted, prompts are not counted.",
  }),
  targets: Targets.meta({ description: 'The SageMaker endpoints, or inference components on them, that serve the model; at most 16.' }),
  fallbacks: ModelFallbacks.default([]).meta({
    description:
      'The models that answer in its place, in this order, while it has no capacity, is not ready, fails or is too slow. Requests are charged at the price of the model that answers.',
  }),
  prices: z
    .array(NewFiguresSchema)
    .min(1)
    .max(MAX_PRICES)
    .refine(
      (prices) => new Set(prices.map(({ effective_at }) => effective_at)).size === prices.length,
      'expected each price to have a different effective_at',
    )
    .meta({ description: 'At least one price must already be in effect.' }),
  accept_failed_checks: AcceptFailedChecks,
});
export type ModelRegistration = z.output<typeof ModelRegistration>;

/** Absent features keep their values. */
export const CapabilitiesUpdate = z.strictObject({
  tools: z.boolean().optional(),
  json_object: z.boolean().optional(),
  logprobs: z.boolean().optional(),
  thinking_budget: z.boolean().optional(),
  structured_outputs: z.boolean().optional(),
});

/** Absent fields keep their values. */
export const ModelUpdate = changeBody(
  {
    status: ModelStatus.optional(),
    dialect: DialectName.optional(),
    embedding: Embedding.optional().meta({ description: 'Only for an embedding model.' }),
    capabilities: CapabilitiesUpdate.optional(),
    thinking_variable: ThinkingVariable.optional(),
    continuous_usage: z.boolean().optional(),
    context_length: Tokens.optional(),
    max_output_tokens: Tokens.optional(),
    default_output_tokens: Tokens.optional(),
    default_temperature: DefaultTemperature.optional(),
    default_top_p: DefaultTopP.optional(),
    tokenizer: TokenizerFiles.nullable().optional().meta({ description: 'Send null to remove the tokenizer.' }),
    targets: Targets.optional(),
    fallbacks: ModelFallbacks.optional().meta({ description: 'Send an empty array to remove all fallbacks.' }),
    deprecation: Deprecation.nullable()
      .optional()
      .meta({ description: 'Announced in response headers. Send null to withdraw the deprecation.' }),
    accept_failed_checks: AcceptFailedChecks.meta({
      description: 'If true, a new dialect, tokenizer or targets are stored without checks. Otherwise a failed check returns 409.',
    }),
  },
  'accept_failed_checks',
);
export type ModelUpdate = z.output<typeof ModelUpdate>;

export const ModelToCheck = z.strictObject({
  model: ModelName,
  organization: OrganizationId.optional().meta({ description: 'The organization whose deployment this is. Default: a shared model.' }),
});
export type ModelToCheck = z.output<typeof ModelToCheck>;

const pricesOf = (figures: readonly NewFigures[], nowMs: number) => figures.map((each) => toPrice(each, nowMs));

/** The first version of a model, registered at `nowMs`. @throws 400 if its fields don't fit its task */
export const toModel = (body: ModelRegistration, nowMs: number): Model => {
  const { organization: _, accept_failed_checks: __, prices, ...fields } = body;
  return Model.parse({ ...forTask(fields), created: unixSeconds(nowMs), prices: pricesOf(prices, nowMs), version: 1 });
};
