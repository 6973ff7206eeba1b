import type { ReplyFacts } from '../chat/reply.ts';
import { logError, logInfo } from '../logging/log.ts';
import type { UpstreamUsage } from '../upstream/chunk.ts';
import type { Output } from './output.ts';
import type { ResponsesRequest } from './request.ts';
import { type ResponseObject, toResponse } from './response.ts';
import type { ResponseStore } from './response-store.ts';

/** What a reply is kept with. */
export interface Keeping {
  store: Pick<ResponseStore, 'put'>;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Whether a caller's response is to be kept: `store` is true where nothing is said. */
export const isStored = ({ asked }: ResponsesRequest): boolean => asked.store !== false;

/**
 * An answer's end: the whole response, which is kept first if it is to be. A write that fails, or a conversation that is too large, takes
 * nothing from the caller but the response's future: `store` is false then.
 */
export const createEnding = (request: ResponsesRequest, facts: ReplyFacts, output: Output, { store, now }: Keeping) => {
  let response: ResponseObject | undefined;

  const whole = (usage: UpstreamUsage): ResponseObject => {
    const ending = output.ending();
    response ??= toResponse(request, facts, {
      status: ending.status,
      output: output.items(),
      store: isStored(request),
      usage,
      completedAt: Math.floor(now() / 1_000),
      ...(ending.status === 'incomplete' && { incompleteReason: ending.reason }),
    });
    return response;
  };

  const keep = async (usage: UpstreamUsage): Promise<void> => {
    const made = whole(usage);
    if (!isStored(request)) return;
    const { items, depth } = request.before;
    const what = { request_id: facts.requestId, response_id: facts.id };
    try {
      const isKept = await store.put(facts.organization, {
        response: made,
        input: request.input,
        before: items,
        depth: depth + 1,
      });
      if (isKept) return;
      logInfo('response_too_large_to_keep', what);
    } catch (error) {
      logError('response_not_kept', error, what);
    }
    response = { ...made, store: false };
  };

  return { whole, keep };
};
