import * as z from 'zod';
import { MAX_IN_FLIGHT, MAX_MIX } from '../../../../shared/deployments/benchmark.ts';
import { Dollars } from '../../../../shared/prices/dollars.ts';

const DEFAULT_TTFT_MS = 2_000;
const DEFAULT_INTER_TOKEN_MS = 100;
const DEFAULT_CONCURRENCY = 64;
const MAX_TTFT_MS = 60_000;
const MAX_INTER_TOKEN_MS = 10_000;
const MAX_TOKENS = 1_000_000;
const MAX_WEIGHT = 1_000;

const GivenMix = z.strictObject({
  prompt_tokens: z.int().min(1).max(MAX_TOKENS),
  completion_tokens: z.int().min(1).max(MAX_TOKENS),
  weight: z.int().min(1).max(MAX_WEIGHT).default(1).meta({ description: 'How often it is sent, relative to the others.' }),
});

/** A request for a benchmark. */
export const NewBenchmark = z.strictObject({
  budget: Dollars.meta({
    description:
      "The most GPU time that the benchmark may take, in dollars at the deployment's price. It never begins what could exceed it.",
    examples: ['2.50'],
  }),
  goals: z
    .strictObject({
      ttft_p95_ms: z.int().min(1).max(MAX_TTFT_MS).default(DEFAULT_TTFT_MS).meta({ description: 'Milliseconds until the first token.' }),
      inter_token_p95_ms: z.int().min(1).max(MAX_INTER_TOKEN_MS).default(DEFAULT_INTER_TOKEN_MS).meta({
        description: 'Milliseconds between two tokens of an answer, on average of the answer.',
      }),
    })
    .prefault({})
    .meta({ description: 'The times that 95 of 100 requests must not exceed.' }),
  mix: z.array(GivenMix).min(1).max(MAX_MIX).optional().meta({
    description: "The lengths of the requests to send. Default: those of the deployment's requests of the last 7 days.",
  }),
  max_concurrency_per_copy: z
    .int()
    .min(1)
    .max(MAX_IN_FLIGHT)
    .default(DEFAULT_CONCURRENCY)
    .meta({ description: `The most requests at the same time on a copy. All copies together get at most ${MAX_IN_FLIGHT}.` }),
  apply: z.boolean().default(false).meta({
    description: 'Writes the result to `max_concurrency_per_copy` of the deployment, if nobody has changed its settings meanwhile.',
  }),
  validate_only: z.boolean().default(false).meta({ description: 'Returns the price and the lengths, and starts nothing.' }),
});
export type NewBenchmark = z.output<typeof NewBenchmark>;
