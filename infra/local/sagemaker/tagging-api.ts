import * as z from 'zod';
import { type Operations, readInput } from '../http/json-api.ts';
import type { Resource } from './control-plane/records.ts';
import type { AccountState } from './control-plane/state.ts';

const MAX_PAGE = 100;

const GetResources = z.object({
  ResourceTypeFilters: z.array(z.string()).max(100).default([]),
  TagFilters: z
    .array(z.object({ Key: z.string(), Values: z.array(z.string()).max(20).default([]) }))
    .max(50)
    .default([]),
  ResourcesPerPage: z.int().min(1).max(MAX_PAGE).default(MAX_PAGE),
  /** Index of the first resource of the page; empty: the first page. */
  PaginationToken: z.coerce.number<string>().int().min(0).default(0),
});

// A filter is a service, such as `sagemaker`, or one of its types, such as `sagemaker:endpoint`.
const isOfType = (arn: string, filter: string): boolean => {
  const [, , service, , , resource = ''] = arn.split(':');
  return filter === service || filter === `${service}:${resource.slice(0, resource.indexOf('/'))}`;
};

/** The Resource Groups Tagging API for the resources on SageMaker: GetResources. */
export const taggingOperations = ({ models, configs, endpoints, components }: AccountState): Operations => {
  const getResources = (body: unknown): object => {
    const {
      ResourceTypeFilters: types,
      TagFilters: filters,
      ResourcesPerPage: size,
      PaginationToken: start,
    } = readInput(GetResources, body);
    const all: Resource[] = [models, configs, endpoints, components].flatMap((resources) => [...resources.values()]);
    const found = all.filter(
      ({ arn, tags }) =>
        (types.length === 0 || types.some((type) => isOfType(arn, type))) &&
        filters.every(({ Key, Values }) => tags.has(Key) && (Values.length === 0 || Values.includes(tags.get(Key) ?? ''))),
    );
    const end = start + size;
    return {
      PaginationToken: end < found.length ? String(end) : '',
      ResourceTagMappingList: found.slice(start, end).map(({ arn, tags }) => ({
        ResourceARN: arn,
        Tags: [...tags].map(([Key, Value]) => ({ Key, Value })),
      })),
    };
  };
  return new Map([['ResourceGroupsTaggingAPI_20170126.GetResources', getResources]]);
};
