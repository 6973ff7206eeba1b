import * as z from 'zod';
import type { Model } from '../../shared/models/model.ts';
import { priceAt } from '../../shared/prices/price.ts';

const Availability = z.enum(['available', 'unavailable']);

/** The health of the host, and the availability of its models. */
export const Health = z.object({
  status: z.literal('ok'),
  models: z.record(z.string(), Availability).meta({
    description:
      'The published models by name. `available`: requests to the model are accepted. The capacity of its runtime is not checked.',
  }),
});
export type Health = z.infer<typeof Health>;

/** The availability of each published model at `nowMs`. A model is unavailable if it has no price in force. */
export const availabilityOf = (models: readonly Model[], nowMs: number): Health['models'] =>
  Object.fromEntries(
    models
      .filter(({ status }) => status === 'published')
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, prices }) => [name, priceAt(prices, nowMs) ? 'available' : 'unavailable']),
  );
