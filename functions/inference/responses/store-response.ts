import { logError, logInfo } from '../../../shared/logging/log.ts';
import type { ResponseObject } from '../../../shared/responses/output-item.ts';
import { type ResponseStore, resultIdOf } from '../../../shared/responses/response-store.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { Output } from './output.ts';
import type { ResponsesRequest } from './request.ts';
import { toResponse } from './response.ts';
import { MAX_CHARACTERS_STORED } from './room.ts';
import type { ResponseFacts } from './sampling.ts';
import { toStoredItem } from './stored-item.ts';

/** The store of responses and its clock. */
export interface ResponseStorage {
  store: Pick<ResponseStore, 'put'>;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/**
 * Creates the final response, and stores it before the reply ends if it may be stored. If it can't be stored, because a
 * write fails, it is too large or was deleted meanwhile, the caller gets it with `store: false`.
 */
export const createEnding = (
  request: ResponsesRequest,
  facts: ResponseFacts,
  output: Output,
  { store: responses, now }: ResponseStorage,
) => {
  let response: ResponseObject | undefined;

  const whole = (usage: UpstreamUsage): ResponseObject => {
    const ending = output.ending();
    response ??= toResponse(request, facts, {
      status: ending.status,
      output: output.items(),
      store: facts.mayStore,
      usage,
      ...(ending.status === 'incomplete' ? { incompleteReason: ending.reason } : { completedAt: unixSeconds(now()) }),
    });
    return response;
  };

  // The result under an idempotency key is stored only with the response, because both are deleted together.
  const store = async (usage: UpstreamUsage): Promise<string | undefined> => {
    const made = whole(usage);
    if (!facts.mayStore) return undefined;
    const { items, depth } = request.before;
    const what = { request_id: facts.requestId, org_id: facts.organization, response_id: facts.id };
    try {
      const input = request.input.map(toStoredItem);
      const stored = { response: made, input, before: items.map(toStoredItem), depth: depth + 1 };
      const outcome = await responses.put(facts.organization, stored, MAX_CHARACTERS_STORED);
      if (outcome === 'stored') return resultIdOf(facts.organization, made.id);
      logInfo('response_left_out', { ...what, reason: outcome });
    } catch (error) {
      logError('response_not_kept', error, what);
    }
    response = { ...made, store: false };
    return undefined;
  };

  return { whole, store };
};
