import * as z from 'zod';
import { SECOND_MS } from '../time/units.ts';

/** The parts of a promise, in the order in which their credits are counted. */
export const MEASURES = ['availability', 'first_token_p95_ms', 'wake_p95_seconds'] as const;
export type Measure = (typeof MEASURES)[number];

const MAX_TIERS = 5;
const MAX_REQUESTS = 1_000_000_000;
// No request waits longer: it would outlive its function.
const MAX_SECONDS = 900;

const CreditPercent = z
  .int()
  .min(1)
  .max(100)
  .meta({ description: "The share of the model's charges of the month that is credited, in percent.", examples: [10] });

const Share = z
  .string()
  .regex(/^(?!0\.0+$)(0\.\d{1,6}|1)$/, 'expected a share above 0 and at most 1 with at most six decimals, such as "0.999"')
  .meta({ description: 'A share of the requests, such as `0.999`.', examples: ['0.999'] });

const MILLION = 1_000_000;

/** A share in millionths. */
export const millionthsOf = (share: string): number => (share === '1' ? MILLION : Number(share.slice(2).padEnd(6, '0')));

const MinRequests = z.int().min(1).max(MAX_REQUESTS).default(1).meta({
  description: 'With fewer requests that count in the month, the promise is not evaluated.',
});

interface Tier {
  credit_percent: number;
}

// The first tier is the promise; each following one is a worse miss, with a larger credit.
const tiersOf = <Schema extends z.ZodType<Tier>>(schema: Schema, isWorse: (one: z.output<Schema>, next: z.output<Schema>) => boolean) =>
  z
    .array(schema)
    .min(1)
    .max(MAX_TIERS)
    .refine(
      (tiers) => tiers.every((tier, i) => i === 0 || isWorse(tiers[i - 1] as z.output<Schema>, tier)),
      'expected each tier to be a worse miss than the one before it',
    )
    .refine(
      (tiers) => tiers.every(({ credit_percent }, i) => i === 0 || credit_percent > (tiers[i - 1] as Tier).credit_percent),
      'expected each tier to have a larger credit than the one before it',
    );

const ShareTier = z.strictObject({ below: Share, credit_percent: CreditPercent });
const above = (max: number, description: string) =>
  z.strictObject({ above: z.int().min(1).max(max).meta({ description }), credit_percent: CreditPercent });

const upper = (max: number, description: string) =>
  z.strictObject({
    min_requests: MinRequests,
    tiers: tiersOf(above(max, description), (one, next) => next.above > one.above),
  });

/** Figures of a promise of a model. Without any measure, nothing is promised. */
export const PromiseFigures = z.strictObject({
  availability: z
    .strictObject({
      min_requests: MinRequests,
      tiers: tiersOf(ShareTier, (one, next) => millionthsOf(next.below) < millionthsOf(one.below)),
    })
    .optional()
    .meta({ description: 'The share of the requests that were answered.' }),
  first_token_p95_ms: upper(MAX_SECONDS * SECOND_MS, 'Milliseconds.')
    .optional()
    .meta({ description: 'The 95th percentile of the times to the first token, of streams that did not wait for capacity.' }),
  wake_p95_seconds: upper(MAX_SECONDS, 'Seconds.')
    .optional()
    .meta({ description: 'The 95th percentile of the waits for capacity, of requests that waited for at least a second.' }),
  max_credit_percent: z
    .int()
    .min(1)
    .max(100)
    .default(100)
    .meta({ description: "The most that all misses of a month together credit, in percent of the model's charges." }),
});
export type PromiseFigures = z.output<typeof PromiseFigures>;

/** A promise, which holds from a UTC month on until a later one replaces it. */
export const ServicePromise = z.strictObject({ from_month: z.string(), stated_at: z.int(), figures: PromiseFigures });
export type ServicePromise = z.output<typeof ServicePromise>;

/** The most promises that a shared model can have: ten years of months. */
export const MAX_PROMISES = 120;

/** The promises of a shared model, at rest. They stay when the model is deleted. */
export const ModelPromises = z.strictObject({
  model: z.string(),
  promises: z.array(ServicePromise).max(MAX_PROMISES),
  version: z.int().min(0),
});
export type ModelPromises = z.output<typeof ModelPromises>;

const isPromised = (figures: PromiseFigures): boolean => MEASURES.some((measure) => figures[measure] !== undefined);

/** The figures that a model promises for a month; undefined: nothing. */
export const figuresFor = (promises: readonly ServicePromise[], month: string): PromiseFigures | undefined => {
  const last = promises
    .filter(({ from_month }) => from_month <= month)
    .reduce<ServicePromise | undefined>((latest, each) => (latest && latest.from_month > each.from_month ? latest : each), undefined);
  return last && isPromised(last.figures) ? last.figures : undefined;
};
