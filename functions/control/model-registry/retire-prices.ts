import type { Write } from '../../../shared/database/transaction.ts';
import type { Model } from '../../../shared/models/model.ts';
import type { ModelStore } from '../../../shared/models/model-store.ts';

/**
 * Keeps the prices of a model that is deleted, and of earlier ones with its name: usage events refer to their
 * versions.
 */
export const toRetirePrices = async (models: ModelStore, pool: string, { name, prices }: Model): Promise<Write> => {
  const before = await models.retiredPrices(pool, name);
  const added = prices.filter(({ version }) => !before.some((price) => price.version === version));
  return models.toRetire(pool, name, [...before, ...added]);
};
