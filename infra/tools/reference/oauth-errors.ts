import { InvalidClient, noScopes, unsupportedGrantType } from '../../../functions/machine-sign-in/errors.ts';
import { InternalError, ServiceUnavailable } from '../../../shared/http/errors.ts';
import { TooManyAttempts } from '../../../shared/identity/errors.ts';
import { type ErrorReply, requestTooLarge } from './error-reply.ts';

/** The component that describes an error in OAuth's shape with this status. */
export const oauthErrorName = (status: number | string): string => `oauth-${status}`;

/** The error responses of routes whose errors have OAuth's shape, by status. */
export const oauthErrorReplies: Readonly<Record<number, ErrorReply>> = {
  400: {
    description: 'The request is invalid. `error` says how.',
    schema: 'OAuthError',
    headers: [],
    errors: { unsupported_grant_type: unsupportedGrantType(['client_credentials']), invalid_scope: noScopes() },
  },
  401: {
    description: 'The service account could not be authenticated. The reason is the same for every cause.',
    schema: 'OAuthError',
    headers: ['www-authenticate'],
    errors: { invalid_client: new InvalidClient() },
  },
  413: {
    description: 'The body is larger than 4.5 MB.',
    schema: 'OAuthError',
    headers: [],
    errors: { request_too_large: requestTooLarge() },
  },
  429: {
    description: 'There were too many attempts or sign-ins. `retry-after` is the time to wait before the next one.',
    schema: 'OAuthError',
    headers: ['retry-after'],
    errors: { too_many_attempts: new TooManyAttempts() },
  },
  500: {
    description: 'An internal error. It has been logged under the request id.',
    schema: 'OAuthError',
    headers: [],
    errors: { internal_error: new InternalError() },
  },
  503: {
    description: 'The service is temporarily unavailable. Try again.',
    schema: 'OAuthError',
    headers: ['retry-after'],
    errors: { service_unavailable: new ServiceUnavailable() },
  },
};
