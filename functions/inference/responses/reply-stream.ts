import type { ApiError } from '../../../shared/http/errors.ts';
import type { ItemEvent, ResponseObject } from '../../../shared/responses/output-item.ts';
import type { UpstreamChunk, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import { outputFor } from './output-for.ts';
import type { ResponsesRequest } from './request.ts';
import { toResponse } from './response.ts';
import type { ResponseFacts } from './sampling.ts';
import { createEnding, type ResponseStorage } from './store-response.ts';

/**
 * Converts a runtime's chunks to the events of OpenAI's Responses API, with names and sequence numbers: the new
 * response, the items with their deltas, the whole response. There is no `[DONE]`. Every method returns whole
 * server-sent events.
 */
export const createResponseStream = (request: ResponsesRequest, facts: ResponseFacts, storage: ResponseStorage) => {
  const output = outputFor(request, facts.id);
  const ending = createEnding(request, facts, output, storage);
  let used: UpstreamUsage = {};
  let number = 0;

  const send = ({ type, ...event }: ItemEvent): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...event })}\n\n`;

  const begin = (): string => {
    if (number > 0) return '';
    const response = toResponse(request, facts, { status: 'in_progress', output: [], store: facts.mayStore });
    return send({ type: 'response.created', response }) + send({ type: 'response.in_progress', response });
  };

  const sendAll = (events: readonly ItemEvent[]): string => begin() + events.map(send).join('');

  const last = (response: ResponseObject): string => send({ type: `response.${response.status}`, response });

  return {
    take: (chunks: readonly UpstreamChunk[]): string => sendAll(output.take(chunks)),
    usage: (usage: UpstreamUsage): string => {
      used = usage;
      return sendAll(output.end());
    },
    store: ending.store,
    end: (): string => last(ending.whole(used)),
    fail: (error: ApiError): string => {
      output.abandon();
      const wireError = { code: error.code ?? error.type, message: error.message };
      return begin() + last(toResponse(request, facts, { status: 'failed', output: output.items(), store: false, error: wireError }));
    },
  };
};
