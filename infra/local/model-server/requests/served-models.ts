import { NotFound } from './errors.ts';

// A model that reasons does so before it answers.
interface ServedModel {
  name: string;
  reasons: boolean;
}

/** `models` must not be empty; its first entry is the default. */
export interface ServingLimits {
  models: readonly ServedModel[];
  windowTokens: number;
}

/** Returns the model with the name, or the default without a name. Throws `NotFound` for an unknown name. */
export const findModel = (name: string | null | undefined, { models }: ServingLimits): ServedModel => {
  const model = name ? models.find((one) => one.name === name) : models[0];
  if (!model) throw new NotFound(`The model \`${name}\` does not exist.`, 'model');
  return model;
};
