import * as z from 'zod';

/** $1,000,000 per million tokens. */
export const MAX_PRICE_NANOS = 1e15;
// Per 1,000,000 tokens: $0.10 per million tokens is 100,000,000.
const Nanos = z.int().min(0).max(MAX_PRICE_NANOS);

/** A price version: never edited, replaced by one with a later date. */
export const Price = z
  .strictObject({
    version: z.string().min(1).max(40),
    /** Milliseconds since the epoch. */
    effective_at: z.int().min(0),
    prompt_nanos: Nanos,
    /** For prompt tokens that the runtime read from its cache; absent: the price of other prompt tokens. */
    cached_prompt_nanos: Nanos.optional(),
    completion_nanos: Nanos,
    /** It is charged on top of the GPU time of a deployment, for tokens of its adapters. */
    is_surcharge: z.literal(true).optional(),
  })
  .refine(({ cached_prompt_nanos = 0, prompt_nanos }) => cached_prompt_nanos <= prompt_nanos, {
    path: ['cached_prompt_nanos'],
    message: 'expected at most prompt_nanos',
  });
export type Price = z.infer<typeof Price>;

/** The price in force at `nowMs`: the latest that is already effective. */
export const priceAt = <Version extends { effective_at: number } = Price>(prices: readonly Version[], nowMs: number): Version | undefined =>
  prices
    .filter((price) => price.effective_at <= nowMs)
    .reduce<Version | undefined>((latest, price) => (latest && latest.effective_at >= price.effective_at ? latest : price), undefined);

// `promptTokens` include `cachedTokens`.
interface BilledTokens {
  promptTokens: number;
  cachedTokens?: number;
  completionTokens: number;
}

const MILLION = 1_000_000n;

/** The cost of one request in nano-dollars, rounded once, half up. */
export const costNanos = (price: Price, { promptTokens, cachedTokens = 0, completionTokens }: BilledTokens): bigint => {
  const cached = Math.min(cachedTokens, promptTokens);
  const total =
    BigInt(price.prompt_nanos) * BigInt(promptTokens - cached) +
    BigInt(price.cached_prompt_nanos ?? price.prompt_nanos) * BigInt(cached) +
    BigInt(price.completion_nanos) * BigInt(completionTokens);
  return (total + MILLION / 2n) / MILLION;
};

/**
 * The versions in `before` that `after` lacks or has changed. A price must never be edited, because usage events
 * refer to it.
 */
export const editedPrices = (before: readonly Price[], after: readonly Price[]): string[] =>
  before
    .filter((old) => !after.some((price) => JSON.stringify(Price.parse(price)) === JSON.stringify(Price.parse(old))))
    .map(({ version }) => version);
