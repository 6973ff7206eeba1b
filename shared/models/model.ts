import * as z from 'zod';
import { Price } from '../prices/price.ts';

/** A SageMaker endpoint, or an inference component on one, that serves a model. */
export const Target = z.strictObject({
  endpoint: z.string().min(1).max(63),
  component: z.string().min(1).max(63).optional(),
  region: z.string().min(1).max(30).optional(),
  /** The name that the container knows the model by; absent = the container's own. */
  container_model: z.string().max(256).optional(),
  /** Its share of the requests, beside the weights of the model's other targets. */
  weight: z.int().min(1).max(1_000).default(1),
});
export type Target = z.infer<typeof Target>;

/** What the model's runtime can do beside plain chat. What it cannot is refused, or ignored and named, before it is asked. */
export const Capabilities = z.strictObject({
  tools: z.boolean().default(true),
  json_object: z.boolean().default(true),
  logprobs: z.boolean().default(true),
  /** A bound on the tokens that it thinks (vLLM's `thinking_token_budget`). */
  thinking_budget: z.boolean().default(false),
});
export type Capabilities = z.infer<typeof Capabilities>;

const FileKey = z.string().min(1).max(512);

/** The model's own tokenizer, as object keys of the tokenizers' bucket. A key's content never changes. */
export const TokenizerFiles = z.strictObject({
  /** Hugging Face's tokenizer.json. */
  tokenizer: FileKey,
  /** tokenizer_config.json: the special tokens that a template names, and the chat template where it has no file of its own. */
  config: FileKey.optional(),
  chat_template: FileKey.optional(),
  /** How many token ids it has. Without it no caller's token id can be known to be one, and a wrong one can bring a runtime down. */
  vocabulary_size: z.int().min(1).optional(),
});
export type TokenizerFiles = z.infer<typeof TokenizerFiles>;

const MAX_TARGETS = 16;

/** A model as the inventory has it. `published` models of the pool `serverless` are what everyone may call. */
export const Model = z.strictObject({
  name: z.string().min(1).max(256),
  status: z.enum(['published', 'unpublished']),
  created: z.int().min(0),
  /** The words in which its runtime is asked: see shared/upstream/dialects. */
  dialect: z.enum(['vllm', 'sluice']).default('vllm'),
  capabilities: Capabilities.prefault({}),
  /** The variable of its chat template that turns thinking on and off. */
  thinking_variable: z.string().min(1).max(64).default('enable_thinking'),
  context_length: z.int().min(1),
  max_output_tokens: z.int().min(1),
  /** What a request that names no max_tokens gets. */
  default_output_tokens: z.int().min(1),
  /** Without it prompts cannot be counted: nothing is truncated, and what does not fit is refused by the runtime. */
  tokenizer: TokenizerFiles.optional(),
  targets: z.tuple([Target], Target).refine((targets) => targets.length <= MAX_TARGETS, `expected at most ${MAX_TARGETS} targets`),
  prices: z
    .array(Price)
    .min(1)
    .max(100)
    .refine((prices) => new Set(prices.map(({ version }) => version)).size === prices.length, 'expected each price version once'),
});
/** As the inventory gives it, every default filled in. */
export type Model = z.output<typeof Model>;
/** As it is written. */
export type NewModel = z.input<typeof Model>;
