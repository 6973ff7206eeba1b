import type { UpstreamChunk, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import { outputFor } from './output-for.ts';
import type { ResponsesRequest } from './request.ts';
import type { ResponseFacts } from './sampling.ts';
import { createEnding, type ResponseStorage } from './store-response.ts';

/** Collects a runtime's chunks into one response. */
export const createResponse = (request: ResponsesRequest, facts: ResponseFacts, storage: ResponseStorage) => {
  const output = outputFor(request, facts.id);
  const { whole, store } = createEnding(request, facts, output, storage);
  let hasEnded = false;
  const end = (): void => {
    if (!hasEnded) output.end();
    hasEnded = true;
  };
  return {
    take: (chunks: readonly UpstreamChunk[]): void => void output.take(chunks),
    store: (usage: UpstreamUsage): Promise<string | undefined> => {
      end();
      return store(usage);
    },
    whole: (usage: UpstreamUsage): Record<string, unknown> => {
      end();
      return whole(usage);
    },
  };
};
