import * as z from 'zod';
import { createPriceVersions, type PriceStores } from '../prices/price-versions.ts';
import type { ChargeGroup } from './charge-group.ts';

const PriceNanos = z.string().regex(/^\d+$/).transform(BigInt);

// Nano-dollars per 1,000,000 tokens.
const TokenPrice = z.object({
  model: z.string(),
  version: z.string(),
  prompt_nanos: PriceNanos,
  cached_prompt_nanos: PriceNanos,
  completion_nanos: PriceNanos,
  is_surcharge: z.literal(true).optional(),
});
type TokenPrice = z.output<typeof TokenPrice>;

const HourPrice = z.object({ instance_type: z.string(), version: z.string(), hour_nanos: PriceNanos });

/** The prices of an invoice, as stored in the file of its inputs. */
export const Prices = z.object({ tokens: z.array(TokenPrice), instances: z.array(HourPrice) });
export type Prices = z.output<typeof Prices>;

/** Looks up the prices of groups. */
export interface InvoicePrices {
  tokens(model: string | null, version: string | null): TokenPrice | undefined;
  instanceHour(instanceType: string | null, version: string | null): bigint | null;
}

export const createInvoicePrices = ({ tokens, instances }: Prices): InvoicePrices => ({
  tokens: (model, version) => tokens.find((price) => price.model === model && price.version === version),
  instanceHour: (instanceType, version) =>
    instances.find((price) => price.instance_type === instanceType && price.version === version)?.hour_nanos ?? null,
});

const distinct = (names: readonly (string | null)[]): string[] => [...new Set(names)].filter((name) => name !== null).sort();

const versionsIn = (groups: readonly ChargeGroup[]): string[] => distinct(groups.map(({ price_version }) => price_version));

/** Reads the prices of these groups. Removed prices are left out. */
export const readPrices = async (stores: PriceStores, organization: string, groups: readonly ChargeGroup[]): Promise<Prices> => {
  const versions = createPriceVersions(stores, organization);
  const prices: Prices = { tokens: [], instances: [] };
  for (const model of distinct(groups.map((group) => group.model)))
    for (const version of versionsIn(groups.filter((group) => group.model === model))) {
      const price = await versions.ofTokens(model, version);
      if (!price) continue;
      const { prompt_nanos, cached_prompt_nanos = prompt_nanos, completion_nanos, is_surcharge } = price;
      const nanos = { prompt_nanos: BigInt(prompt_nanos), cached_prompt_nanos: BigInt(cached_prompt_nanos) };
      const of = { model, version, ...(is_surcharge && { is_surcharge }) };
      prices.tokens.push({ ...of, ...nanos, completion_nanos: BigInt(completion_nanos) });
    }
  for (const instance_type of distinct(groups.map((group) => group.instance_type)))
    for (const version of versionsIn(groups.filter((group) => group.instance_type === instance_type))) {
      const price = await versions.ofTime(instance_type, version);
      if (price) prices.instances.push({ instance_type, version, hour_nanos: BigInt(price.hour_nanos) });
    }
  return prices;
};
