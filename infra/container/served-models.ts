import { NotFound } from './errors.ts';

/** A name that is served, and whether it thinks before it answers. */
interface ServedModel {
  name: string;
  reasons: boolean;
}

/** `models` has at least one; the first answers those who name none. */
export interface ServingLimits {
  models: readonly ServedModel[];
  windowTokens: number;
}

/** The model that a body names; throws `NotFound` for a name that is not served. */
export const findModel = (name: string | null | undefined, { models }: ServingLimits): ServedModel => {
  const model = name ? models.find((one) => one.name === name) : models[0];
  if (!model) throw new NotFound(`The model \`${name}\` does not exist.`, 'model');
  return model;
};
