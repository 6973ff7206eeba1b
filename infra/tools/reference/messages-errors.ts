import type { ApiError } from '../../../shared/http/errors.ts';
import { toMessagesFailure } from '../../../shared/http/messages-failure.ts';
import { type ErrorReply, EXAMPLE_REQUEST_ID } from './error-reply.ts';
import { endUserErrors } from './inference-errors.ts';

// Where they differ from those of other routes.
const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is invalid, uses a feature that the model does not support, or does not fit into its context window. Or the idempotency key was used for a different request. `error.details.param` names the field.',
  401: 'The API key is missing, invalid, expired or for another host.',
  402: 'The budget or the credit of the API key, of its end user, of its project or of its organization has been spent. `x-should-retry` is `false`.',
  429: 'A limit of the API key, of its project or of its organization has been reached, or one that the API key has for each of its end users: then `error.details.param` names the field or the header of the end user. Official clients wait for `retry-after` and retry automatically.',
};

/** The component that describes an error of the Messages API with this status. */
export const messagesErrorName = (status: number | string): string => `messages-${status}`;

const ofEndUser: Readonly<Record<string, ApiError>> = endUserErrors('metadata.user_id');

/** Converts a host's error responses to those of its Messages API, by their status there. */
export const messagesErrorReplies = (replies: Readonly<Record<number, ErrorReply>>): Record<number, ErrorReply> => {
  const converted: Record<number, ErrorReply> = {};
  for (const { description, headers, errors } of Object.values(replies))
    for (const [name, error] of Object.entries(errors)) {
      const { status } = toMessagesFailure(error, EXAMPLE_REQUEST_ID);
      converted[status] ??= {
        description: DESCRIPTIONS[status] ?? description,
        schema: 'MessagesError',
        headers: ['request-id', ...headers],
        errors: {},
      };
      converted[status].errors[name] = error.param === 'user' ? (ofEndUser[name] ?? error) : error;
    }
  return converted;
};
