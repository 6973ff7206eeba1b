import * as z from 'zod';
import { readInput } from '../../http/json-api.ts';
import type { Resource, Tags } from './records.ts';
import { invalid } from './requests/errors.ts';
import { AddTags } from './requests/inputs.ts';
import type { AccountState } from './state.ts';

const MAX_TAGS = 50;
const TAGS_PAGE = 50;
const MAX_TAGS_PAGE = 100;

const ListTags = z.object({
  ResourceArn: z.string(),
  /** Index of the first tag of the page. */
  NextToken: z.coerce.number<string>().int().min(0).default(0),
  MaxResults: z.int().min(TAGS_PAGE).max(MAX_TAGS_PAGE).default(TAGS_PAGE),
});

const toWire = (tags: Tags) => [...tags].map(([Key, Value]) => ({ Key, Value }));

const findResource = ({ models, configs, endpoints, components }: AccountState, arn: string): Resource => {
  const all: Iterable<Resource>[] = [models.values(), configs.values(), endpoints.values(), components.values()];
  for (const resources of all) for (const resource of resources) if (resource.arn === arn) return resource;
  throw invalid(`Could not find resource "${arn}".`);
};

export const addTags = (state: AccountState, body: unknown): object => {
  const input = readInput(AddTags, body);
  const { tags } = findResource(state, input.ResourceArn);
  const merged = new Map([...tags, ...input.Tags.map(({ Key, Value }) => [Key, Value] as const)]);
  if (merged.size > MAX_TAGS) throw invalid(`A resource can have at most ${MAX_TAGS} tags.`);
  for (const [key, value] of merged) tags.set(key, value);
  return { Tags: toWire(tags) };
};

export const listTags = (state: AccountState, body: unknown): object => {
  const { ResourceArn: arn, NextToken: start, MaxResults: size } = readInput(ListTags, body);
  const tags = toWire(findResource(state, arn).tags);
  const end = start + size;
  return { Tags: tags.slice(start, end), ...(end < tags.length && { NextToken: String(end) }) };
};
