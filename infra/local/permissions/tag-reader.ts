import * as z from 'zod';
import type { ServiceCall } from './needs/arn.ts';

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
    const reply = await fetch(sagemakerUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'SageMaker.ListTags' },
      body: JSON.stringify({ ResourceArn: arn }),
    }).catch((cause: unknown) => {
      throw new EmulatorGone('SageMaker’s emulator does not answer', { cause });
    });
    if (!reply.ok) return {};
    const tags = Object.fromEntries(Reply.parse(await reply.json()).Tags.map(({ Key, Value }) => [`aws:ResourceTag/${Key}`, [Value]]));
    if (Object.keys(tags).length > 0) known.set(arn, tags);
    return tags;
  };
};
