import type { ReplyBody } from '../../client/routes.ts';
import { formatCount, fromUnits, toUnits } from '../../design/format/amounts.ts';

/** The promise of a model: its measures, each with its tiers. */
export type Figures = Pick<
  ReplyBody<'GET /v1/service-promises'>['data'][number],
  'availability' | 'first_token_p95_ms' | 'wake_p95_seconds' | 'max_credit_percent'
>;
export type Measure = Exclude<keyof Figures, 'max_credit_percent'>;

export const MEASURES: readonly Measure[] = ['availability', 'first_token_p95_ms', 'wake_p95_seconds'];

/** Measures as people call them. */
export const MEASURE_NAMES: Readonly<Record<Measure, string>> = {
  availability: 'Availability',
  first_token_p95_ms: 'Time to first token (p95)',
  wake_p95_seconds: 'Wait for capacity (p95)',
};

const PERCENT = 100n;
const WHOLE = 100;

/** A share such as `0.999` in percent, exactly: `99.9`. */
export const percentOfShare = (share: string): string => fromUnits(toUnits(share) * PERCENT);

/** The threshold of a tier as people read it. */
export const thresholdText = (measure: Measure, threshold: string): string => {
  if (measure === 'availability') return `${percentOfShare(threshold)}%`;
  return `${formatCount(threshold)} ${measure === 'first_token_p95_ms' ? 'ms' : 's'}`;
};

/** A tier of any measure. */
export interface Tier {
  threshold: string;
  credit: number;
}

/** The tiers of a measure, the promise first; none if it is not promised. */
export const tiersOf = (figures: Figures, measure: Measure): readonly Tier[] =>
  (figures[measure]?.tiers ?? []).map((tier) => ({
    threshold: 'below' in tier ? tier.below : String(tier.above),
    credit: tier.credit_percent,
  }));

const PROMISES: Readonly<Record<Measure, (threshold: string) => string>> = {
  availability: (threshold) => `At least ${threshold} of the requests are answered`,
  first_token_p95_ms: (threshold) => `95% of streams begin within ${threshold}`,
  wake_p95_seconds: (threshold) => `95% of waits for capacity end within ${threshold}`,
};

const creditsText = (measure: Measure, tiers: readonly Tier[]): string =>
  tiers
    .map(({ threshold, credit }) => `${credit}% ${measure === 'availability' ? 'below' : 'above'} ${thresholdText(measure, threshold)}`)
    .join(', ');

const promiseSentence = (figures: Figures, measure: Measure): string | undefined => {
  const tiers = tiersOf(figures, measure);
  const [promise] = tiers;
  if (!promise) return undefined;
  const least = figures[measure]?.min_requests ?? 1;
  const counts = least > 1 ? `, if at least ${formatCount(least)} requests count` : '';
  return `${PROMISES[measure](thresholdText(measure, promise.threshold))}${counts}. Credit: ${creditsText(measure, tiers)}.`;
};

/** All sentences of a promise; none if nothing is promised. */
export const promiseSentences = (figures: Figures): readonly string[] => {
  const { max_credit_percent: most } = figures;
  const sentences = MEASURES.map((measure) => promiseSentence(figures, measure)).filter((sentence) => sentence !== undefined);
  if (sentences.length === 0 || most === WHOLE) return sentences;
  return [...sentences, `The total credit for a month is at most ${most}%.`];
};
