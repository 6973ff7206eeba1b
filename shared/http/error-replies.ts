import { logError } from '../logging/log.ts';
import type { ApiEvent } from './api-event.ts';
import { ApiError, toApiError, toWire } from './errors.ts';
import { jsonReply, type Reply } from './reply.ts';

/** Middleware: the one place where a thrown error becomes a reply. What is not an ApiError is logged and told as a plain 500. */
export const errorReplies = () => ({
  onError: ({ event, error }: { event: ApiEvent; error: Error | null }): Reply => {
    if (!(error instanceof ApiError)) logError('unhandled_error', error, { request_id: event.requestId, path: event.path });
    const told = toApiError(error);
    return jsonReply(event.requestId, told.status, toWire(told, event.requestId), told.headers);
  },
});
