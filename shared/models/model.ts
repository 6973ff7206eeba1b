import * as z from 'zod';
import { Price } from '../prices/price.ts';

/** A SageMaker endpoint, or an inference component on one, that serves a model. */
export const Target = z.strictObject({
  endpoint: z.string().min(1).max(63),
  component: z.string().min(1).max(63).optional().meta({ description: 'An inference component on it.' }),
  region: z.string().min(1).max(30).optional().meta({ description: "Absent: the deployment's own." }),
  container_model: z
    .string()
    .max(256)
    .optional()
    .meta({ description: "The name that the container knows the model by. Absent: the container's own." }),
  prefix_aware: z
    .boolean()
    .optional()
    .meta({ description: 'Whether its endpoint routes by prefixes (PREFIX_AWARE): it is told which requests belong together.' }),
  weight: z
    .int()
    .min(1)
    .max(1_000)
    .default(1)
    .meta({ description: "Its share of the requests, beside the weights of the model's other targets." }),
});
export type Target = z.infer<typeof Target>;

/** What the model's runtime can do beside plain chat. What it cannot is refused, or ignored and named, before it is asked. */
export const Capabilities = z.strictObject({
  tools: z.boolean().default(true),
  json_object: z.boolean().default(true),
  logprobs: z.boolean().default(true),
  thinking_budget: z
    .boolean()
    .default(false)
    .meta({ description: "A bound on the tokens that it thinks (vLLM's `thinking_token_budget`)." }),
});
export type Capabilities = z.infer<typeof Capabilities>;

const FileKey = z.string().min(1).max(512);

/** The model's own tokenizer, as object keys of the tokenizers' bucket. A key's content never changes. */
export const TokenizerFiles = z.strictObject({
  tokenizer: FileKey.meta({ description: "Hugging Face's tokenizer.json." }),
  config: FileKey.optional().meta({
    description: 'tokenizer_config.json: the special tokens that a template names, and the chat template where it has no file of its own.',
  }),
  chat_template: FileKey.optional(),
  vocabulary_size: z.int().min(1).optional().meta({
    description:
      "How many token ids it has. Without it no caller's token id can be known to be one, and a wrong one can bring a runtime down.",
  }),
});
export type TokenizerFiles = z.infer<typeof TokenizerFiles>;

/** Unix time in seconds. */
const Seconds = z.int().min(0).max(99_999_999_999);
export const ModelName = z.string().min(1).max(256);

/** That a model goes, and by what it is followed: told to everyone who uses it. */
export const Deprecation = z
  .strictObject({
    deprecated_at: Seconds.meta({ description: 'From when on it should not be used for anything new. Unix time in seconds.' }),
    sunset_at: Seconds.optional().meta({ description: 'When it is to go. It goes when you unpublish it.' }),
    successor: ModelName.optional().meta({ description: 'The name of a model beside it to use instead.' }),
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
export const Dialect = z.enum(['vllm', 'sluice']);
export const ThinkingVariable = z.string().min(1).max(64);
export const Tokens = z.int().min(1);
export const ModelStatus = z.enum(['published', 'unpublished']);

export const MAX_PRICES = 100;

/** A model as the inventory has it. `published` models of the pool `serverless` are what everyone may call. */
export const Model = z.strictObject({
  name: ModelName,
  status: ModelStatus,
  created: z.int().min(0),
  /** The words in which its runtime is asked: see shared/upstream/dialects. */
  dialect: Dialect.default('vllm'),
  capabilities: Capabilities.prefault({}),
  /** The variable of its chat template that turns thinking on and off. */
  thinking_variable: ThinkingVariable.default('enable_thinking'),
  context_length: Tokens,
  max_output_tokens: Tokens,
  /** What a request that names no max_tokens gets. */
  default_output_tokens: Tokens,
  /** Without it prompts cannot be counted: nothing is truncated, and what does not fit is refused by the runtime. */
  tokenizer: TokenizerFiles.optional(),
  targets: Targets,
  prices: z
    .array(Price)
    .min(1)
    .max(MAX_PRICES)
    .refine((prices) => new Set(prices.map(({ version }) => version)).size === prices.length, 'expected every price version to be unique'),
  deprecation: Deprecation.optional(),
  /** Counted up by every change; 1 of rows from before it was counted. */
  version: z.int().min(1).default(1),
});
/** As the inventory gives it, every default filled in. */
export type Model = z.output<typeof Model>;
/** As it is written. */
export type NewModel = z.input<typeof Model>;
