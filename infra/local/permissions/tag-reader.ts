import * as z from 'zod';
import { postJson } from '../http/post-json.ts';
import type { ServiceCall } from './needs/arn.ts';

const HEADERS = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'SageMaker.ListTags' };
// As long as an SDK waits.
const TIMEOUT_MS = 60_000;

const Reply = z.object({ Tags: z.array(z.object({ Key: z.string(), Value: z.string() })).default([]) });

/** The emulator does not answer, as when a run ends. */
export class EmulatorGone extends Error {}

/**
 * Reads the tags of SageMaker's resources from its emulator. Tags that were found are remembered, since nothing
 * removes them.
 */
export const createTagReader = (sagemakerUrl: string): ServiceCall['tagsOf'] => {
  const known = new Map<string, Record<string, string[]>>();
  return async (arn) => {
    const found = known.get(arn);
    if (found) return found;
    const reply = await postJson(sagemakerUrl, HEADERS, { ResourceArn: arn }, TIMEOUT_MS).catch((cause: unknown) => {
      throw new EmulatorGone('SageMaker’s emulator does not answer', { cause });
    });
    if (reply.status !== 200) return {};
    const tags = Object.fromEntries(Reply.parse(JSON.parse(reply.text)).Tags.map(({ Key, Value }) => [`aws:ResourceTag/${Key}`, [Value]]));
    if (Object.keys(tags).length > 0) known.set(arn, tags);
    return tags;
  };
};
