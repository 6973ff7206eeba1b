import * as z from 'zod';
import { readInput, wireTime } from '../../http/json-api.ts';
import { listPage } from './listing.ts';
import type { Model } from './records.ts';
import { alreadyExists, invalid, notFound } from './requests/errors.ts';
import { CreateModel } from './requests/inputs.ts';
import { keyOf, Name } from './requests/names.ts';
import { type AccountState, newResource } from './state.ts';

const ByName = z.object({ ModelName: Name });

export const createModel = (state: AccountState, body: unknown): object => {
  const { ModelName: name, Tags, ...definition } = readInput(CreateModel, body);
  if (state.models.has(keyOf(name))) throw alreadyExists('model', name);
  if (definition.ExecutionRoleArn === undefined) throw invalid('ExecutionRoleArn is required.');
  const container = definition.PrimaryContainer;
  const model: Model = {
    ...newResource(state, 'model', name, Tags),
    definition,
    image: container?.Image,
    environment: container?.Environment ?? {},
  };
  state.models.set(keyOf(name), model);
  return { ModelArn: model.arn };
};

const findModel = (state: AccountState, name: string): Model => {
  const model = state.models.get(keyOf(name));
  if (!model) throw notFound('model', name);
  return model;
};

export const describeModel = (state: AccountState, body: unknown): object => {
  const model = findModel(state, readInput(ByName, body).ModelName);
  return { ...model.definition, ModelName: model.name, ModelArn: model.arn, CreationTime: wireTime(model.createdAt) };
};

/** As on AWS, a model can be deleted while components use it. Their running copies keep it. */
export const deleteModel = (state: AccountState, body: unknown): object => {
  const { name } = findModel(state, readInput(ByName, body).ModelName);
  state.models.delete(keyOf(name));
  return {};
};

export const listModels = (state: AccountState, body: unknown): object => {
  const { items, NextToken } = listPage(state.models.values(), body);
  const Models = items.map(({ name, arn, createdAt }) => ({ ModelName: name, ModelArn: arn, CreationTime: wireTime(createdAt) }));
  return { Models, NextToken };
};
