import * as z from 'zod';
import { Month } from '../../../shared/billing/month.ts';
import { ModelName } from '../../../shared/models/model.ts';
import { MAX_PROMISES, PromiseFigures, type ServicePromise } from '../../../shared/service-levels/promise.ts';
import { unixSeconds } from '../../../shared/time/units.ts';

export const PromisedModel = z.strictObject({ model: ModelName.meta({ description: 'The name of a shared model.' }) });
export type PromisedModel = z.output<typeof PromisedModel>;

/** A promise to state. */
export const NewServicePromise = PromisedModel.extend({
  from_month: Month.optional().meta({
    description: 'The UTC month from which on it holds, which has not begun yet. Default: the next one.',
    examples: ['2027-01'],
  }),
  ...PromiseFigures.shape,
});
export type NewServicePromise = z.output<typeof NewServicePromise>;

const { availability, first_token_p95_ms, wake_p95_seconds, max_credit_percent } = PromiseFigures.shape;

/** Figures on the wire. */
export const PromiseFiguresResource = z.object({
  availability: availability.unwrap().nullable().meta({ description: 'The share of the requests that are answered; null: not promised.' }),
  first_token_p95_ms: first_token_p95_ms
    .unwrap()
    .nullable()
    .meta({ description: 'The 95th percentile of the times to the first token; null: not promised.' }),
  wake_p95_seconds: wake_p95_seconds
    .unwrap()
    .nullable()
    .meta({ description: 'The 95th percentile of the waits for capacity; null: not promised.' }),
  max_credit_percent: max_credit_percent.unwrap(),
});
export type PromiseFiguresResource = z.infer<typeof PromiseFiguresResource>;

/** Converts figures to the wire. */
export const toFigures = (figures: PromiseFigures): PromiseFiguresResource => ({
  availability: figures.availability ?? null,
  first_token_p95_ms: figures.first_token_p95_ms ?? null,
  wake_p95_seconds: figures.wake_p95_seconds ?? null,
  max_credit_percent: figures.max_credit_percent,
});

export const ServicePromiseResource = PromiseFiguresResource.extend({
  object: z.literal('service_promise'),
  model: z.string(),
  from_month: z.string().meta({ description: 'It holds from this UTC month on, until a later promise replaces it.' }),
  stated_at: z.int().meta({ description: 'Unix time in seconds.' }),
});
export type ServicePromiseResource = z.infer<typeof ServicePromiseResource>;

export const ServicePromiseList = z.object({
  object: z.literal('list'),
  data: z.array(ServicePromiseResource).max(MAX_PROMISES),
  version: z.int().meta({ description: 'The version of the list, which is its ETag too. 0: nothing was stated yet.' }),
});
export type ServicePromiseList = z.infer<typeof ServicePromiseList>;

/** Converts a promise to the wire. */
export const toPromiseResource = (model: string, { from_month, stated_at, figures }: ServicePromise): ServicePromiseResource => ({
  object: 'service_promise',
  model,
  from_month,
  stated_at: unixSeconds(stated_at),
  ...toFigures(figures),
});
