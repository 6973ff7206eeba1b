import * as z from 'zod';
import { readInput, wireTime } from '../../http/json-api.ts';
import { listPage } from './listing.ts';
import type { Model } from './records.ts';
import { alreadyExists, invalid, notFound } from './requests/errors.ts';
import { CreateModel } from './requests/inputs.ts';
import { keyOf, Name } from './requests/names.ts';
import { newResource, type World } from './world.ts';

const ByName = z.object({ ModelName: Name });

export const createModel = (world: World, body: unknown): object => {
  const { ModelName: name, Tags, ...definition } = readInput(CreateModel, body);
  if (world.models.has(keyOf(name))) throw alreadyExists('model', name);
  if (definition.ExecutionRoleArn === undefined) throw invalid('ExecutionRoleArn is required.');
  const container = definition.PrimaryContainer;
  const model: Model = {
    ...newResource(world, 'model', name, Tags),
    definition,
    image: container?.Image,
    environment: container?.Environment ?? {},
  };
  world.models.set(keyOf(name), model);
  return { ModelArn: model.arn };
};

const findModel = (world: World, name: string): Model => {
  const model = world.models.get(keyOf(name));
  if (!model) throw notFound('model', name);
  return model;
};

export const describeModel = (world: World, body: unknown): object => {
  const model = findModel(world, readInput(ByName, body).ModelName);
  return { ...model.definition, ModelName: model.name, ModelArn: model.arn, CreationTime: wireTime(model.createdAt) };
};

/** As on AWS, a model can be deleted while components use it. Their running copies keep it. */
export const deleteModel = (world: World, body: unknown): object => {
  const { name } = findModel(world, readInput(ByName, body).ModelName);
  world.models.delete(keyOf(name));
  return {};
};

export const listModels = (world: World, body: unknown): object => {
  const { items, NextToken } = listPage(world.models.values(), body);
  const Models = items.map(({ name, arn, createdAt }) => ({ ModelName: name, ModelArn: arn, CreationTime: wireTime(createdAt) }));
  return { Models, NextToken };
};
