import * as z from 'zod';
import type { Model } from '../../shared/models/model.ts';
import { priceAt } from '../../shared/prices/price.ts';

const Availability = z.enum(['available', 'unavailable']);

/** That the host serves, and which models it would let a request through to. */
export const Health = z.object({
  status: z.literal('ok'),
  models: z.record(z.string(), Availability).meta({
    description:
      'Every published model by name. `available`: a request is let through to it now. Whether its runtime has room is not asked.',
  }),
});
export type Health = z.infer<typeof Health>;

/** The availability of each published model at `nowMs`, by what is known of it: without a price in force it cannot be called. */
export const availabilityOf = (models: readonly Model[], nowMs: number): Health['models'] =>
  Object.fromEntries(
    models
      .filter(({ status }) => status === 'published')
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, prices }) => [name, priceAt(prices, nowMs) ? 'available' : 'unavailable']),
  );
