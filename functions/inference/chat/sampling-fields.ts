import * as z from 'zod';
import { firstFault } from '../../../shared/http/first-fault.ts';
import { exactInteger } from '../../../shared/http/json/json-numbers.ts';
import type { Treatment } from '../../../shared/upstream/dialect.ts';

const MAX_BIASES = 1_024;
const MAX_TOKEN_IDS = 1_024;

const Share = z.number().min(0).max(1).nullish();
export const Count = z.int().min(1).nullish();
export const Switch = z.boolean().nullish();

const Penalty = z.number().min(-2).max(2).nullish();
const TokenIds = firstFault(z.array(z.int().min(0)).max(MAX_TOKEN_IDS)).nullish();

const StopString = z.string().min(1).max(256);
const Stop = z.union([StopString, firstFault(z.array(StopString).max(4))], {
  error: 'expected a string or an array of up to 4 strings, each of 1 to 256 characters',
});

const MAX_SEED = 2n ** 63n - 1n;
const isSeed = (value: unknown): boolean =>
  (typeof value === 'bigint' || Number.isInteger(value)) &&
  BigInt(value as number) <= MAX_SEED &&
  BigInt(value as number) >= -MAX_SEED - 1n;

// A seed beyond 2^53 is a bigint.
const Seed = z.custom<number | bigint>(isSeed, 'expected a 64-bit integer').meta({ type: 'integer', format: 'int64' });

const isSmall = (value: unknown): boolean => typeof value !== 'object' || value === null || Object.keys(value).length <= MAX_BIASES;

// The size is checked first, because a zod record creates an issue for each invalid key.
const LogitBias = z
  .custom<Record<string, number>>(isSmall, { error: `expected at most ${MAX_BIASES} token ids`, abort: true })
  .pipe(z.record(z.string().regex(/^\d{1,9}$/, 'expected token ids as keys'), z.number().min(-100).max(100)));

/** The documented fields that control sampling and the number of choices. */
export const samplingFields = {
  temperature: z.number().min(0).max(2).nullish(),
  top_p: Share,
  n: z.int().min(1).max(16).nullish(),
  stop: Stop.nullish(),
  top_k: z.int().min(-1).nullish(),
  min_p: Share,
  typical_p: Share,
  seed: Seed.nullish(),
  repetition_penalty: z.number().gt(0).max(2).nullish(),
  mirostat_target: z.number().min(0).nullish(),
  mirostat_lr: z.number().min(0).nullish(),
  presence_penalty: Penalty,
  frequency_penalty: Penalty,
  logit_bias: LogitBias.nullish(),
  ignore_eos: Switch,
};

/** Fields beyond the interface that a dialect can pass on; checked here, so that a runtime never gets a wrong type. */
export const samplingExtras = {
  min_tokens: z.int().min(0).nullish(),
  stop_token_ids: TokenIds,
  include_stop_str_in_output: Switch,
  skip_special_tokens: Switch,
  bad_words: firstFault(z.array(z.string().min(1).max(256)).max(MAX_TOKEN_IDS)).nullish(),
  allowed_token_ids: TokenIds,
};

// Runtimes treat any temperature below this as greedy sampling.
const GREEDY_BELOW = 1e-5;

// Dropped if empty, because runtimes reject some empty lists.
const LISTS = ['stop', 'stop_token_ids', 'bad_words', 'allowed_token_ids'];

/** Limits a runtime's body to the ranges that runtimes accept where the documented range is wider. Mutates `body`. */
export const intoRange = (
  body: Record<string, unknown>,
  maxTokens: number,
  { fields }: { fields: { top_k: Treatment } },
): Record<string, unknown> => {
  if (typeof body.temperature === 'number' && body.temperature < GREEDY_BELOW) body.temperature = 0;
  if (body.top_p === 0) {
    delete body.top_p;
    if (fields.top_k.how === 'passed') body.top_k = 1;
    else body.temperature = 0;
  }
  // vLLM treats -1 as no seed.
  const seed = body.seed === -1 ? MAX_SEED : body.seed;
  if (typeof seed === 'bigint') body.seed = exactInteger(seed);
  for (const name of LISTS) if (Array.isArray(body[name]) && body[name].length === 0) delete body[name];
  if (typeof body.min_tokens === 'number') body.min_tokens = Math.min(body.min_tokens, maxTokens);
  return body;
};

interface Sampling {
  n?: number | null | undefined;
  temperature?: number | null | undefined;
  min_tokens?: number | null | undefined;
}

/** The first contradiction between sampling fields: the field and the reason. */
export const samplingFault = (
  { n, temperature, min_tokens }: Sampling,
  maxTokens: number | null | undefined,
  maxTokensField = 'max_tokens',
): { path: string[]; message: string } | undefined => {
  if ((n ?? 1) !== 1 && temperature != null && temperature < GREEDY_BELOW)
    return { path: ['n'], message: 'n must be 1 when temperature is 0: every choice would be the same' };
  if (min_tokens != null && maxTokens != null && min_tokens > maxTokens)
    return { path: ['min_tokens'], message: `expected at most ${maxTokensField}, which is ${maxTokens}` };
  return undefined;
};
