import { InvalidValue } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import type { ModelStore } from '../../../shared/models/model-store.ts';

/**
 * Checks that the fallbacks of a model are different other models of its pool. They need not be published yet.
 * @throws 400
 */
export const checkFallbacks = async (
  { models }: { models: Pick<ModelStore, 'get'> },
  pool: string,
  { name, fallbacks }: Model,
): Promise<void> => {
  for (const [index, fallback] of fallbacks.entries()) {
    const isOther = fallback !== name && !fallbacks.slice(0, index).includes(fallback);
    if (isOther && (await models.get(pool, fallback))) continue;
    throw new InvalidValue(`fallbacks.${index}`, 'expected another model of the same organization, or another shared one, only once');
  }
};
