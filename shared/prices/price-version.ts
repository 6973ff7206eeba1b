import * as z from 'zod';
import { newTimedId } from '../ids/id.ts';
import { unixSeconds } from '../time/units.ts';
import { Dollars, dollarsOf, dollarsPerToken, nanosOf } from './dollars.ts';
import { MAX_PRICE_NANOS, type Price } from './price.ts';

const PerMillionDollars = Dollars.refine(
  (dollars) => (nanosOf(dollars) ?? 0n) <= BigInt(MAX_PRICE_NANOS),
  `expected at most ${dollarsOf(BigInt(MAX_PRICE_NANOS))} dollars`,
).meta({ description: 'Dollars per million tokens, with at most nine decimals.', examples: ['0.05'] });

const CACHED = 'For prompt tokens that the runtime read from its cache, if it reports how many. Default: the price of other prompt tokens.';

/** The body that creates a price version. */
export const NewFigures = z.strictObject({
  effective_at: z
    .int()
    .min(0)
    .max(99_999_999_999)
    .optional()
    .meta({ description: 'When the price takes effect. Unix time in seconds. Default: now.' }),
  per_million: z
    .strictObject({
      prompt: PerMillionDollars,
      cached_prompt: PerMillionDollars.optional().meta({ description: CACHED }),
      completion: PerMillionDollars,
    })
    .refine(({ prompt, cached_prompt = prompt }) => (nanosOf(cached_prompt) ?? 0n) <= (nanosOf(prompt) ?? 0n), {
      path: ['cached_prompt'],
      message: 'expected at most the prompt price',
    }),
});
export type NewFigures = z.output<typeof NewFigures>;

const TokenDollars = z
  .string()
  .regex(/^\d+(\.\d+)?$/)
  .meta({ description: 'Dollars per token: an exact decimal number without exponent.', examples: ['0.00000005'] });

export const Pricing = z.object({
  prompt: TokenDollars,
  cached_prompt: TokenDollars.meta({ description: 'For prompt tokens that the runtime read from its cache.' }),
  completion: TokenDollars,
});

/** A price version as it goes out. */
export const PriceFigures = Pricing.extend({
  version: z.string().meta({ description: 'The id of the price version. Usage events refer to it.' }),
  per_million: z
    .object({ prompt: z.string(), cached_prompt: z.string(), completion: z.string() })
    .meta({ description: 'The same prices in dollars per million tokens.' }),
  effective_at: z.int().meta({ description: 'When the price takes effect. Unix time in seconds.' }),
});
export type PriceFigures = z.infer<typeof PriceFigures>;

const nanosPerMillion = (dollars: string): number => Number(nanosOf(dollars));

/** Creates a price version; it takes effect at `nowMs` if no time is given. */
export const toPrice = ({ effective_at, per_million: { prompt, cached_prompt, completion } }: NewFigures, nowMs: number): Price => ({
  version: newTimedId('price', nowMs),
  effective_at: effective_at === undefined ? nowMs : effective_at * 1_000,
  prompt_nanos: nanosPerMillion(prompt),
  ...(cached_prompt !== undefined && { cached_prompt_nanos: nanosPerMillion(cached_prompt) }),
  completion_nanos: nanosPerMillion(completion),
});

/** A price per token, in dollars. */
export const pricingOf = ({ prompt_nanos, cached_prompt_nanos = prompt_nanos, completion_nanos }: Price): z.infer<typeof Pricing> => ({
  prompt: dollarsPerToken(prompt_nanos),
  cached_prompt: dollarsPerToken(cached_prompt_nanos),
  completion: dollarsPerToken(completion_nanos),
});

/** A price version as it goes out. */
export const figuresOf = (price: Price): PriceFigures => {
  const { version, effective_at, prompt_nanos, cached_prompt_nanos = prompt_nanos, completion_nanos } = price;
  return {
    version,
    ...pricingOf(price),
    per_million: {
      prompt: dollarsOf(BigInt(prompt_nanos)),
      cached_prompt: dollarsOf(BigInt(cached_prompt_nanos)),
      completion: dollarsOf(BigInt(completion_nanos)),
    },
    effective_at: unixSeconds(effective_at),
  };
};

/** Sorts price versions by the time they take effect, newest first. */
export const newestFirst = <Version extends { effective_at: number }>(prices: readonly Version[]): Version[] =>
  [...prices].sort((a, b) => b.effective_at - a.effective_at);
