import * as z from 'zod';

/** Nano-dollars per 1,000,000 tokens: $0.10 a million tokens is 100,000,000. */
const Nanos = z.int().min(0).max(1e15);

/** A price version: never edited, replaced by one with a later date. */
export const Price = z.strictObject({
  version: z.string().min(1).max(40),
  effective_at: z.int().min(0),
  prompt_nanos: Nanos,
  completion_nanos: Nanos,
});
export type Price = z.infer<typeof Price>;

/** The price in force at `nowMs`: the latest that is already effective. */
export const priceAt = (prices: readonly Price[], nowMs: number): Price | undefined =>
  prices
    .filter((price) => price.effective_at <= nowMs)
    .reduce<Price | undefined>((latest, price) => (latest && latest.effective_at >= price.effective_at ? latest : price), undefined);

/** The cost of one request in nano-dollars, rounded once, half up. */
export const costNanos = (price: Price, usage: { promptTokens: number; completionTokens: number }): bigint =>
  (BigInt(price.prompt_nanos) * BigInt(usage.promptTokens) + BigInt(price.completion_nanos) * BigInt(usage.completionTokens) + 500_000n) /
  1_000_000n;

/** The versions of `before` that `after` lacks or has with other figures: a price is never edited, because events name it. */
export const editedPrices = (before: readonly Price[], after: readonly Price[]): string[] =>
  before
    .filter((old) => !after.some((price) => JSON.stringify(Price.parse(price)) === JSON.stringify(Price.parse(old))))
    .map(({ version }) => version);
