import { InvalidValue } from '../../../shared/http/errors.ts';

const HUB_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,95}\/[A-Za-z0-9][A-Za-z0-9_.-]{0,95}$/;
const FOLDER = /^(?:[A-Za-z0-9_.=+@-]+\/)+$/;

export interface ModelSources {
  /** The bucket in which each organization has a folder. */
  weightsBucket: string;
  /** Set if models of the Hugging Face Hub are allowed, which requires containers with access to the internet. */
  hubModels: boolean;
}

/**
 * Resolves a folder of an organization in the weights bucket.
 * @param field the request's field with the folder
 * @returns it with a slash at the end
 * @throws 400, also for another organization's folder
 */
export const ownFolder = (weightsBucket: string, organization: string, field: Readonly<Record<string, string>>): string => {
  const [[param, location] = ['', '']] = Object.entries(field);
  const own = `s3://${weightsBucket}/${organization}/`;
  const folder = location.endsWith('/') ? location : `${location}/`;
  if (folder.startsWith(own) && FOLDER.test(folder.slice(own.length)) && !folder.includes('/../')) return folder;
  throw new InvalidValue(param, `expected a folder in ${own}`);
};

/**
 * Resolves the location of a deployment's model: its folder in the weights bucket, with a slash at the end, or its id
 * on the Hub.
 * @throws 400, also for another organization's folder
 */
export const modelLocation = ({ weightsBucket, hubModels }: ModelSources, organization: string, model: string): string => {
  const own = `s3://${weightsBucket}/${organization}/`;
  if (model.startsWith('s3://')) return ownFolder(weightsBucket, organization, { model });
  if (!HUB_ID.test(model))
    throw new InvalidValue('model', `expected a folder in ${own}${hubModels ? ', or the id of a model on the Hugging Face Hub' : ''}`);
  if (!hubModels)
    throw new InvalidValue('model', `models of the Hugging Face Hub are not allowed here. Copy the model's files to a folder in ${own}`);
  return model;
};
