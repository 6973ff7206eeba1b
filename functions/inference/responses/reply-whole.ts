import type { UpstreamChunk, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import { createEnding, type Keeping } from './keep-response.ts';
import { createOutput } from './output.ts';
import type { ResponsesRequest } from './request.ts';
import type { ResponseFacts } from './sampling.ts';

/** Collects a runtime's chunks into one response. */
export const createResponse = (request: ResponsesRequest, facts: ResponseFacts, keeping: Keeping) => {
  const output = createOutput(facts.id, request.body.reasoning?.summary != null);
  const { whole, keep } = createEnding(request, facts, output, keeping);
  let hasEnded = false;
  const end = (): void => {
    if (!hasEnded) output.end();
    hasEnded = true;
  };
  return {
    take: (chunks: readonly UpstreamChunk[]): void => void output.take(chunks),
    keep: (usage: UpstreamUsage): Promise<string | undefined> => {
      end();
      return keep(usage);
    },
    whole: (usage: UpstreamUsage): Record<string, unknown> => {
      end();
      return whole(usage);
    },
  };
};
