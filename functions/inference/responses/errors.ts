import { ApiError, InvalidRequest } from '../../../shared/http/errors.ts';

/** The response to continue does not exist. */
export class PreviousResponseNotFound extends ApiError {
  constructor(id: string) {
    super({
      status: 404,
      type: 'invalid_request_error',
      code: 'previous_response_not_found',
      param: 'previous_response_id',
      message: `The response '${id.slice(0, 100)}' does not exist. Responses are stored for 30 days, unless store was false (set by the request or its API key) or the response was too large. Send the whole conversation as input instead.`,
    });
  }
}

/** No stored response has the referenced item. */
export class ItemNotFound extends ApiError {
  constructor(id: string, index: number) {
    super({
      status: 404,
      type: 'invalid_request_error',
      code: 'item_not_found',
      param: `input[${index}].id`,
      message: `The item '${id.slice(0, 100)}' does not exist. Items are stored with their response for 30 days, unless the response has store: false. Send the item itself instead.`,
    });
  }
}

/** A conversation has more responses or items than one request may read. */
export class ConversationTooLong extends InvalidRequest {
  constructor(what: string) {
    super({
      param: 'previous_response_id',
      code: 'conversation_too_long',
      message: `The conversation is too long to continue: it has ${what}. Send only the relevant part of it as input instead.`,
    });
  }
}
