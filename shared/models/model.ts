import * as z from 'zod';
import { Price } from '../prices/price.ts';

/** A SageMaker endpoint, or an inference component on one, that serves a model. */
export const Target = z.strictObject({
  endpoint: z.string().min(1).max(63),
  component: z.string().min(1).max(63).optional(),
  region: z.string().min(1).max(30).optional(),
  /** The name that the container knows the model by; absent = the container's own. */
  container_model: z.string().max(256).optional(),
});
export type Target = z.infer<typeof Target>;

/** A model as the inventory has it. `published` models of the pool `serverless` are what everyone may call. */
export const Model = z.strictObject({
  name: z.string().min(1).max(256),
  status: z.enum(['published', 'unpublished']),
  created: z.int().min(0),
  context_length: z.int().min(1),
  max_output_tokens: z.int().min(1),
  /** What a request that names no max_tokens gets. */
  default_output_tokens: z.int().min(1),
  /** One, until requests are spread over several. */
  targets: z.tuple([Target]),
  prices: z
    .array(Price)
    .min(1)
    .max(100)
    .refine((prices) => new Set(prices.map(({ version }) => version)).size === prices.length, 'expected each price version once'),
});
export type Model = z.infer<typeof Model>;
