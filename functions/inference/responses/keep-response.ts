import { logError, logInfo } from '../../../shared/logging/log.ts';
import type { ResponseObject } from '../../../shared/responses/output-item.ts';
import type { ResponseStore } from '../../../shared/responses/response-store.ts';
import type { UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import { keptItem } from './kept-item.ts';
import type { Output } from './output.ts';
import type { ResponsesRequest } from './request.ts';
import { toResponse } from './response.ts';
import type { ResponseFacts } from './sampling.ts';

/** What storing a response needs. */
export interface Keeping {
  store: Pick<ResponseStore, 'put'>;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Whether to store the response: `store` defaults to true. */
export const isStored = ({ body }: ResponsesRequest): boolean => body.store !== false;

/**
 * Creates the final response, and stores it before the reply ends if the caller wants it stored. If the write fails, the conversation is too large or
 * the response was deleted meanwhile, the caller still gets the response, with `store` set to false.
 */
export const createEnding = (request: ResponsesRequest, facts: ResponseFacts, output: Output, { store, now }: Keeping) => {
  let response: ResponseObject | undefined;

  const whole = (usage: UpstreamUsage): ResponseObject => {
    const ending = output.ending();
    response ??= toResponse(request, facts, {
      status: ending.status,
      output: output.items(),
      store: isStored(request),
      usage,
      ...(ending.status === 'incomplete' ? { incompleteReason: ending.reason } : { completedAt: Math.floor(now() / 1_000) }),
    });
    return response;
  };

  const keep = async (usage: UpstreamUsage): Promise<void> => {
    const made = whole(usage);
    if (!isStored(request)) return;
    const { items, depth } = request.before;
    const what = { request_id: facts.requestId, response_id: facts.id };
    try {
      const kept = await store.put(facts.organization, {
        response: made,
        input: request.input.map(keptItem),
        before: items.map(keptItem),
        depth: depth + 1,
      });
      if (kept === 'kept') return;
      logInfo('response_left_out', { ...what, reason: kept });
    } catch (error) {
      logError('response_not_kept', error, what);
    }
    response = { ...made, store: false };
  };

  return { whole, keep };
};
