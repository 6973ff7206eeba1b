import { decimal, dollarsOf } from '../../../shared/prices/dollars.ts';
import type { Price } from '../../../shared/prices/price.ts';
import type { EconomicsSums } from './economics-sums.ts';

// If the phases of no request were measured, a completion token counts as so many prompt tokens: about what providers
// charge for it.
const COMPLETION_WEIGHT = 4n;

const MILLION = 1_000_000n;
const DOLLAR_DECIMALS = 9;
const RATE_DECIMALS = 3;
const SHARE_DECIMALS = 4;

/** Prices per million tokens with which a row is compared. */
export type ListPrice = Pick<Price, 'prompt_nanos' | 'completion_nanos'>;

/** The sums of a row, as the platform or the owner of its deployments sees them. */
export interface Figures {
  cost: string | null;
  known_cost: string;
  cost_missing: ('no_cost_price' | 'not_metered')[];
  revenue: { total: string; tokens: string; gpu_time: string } | null;
  margin: string | null;
  utilization: string | null;
  attribution: { rule: 'phases' | 'weight'; prompt_share: string } | null;
  cost_per_million: { tokens: string | null; prompt: string | null; completion: string | null };
  tokens_per_second: string | null;
  break_even_tokens_per_second: { at_sold_price: string | null; at_list_price: string | null };
  list_cost: string | null;
}

/** `numerator` / `denominator` as a decimal number, rounded once, half away from zero; null without a denominator. */
export const quotient = (numerator: bigint, denominator: bigint, decimals: number): string | null => {
  if (denominator <= 0n) return null;
  const scaled = (numerator < 0n ? -numerator : numerator) * 10n ** BigInt(decimals);
  const rounded = (2n * scaled + denominator) / (2n * denominator);
  return decimal(numerator < 0n ? -rounded : rounded, decimals);
};

// Parts of a cost, as numerators of the same denominator.
interface Shares {
  rule: 'phases' | 'weight';
  prompt: bigint;
  completion: bigint;
}

const sharesOf = ({ promptMs, generationMs, promptTokens, completionTokens }: EconomicsSums): Shares =>
  promptMs > 0n && generationMs > 0n
    ? { rule: 'phases', prompt: promptMs, completion: generationMs }
    : { rule: 'weight', prompt: promptTokens, completion: COMPLETION_WEIGHT * completionTokens };

const missingOf = ({ uncostedSeconds, unmeteredTokens }: EconomicsSums, isOwner: boolean): Figures['cost_missing'] => [
  // An owner's charges are always known.
  ...(!isOwner && uncostedSeconds > 0n ? (['no_cost_price'] as const) : []),
  ...(unmeteredTokens > 0n ? (['not_metered'] as const) : []),
];

const costFigures = (sums: EconomicsSums, nanos: bigint | null): Pick<Figures, 'attribution' | 'cost_per_million'> => {
  const { promptTokens, completionTokens } = sums;
  const { rule, ...parts } = sharesOf(sums);
  const whole = parts.prompt + parts.completion;
  const share = quotient(parts.prompt, whole, SHARE_DECIMALS);
  if (nanos === null || share === null) return { attribution: null, cost_per_million: { tokens: null, prompt: null, completion: null } };
  const perMillion = (part: bigint, tokens: bigint): string | null =>
    quotient(nanos * MILLION * part, tokens * whole * 10n ** 9n, DOLLAR_DECIMALS);
  return {
    attribution: { rule, prompt_share: share },
    cost_per_million: {
      tokens: perMillion(whole, promptTokens + completionTokens),
      prompt: perMillion(parts.prompt, promptTokens),
      completion: perMillion(parts.completion, completionTokens),
    },
  };
};

/**
 * Computes the figures of a row from its sums.
 * @param isOwner the owner of the deployments sees them: their cost is what they are charged for GPU time and
 * their own tokens, and they have no revenue
 * @param listPrice absent: nothing is compared
 */
export const figuresOf = (
  sums: EconomicsSums,
  { isOwner, listPrice }: { isOwner: boolean; listPrice?: ListPrice | undefined },
): Figures => {
  const { seconds, awakeSeconds, soldNanos, chargeNanos, promptTokens, completionTokens } = sums;
  const missing = missingOf(sums, isOwner);
  const known = isOwner ? chargeNanos + soldNanos : sums.costNanos;
  const nanos = missing.length === 0 ? known : null;
  const tokens = promptTokens + completionTokens;
  const listNanos = listPrice && costNanosOf(listPrice, sums);
  // tokens / awake seconds at which tokens × (value / all tokens) = cost
  const breakEven = (value: bigint | undefined): string | null =>
    nanos === null || value === undefined || value <= 0n ? null : quotient(nanos * tokens, value * awakeSeconds, RATE_DECIMALS);
  return {
    cost: nanos === null ? null : dollarsOf(nanos),
    known_cost: dollarsOf(known),
    cost_missing: missing,
    revenue: isOwner ? null : { total: dollarsOf(soldNanos + chargeNanos), tokens: dollarsOf(soldNanos), gpu_time: dollarsOf(chargeNanos) },
    margin: isOwner || nanos === null ? null : dollarsOf(soldNanos + chargeNanos - nanos),
    utilization: quotient(seconds.busy, seconds.waking + seconds.busy + seconds.idle + seconds.draining, SHARE_DECIMALS),
    ...costFigures(sums, nanos),
    tokens_per_second: quotient(tokens, awakeSeconds, RATE_DECIMALS),
    break_even_tokens_per_second: {
      at_sold_price: isOwner ? null : breakEven(soldNanos),
      at_list_price: breakEven(listNanos),
    },
    list_cost: listNanos === undefined ? null : dollarsOf(listNanos),
  };
};

const costNanosOf = ({ prompt_nanos, completion_nanos }: ListPrice, { promptTokens, completionTokens }: EconomicsSums): bigint =>
  (BigInt(prompt_nanos) * promptTokens + BigInt(completion_nanos) * completionTokens + MILLION / 2n) / MILLION;
