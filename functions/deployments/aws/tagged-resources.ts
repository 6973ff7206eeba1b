import * as z from 'zod';
import { type AwsCaller, createCaller } from '../../../shared/aws/caller.ts';
import { awsTags } from '../../../shared/deployments/names.ts';

const Page = z.object({
  PaginationToken: z.string().nullish(),
  ResourceTagMappingList: z.array(z.object({ ResourceARN: z.string() })).default([]),
});

const CONNECT_MS = 1_000;
const SILENCE_MS = 5_000;
const MAX_CALL_ATTEMPTS = 2;
const MAX_REPLY_BYTES = 1024 * 1024;
const MAX_SOCKETS = 4;
const MAX_LISTED_PAGES = 10;

/** Lists the names of the resources on SageMaker with a deployment's tag, whatever their names are. */
export type ListTagged = (deploymentId: string) => Promise<string[]>;

/** Calls the tagging API in the region of the environment. */
export const createTaggingCaller = (): AwsCaller =>
  createCaller({
    service: 'tagging',
    connectMs: CONNECT_MS,
    silenceMs: SILENCE_MS,
    maxReplyBytes: MAX_REPLY_BYTES,
    maxSockets: MAX_SOCKETS,
  });

/**
 * Uses the Resource Groups Tagging API
 * (https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/API_GetResources.html), because SageMaker's
 * own lists can't filter by tag.
 */
export const createListTagged = (caller: Pick<AwsCaller, 'call'>): ListTagged => {
  const headers = [
    ['content-type', 'application/x-amz-json-1.1'],
    ['x-amz-target', 'ResourceGroupsTaggingAPI_20170126.GetResources'],
  ] as const;
  return async (deploymentId) => {
    const arns: string[] = [];
    let token = '';
    for (let page = 0; page < MAX_LISTED_PAGES; page++) {
      const body = JSON.stringify({
        ResourceTypeFilters: ['sagemaker'],
        TagFilters: [{ Key: awsTags.deployment, Values: [deploymentId] }],
        ...(token && { PaginationToken: token }),
      });
      const read = (reply: { body: Buffer }) => Page.parse(JSON.parse(reply.body.toString()));
      const tagged = await caller.call({ path: '/', headers, body }, MAX_CALL_ATTEMPTS, read);
      arns.push(...tagged.ResourceTagMappingList.map(({ ResourceARN }) => ResourceARN));
      token = tagged.PaginationToken ?? '';
      if (!token) return arns.map((arn) => arn.slice(arn.lastIndexOf('/') + 1));
    }
    throw new Error(`A deployment has more than ${MAX_LISTED_PAGES} pages of tagged resources.`);
  };
};
