import type { ApiEvent } from '../http/api-event.ts';
import { ApiError, toApiError, toWire } from '../http/errors.ts';
import { jsonReply, type Reply } from '../http/reply.ts';
import { logError, logInfo } from '../logging/log.ts';

// The log gets the path of the route, or of API Gateway's resource, because parameters in a path are the caller's text.
const factsOf = ({ requestId, requestContext, routePath, resource, sender }: ApiEvent) => ({
  request_id: requestId,
  ...sender,
  gateway_request_id: requestContext.requestId,
  path: routePath ?? resource,
});

/**
 * Converts anything thrown to an error for the caller. Unexpected errors are logged with their cause and become a
 * plain 500.
 */
export const toCallerError = (error: unknown, event: ApiEvent): ApiError => {
  if (!(error instanceof ApiError)) logError('unhandled_error', error, factsOf(event));
  else if (error.cause) logError('dependency_failed', error.cause, factsOf(event));
  return toApiError(error);
};

/** The one place where a thrown error becomes a reply. */
export const toErrorReply = (error: unknown, event: ApiEvent): Reply => {
  const failure = toCallerError(error, event);
  logInfo('refused', { ...factsOf(event), status: failure.status, code: failure.code });
  return jsonReply(event.requestId, failure.status, toWire(failure, event.requestId), failure.headers);
};

/** Middleware: converts an error of the handler to a reply. */
export const errorReplies = () => ({
  onError: ({ event, error }: { event: ApiEvent; error: Error | null | undefined }): Reply => toErrorReply(error, event),
});
