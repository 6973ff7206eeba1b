import * as z from 'zod';
import type { CatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import type { Price } from '../../../shared/prices/price.ts';
import type { Group } from './group.ts';

const PriceNanos = z.string().regex(/^\d+$/).transform(BigInt);

// Nano-dollars per 1,000,000 tokens.
const TokenPrice = z.object({
  model: z.string(),
  version: z.string(),
  prompt_nanos: PriceNanos,
  cached_prompt_nanos: PriceNanos,
  completion_nanos: PriceNanos,
});
type TokenPrice = z.output<typeof TokenPrice>;

const InstancePrice = z.object({ instance_type: z.string(), version: z.string(), hour_nanos: PriceNanos });

/** The prices of an invoice, as stored in the file of its inputs. */
export const Prices = z.object({ tokens: z.array(TokenPrice), instances: z.array(InstancePrice) });
export type Prices = z.output<typeof Prices>;

/** Looks up the prices of groups. */
export interface PriceBook {
  tokens(model: string | null, version: string | null): TokenPrice | undefined;
  instanceHour(instanceType: string | null, version: string | null): bigint | null;
}

export const createPriceBook = ({ tokens, instances }: Prices): PriceBook => ({
  tokens: (model, version) => tokens.find((price) => price.model === model && price.version === version),
  instanceHour: (instanceType, version) =>
    instances.find((price) => price.instance_type === instanceType && price.version === version)?.hour_nanos ?? null,
});

export interface PriceDependencies {
  models: Pick<ModelStore, 'get' | 'retiredPrices'>;
  catalogue: Pick<CatalogueStore, 'prices'>;
}

const versionsOf = async ({ models }: PriceDependencies, organization: string, name: string): Promise<Price[]> => {
  const ofPool = async (pool: string): Promise<Price[]> => [
    ...((await models.get(pool, name))?.prices ?? []),
    ...(await models.retiredPrices(pool, name)),
  ];
  return [...(await ofPool(SERVERLESS_POOL)), ...(await ofPool(organization))];
};

const distinct = (names: readonly (string | null)[]): string[] => [...new Set(names)].filter((name) => name !== null).sort();

/** Reads the prices of these groups. Removed prices are left out. */
export const readPrices = async (deps: PriceDependencies, organization: string, groups: readonly Group[]): Promise<Prices> => {
  const prices: Prices = { tokens: [], instances: [] };
  for (const model of distinct(groups.map((group) => group.model))) {
    const known = await versionsOf(deps, organization, model);
    for (const version of distinct(groups.filter((group) => group.model === model).map(({ price_version }) => price_version))) {
      const price = known.find((each) => each.version === version);
      if (!price) continue;
      const { prompt_nanos, cached_prompt_nanos = prompt_nanos, completion_nanos } = price;
      const nanos = { prompt_nanos: BigInt(prompt_nanos), cached_prompt_nanos: BigInt(cached_prompt_nanos) };
      prices.tokens.push({ model, version, ...nanos, completion_nanos: BigInt(completion_nanos) });
    }
  }
  for (const instance_type of distinct(groups.map((group) => group.instance_type))) {
    const known = await deps.catalogue.prices(instance_type);
    for (const version of distinct(groups.filter((group) => group.instance_type === instance_type).map((group) => group.price_version))) {
      const price = known.find((each) => each.version === version);
      if (price) prices.instances.push({ instance_type, version, hour_nanos: BigInt(price.hour_nanos) });
    }
  }
  return prices;
};
