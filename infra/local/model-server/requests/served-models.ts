import { NotFound } from './errors.ts';

// A model that reasons does so before it answers.
interface ServedModel {
  name: string;
  reasons: boolean;
  /** The text with which each of its answers begins, of an adapter: so that its answers differ. */
  opening?: string;
}

type PoolingTask = 'embed' | 'rerank';

export interface ServingLimits {
  /** The models that generate text; the first is the default. */
  models: readonly ServedModel[];
  /** The adapters that were loaded, by name. */
  adapters: ReadonlyMap<string, ServedModel>;
  /** Names of the models with other tasks. One name can have both. */
  poolingModels: Readonly<Partial<Record<PoolingTask, string | undefined>>>;
  windowTokens: number;
}

const notFound = (name: string | null | undefined): NotFound => new NotFound(`The model \`${name}\` does not exist.`, 'model');

/**
 * Returns the model with the name, or the default without a name, of those that generate text. Throws `NotFound` for
 * an unknown name.
 */
export const findModel = (name: string | null | undefined, { models, adapters }: ServingLimits): ServedModel => {
  const model = name ? (models.find((one) => one.name === name) ?? adapters.get(name)) : models[0];
  if (!model) throw notFound(name);
  return model;
};

/** Returns the name of the model for a task. Throws `NotFound` if there is none, or if it has another name. */
export const findPoolingModel = (name: string | null | undefined, task: PoolingTask, { poolingModels }: ServingLimits): string => {
  const served = poolingModels[task];
  if (served === undefined || (name && name !== served)) throw notFound(name);
  return served;
};

/** The tasks, other than generation, of the model with the name. */
export const poolingTasksOf = (name: string, { poolingModels }: ServingLimits): PoolingTask[] =>
  (['embed', 'rerank'] as const).filter((task) => poolingModels[task] === name);
