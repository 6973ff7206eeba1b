import * as z from 'zod';
import { ignoringUnknown } from '../database/ignoring-unknown.ts';
import { Price } from '../prices/price.ts';
import { MAX_FALLBACKS } from './max-fallbacks.ts';

/** A SageMaker endpoint, or an inference component on one, that serves a model. */
export const Target = z.strictObject({
  endpoint: z.string().min(1).max(63),
  component: z.string().min(1).max(63).optional().meta({ description: 'An inference component on the endpoint.' }),
  region: z.string().min(1).max(30).optional().meta({ description: "Default: the gateway deployment's region." }),
  container_model: z
    .string()
    .max(256)
    .optional()
    .meta({ description: "The container's name for the model. Default: the container's own default." }),
  prefix_aware: z.boolean().optional().meta({
    description:
      'Whether the endpoint uses prefix-aware routing (PREFIX_AWARE). If true, the gateway sends an id for requests that share a prefix.',
  }),
  weight: z
    .int()
    .min(1)
    .max(1_000)
    .default(1)
    .meta({ description: "The target's share of the requests, relative to the weights of the model's other targets." }),
});
export type Target = z.infer<typeof Target>;

/**
 * Abilities of the model's runtime in addition to plain chat. Other fields are rejected, or ignored and listed in
 * `x-sluice-ignored`.
 */
export const Capabilities = z.strictObject({
  tools: z.boolean().default(true),
  json_object: z.boolean().default(true),
  logprobs: z.boolean().default(true),
  thinking_budget: z.boolean().default(false).meta({ description: "A limit on thinking tokens (vLLM's `thinking_token_budget`)." }),
  structured_outputs: z.boolean().default(false).meta({ description: 'Answers that follow a JSON Schema (`json_schema`).' }),
});
export type Capabilities = z.infer<typeof Capabilities>;

const FileKey = z.string().min(1).max(512);

/** The model's own tokenizer, as object keys of the tokenizers' bucket. A key's content never changes. */
export const TokenizerFiles = z.strictObject({
  tokenizer: FileKey.meta({ description: "Hugging Face's tokenizer.json." }),
  config: FileKey.optional().meta({
    description: 'tokenizer_config.json: the special tokens that templates use, and the chat template if it has no file of its own.',
  }),
  chat_template: FileKey.optional(),
  vocabulary_size: z.int().min(1).optional().meta({
    description: "The number of token ids. Without it callers' token ids can't be validated, and an invalid one can crash a runtime.",
  }),
});
export type TokenizerFiles = z.infer<typeof TokenizerFiles>;

/** The names of a tokenizer's files at the end of their keys. */
export const TOKENIZER_FILE_NAMES = {
  tokenizer: 'tokenizer.json',
  config: 'tokenizer_config.json',
  chat_template: 'chat_template.jinja',
} as const;

const UnixSeconds = z.int().min(0).max(99_999_999_999);
export const ModelName = z.string().min(1).max(256);

/** Announces to all callers that a model will be removed, and its successor. */
export const Deprecation = z
  .strictObject({
    deprecated_at: UnixSeconds.meta({ description: 'From this time on it should not be used for new projects. Unix time in seconds.' }),
    sunset_at: UnixSeconds.optional().meta({ description: 'When it will be removed. You remove it by unpublishing it.' }),
    successor: ModelName.optional().meta({ description: 'The name of the model to use instead.' }),
  })
  .refine(({ deprecated_at, sunset_at = deprecated_at }) => sunset_at >= deprecated_at, {
    path: ['sunset_at'],
    message: 'expected a time that is not before deprecated_at',
  });
export type Deprecation = z.infer<typeof Deprecation>;

const MAX_TARGETS = 16;

export const Targets = z
  .tuple([Target], Target)
  .refine((targets) => targets.length <= MAX_TARGETS, `expected at most ${MAX_TARGETS} targets`);
/** A model generates text, returns the vectors of texts, or rates the relevance of documents. */
export const ModelTask = z.enum(['generate', 'embed', 'rerank']);
export type ModelTask = z.infer<typeof ModelTask>;

/** The vectors of an embedding model. */
export const Embedding = z.strictObject({
  dimensions: z.int().min(1).max(65_536).meta({ description: 'The length of a vector.' }),
  is_shortenable: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether requests can ask for shorter vectors with `dimensions` (Matryoshka embeddings).' }),
});
export type Embedding = z.infer<typeof Embedding>;

export const DialectName = z.enum(['vllm', 'sluice', 'llama_cpp', 'transformers', 'tei']);
export const ThinkingVariable = z.string().min(1).max(64);
export const Tokens = z.int().min(1);
export const DefaultTemperature = z.number().min(0).max(2);
export const DefaultTopP = z.number().gt(0).max(1);
export const ModelFallbacks = z.array(ModelName).max(MAX_FALLBACKS);
export const ModelStatus = z.enum(['published', 'unpublished']);

export const MAX_PRICES = 100;

/** The next generation of a deployment, to which some requests are also sent after their replies. */
export const ModelShadow = z.strictObject({
  /** The number of the comparison. */
  number: z.int().min(1),
  target: Target,
  dialect: DialectName,
  percent: z.int().min(1).max(100),
  max_requests: z.int().min(1),
  max_tokens: z.int().min(1),
  /** In milliseconds since the epoch. */
  ends_at: z.int().min(0),
});
export type ModelShadow = z.output<typeof ModelShadow>;

/** A model in the inventory. Everyone can call the `published` models of the pool `serverless`. */
export const Model = z.strictObject({
  name: ModelName,
  status: ModelStatus,
  created: z.int().min(0),
  task: ModelTask.default('generate'),
  /** Only of a model with the task `embed`. */
  embedding: Embedding.optional(),
  /** The request format of its runtime: see shared/upstream/dialects. */
  dialect: DialectName.default('vllm'),
  capabilities: Capabilities.prefault({}),
  /** The variable of its chat template that turns thinking on and off. */
  thinking_variable: ThinkingVariable.default('enable_thinking'),
  /**
   * Its runtime counts tokens with every chunk (vLLM's `continuous_usage_stats`), so a stream that breaks off has an
   * exact count.
   */
  continuous_usage: z.boolean().default(false),
  context_length: Tokens,
  /** 1 for a model that generates no text: releases without tasks need it. */
  max_output_tokens: Tokens,
  /** The default max_tokens of a request. */
  default_output_tokens: Tokens,
  /** The sampling of a response whose request does not set it; chat completions leave it to the runtime. */
  default_temperature: DefaultTemperature.default(1),
  default_top_p: DefaultTopP.default(1),
  /** Without it prompts can't be counted: nothing is truncated, and the runtime rejects prompts that do not fit. */
  tokenizer: TokenizerFiles.optional(),
  targets: Targets,
  prices: z
    .array(Price)
    .min(1)
    .max(MAX_PRICES)
    .refine((prices) => new Set(prices.map(({ version }) => version)).size === prices.length, 'expected every price version to be unique'),
  deprecation: Deprecation.optional(),
  /** The models that answer in its place while it fails, in the order in which they are tried. */
  fallbacks: ModelFallbacks.default([]),
  /**
   * The deployment whose targets these are: the function `deployments` keeps them up to date. Without copies in
   * service, a request wakes it. `shadow` is only in the pool of its organization.
   */
  deployment: z.strictObject({ id: z.string(), is_ready: z.boolean(), shadow: ModelShadow.optional() }).optional(),
  /** Incremented by every change; 1 for rows from before versioning. */
  version: z.int().min(1).default(1),
});
/** A model as read, with every default filled in. */
export type Model = z.output<typeof Model>;

/** Unknown attributes are ignored, so that this release can read rows of a later one. */
export const StoredModel = ignoringUnknown(Model);
export const RetiredPrices = ignoringUnknown(z.array(Price));

/** A model as written. */
export type NewModel = z.input<typeof Model>;
