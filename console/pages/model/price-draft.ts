import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { fromUnits, isMoney, MOST_PER_UNIT, perMillion, toUnits } from '../../design/format/amounts.ts';
import { utcSeconds } from '../../design/format/times.ts';

/** A model whose price can be changed. */
export type PricedModel = Pick<ReplyBody<'GET /v1/models/{model+}'>, 'name' | 'organization' | 'pricing'>;

/** A price version as its form has it, in dollars per million tokens. */
export interface PriceDraft {
  input: string;
  /** Empty: the price of other input. */
  cached: string;
  output: string;
  /** A UTC time; empty: now. */
  from: string;
}

/** The current price of a model as the form begins with it. */
export const draftOfPrice = ({ pricing }: PricedModel): PriceDraft => ({
  input: pricing ? perMillion(pricing.prompt) : '',
  cached: pricing ? perMillion(pricing.cached_prompt) : '',
  output: pricing ? perMillion(pricing.completion) : '',
  from: '',
});

/** True for a draft that can be sent. */
export const isCompletePrice = ({ input, cached, output }: PriceDraft): boolean =>
  [input, output, cached || input].every((price) => isMoney(price, MOST_PER_UNIT));

/** The body that adds a price version. */
export const newPriceOf = (
  { name, organization }: PricedModel,
  { input, cached, output, from }: PriceDraft,
): RequestBody<'POST /v1/prices'> => {
  const effective_at = utcSeconds(from);
  return {
    model: name,
    ...(organization !== null && { organization }),
    ...(effective_at !== undefined && { effective_at }),
    per_million: { prompt: input, ...(cached !== '' && { cached_prompt: cached }), completion: output },
  };
};

/** The exact difference between two prices, such as `+0.02`; empty if there is none. */
export const differenceOf = (before: string, after: string): string => {
  const units = toUnits(after) - toUnits(before);
  return units === 0n ? '' : `${units > 0n ? '+' : ''}${fromUnits(units)}`;
};
