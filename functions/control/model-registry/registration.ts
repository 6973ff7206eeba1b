import * as z from 'zod';
import {
  Capabilities,
  Deprecation,
  Dialect,
  MAX_PRICES,
  Model,
  ModelName,
  ModelStatus,
  Targets,
  ThinkingVariable,
  TokenizerFiles,
  Tokens,
} from '../../../shared/models/model.ts';
import { type NewFigures, NewFigures as NewFiguresSchema, toPrice } from '../../../shared/prices/price-version.ts';

/** A name stands in paths, headers and lists: printable ASCII without spaces, and slashes only between words. */
const NAME = /^[A-Za-z0-9][\w.:@+-]*(\/[\w.:@+-]+)*$/;

const AcceptFailedChecks = z.boolean().default(false).meta({
  description: 'Whether to store it although a check fails; without it that is a 409 that names the first which did.',
});

/** A model to register. */
export const ModelRegistration = z.strictObject({
  name: ModelName.regex(NAME, 'expected letters, digits and _ . : @ + -, with single slashes between them').meta({
    description: 'What requests name it by.',
    examples: ['qwen3-8b'],
  }),
  organization: z.string().min(1).max(64).optional().meta({ description: 'Whose deployment it is. Absent: it is shared.' }),
  status: ModelStatus.default('unpublished'),
  dialect: Dialect.default('vllm').meta({
    description: 'The words in which its runtime is asked: vLLM’s, or those of Sluice’s own container.',
  }),
  capabilities: Capabilities.prefault({}).meta({ description: 'What its runtime can do beside plain chat.' }),
  thinking_variable: ThinkingVariable.default('enable_thinking').meta({
    description: 'The variable of its chat template that turns thinking on and off.',
  }),
  context_length: Tokens.meta({ description: 'Tokens of prompt and answer together.' }),
  max_output_tokens: Tokens,
  default_output_tokens: Tokens.meta({ description: 'What a request that names no max_tokens gets.' }),
  tokenizer: TokenizerFiles.optional().meta({
    description: 'Its own tokenizer and chat template, as object keys of the tokenizers’ bucket. Without it prompts are not counted.',
  }),
  targets: Targets.meta({ description: 'What serves it: SageMaker endpoints, or inference components on them; at most 16.' }),
  prices: z
    .array(NewFiguresSchema)
    .min(1)
    .max(MAX_PRICES)
    .refine(
      (prices) => new Set(prices.map(({ effective_at }) => effective_at)).size === prices.length,
      'expected each price to have a different effective_at',
    )
    .meta({ description: 'At least one of them in force already.' }),
  accept_failed_checks: AcceptFailedChecks,
});
export type ModelRegistration = z.output<typeof ModelRegistration>;

/** What is absent stays as it is. */
export const ModelUpdate = z.strictObject({
  status: ModelStatus.optional(),
  dialect: Dialect.optional(),
  capabilities: z
    .strictObject({
      tools: z.boolean().optional(),
      json_object: z.boolean().optional(),
      logprobs: z.boolean().optional(),
      thinking_budget: z.boolean().optional(),
    })
    .optional(),
  thinking_variable: ThinkingVariable.optional(),
  context_length: Tokens.optional(),
  max_output_tokens: Tokens.optional(),
  default_output_tokens: Tokens.optional(),
  tokenizer: TokenizerFiles.nullable().optional().meta({ description: 'null removes it.' }),
  targets: Targets.optional(),
  deprecation: Deprecation.nullable().optional().meta({ description: 'Announced in the headers of its replies. null takes it back.' }),
  accept_failed_checks: AcceptFailedChecks.meta({
    description:
      'Whether to store new targets, dialect or tokenizer without checking them; without it a check that fails is a 409 that names it.',
  }),
});
export type ModelUpdate = z.output<typeof ModelUpdate>;

/** Whose targets are to be checked again. */
export const ModelToCheck = z.strictObject({
  model: ModelName,
  organization: z.string().min(1).max(64).optional().meta({ description: 'Whose deployment it is. Absent: it is shared.' }),
});
export type ModelToCheck = z.output<typeof ModelToCheck>;

const pricesOf = (figures: readonly NewFigures[], nowMs: number) => figures.map((each) => toPrice(each, nowMs));

/** The model that is registered at `nowMs`, of version 1. */
export const toModel = (body: ModelRegistration, nowMs: number): Model => {
  const { organization: _, accept_failed_checks: __, prices, ...fields } = body;
  return Model.parse({ ...fields, created: Math.floor(nowMs / 1_000), prices: pricesOf(prices, nowMs), version: 1 });
};
