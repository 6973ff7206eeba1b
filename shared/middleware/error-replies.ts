import { type ApiEvent, requestedPath } from '../http/api-event.ts';
import { isBrowserPath, withoutCors } from '../http/browser-path.ts';
import { ApiError, toApiError, toWire } from '../http/errors.ts';
import { isMessagesPath } from '../http/messages-path.ts';
import { isTokenPath, toOAuthFailure } from '../http/oauth-failure.ts';
import { jsonReply, type Reply } from '../http/reply.ts';
import { isScimPath } from '../http/scim-path.ts';
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

// In the shape of the route's API.
const toFailure = async (error: ApiError, event: ApiEvent): Promise<{ status: number; headers: Record<string, string>; body: unknown }> => {
  const path = requestedPath(event);
  if (isTokenPath(path)) return toOAuthFailure(error, event.requestId);
  if (isScimPath(path)) {
    const { toScimFailure } = await import('../http/scim-failure.ts');
    return toScimFailure(error, event.requestId);
  }
  if (!isMessagesPath(path)) return { status: error.status, headers: error.headers, body: toWire(error, event.requestId) };
  const { toMessagesFailure } = await import('../http/messages-failure.ts');
  return toMessagesFailure(error, event.requestId);
};

/** The one place where a thrown error becomes a reply. */
export const toErrorReply = async (error: unknown, event: ApiEvent): Promise<Reply> => {
  const failure = toCallerError(error, event);
  const { status, headers, body } = await toFailure(failure, event);
  logInfo('refused', { ...factsOf(event), status, code: failure.code });
  const reply = jsonReply(event.requestId, status, body, headers);
  return isBrowserPath(requestedPath(event)) ? withoutCors(reply) : reply;
};

/** Middleware: converts an error of the handler to a reply. */
export const errorReplies = () => ({
  onError: ({ event, error }: { event: ApiEvent; error: Error | null | undefined }): Promise<Reply> => toErrorReply(error, event),
});
