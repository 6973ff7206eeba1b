import { ApiError, InvalidRequest } from '../../../shared/http/errors.ts';

/** The response that is to be continued is not there. */
export class PreviousResponseNotFound extends ApiError {
  constructor(id: string) {
    super({
      status: 404,
      type: 'invalid_request_error',
      code: 'previous_response_not_found',
      param: 'previous_response_id',
      message: `There is no response '${id.slice(0, 100)}' to continue. Responses are kept for 30 days, unless they were made with store: false, or say store: false because they were too large to keep. Send the whole conversation as input instead.`,
    });
  }
}

/** An item that is referred to is in no response that is kept. */
export class ItemNotFound extends ApiError {
  constructor(id: string, index: number) {
    super({
      status: 404,
      type: 'invalid_request_error',
      code: 'item_not_found',
      param: `input[${index}].id`,
      message: `There is no item '${id.slice(0, 100)}'. Items are kept with their response for 30 days, unless it was made with store: false. Send the item itself instead.`,
    });
  }
}

/** A conversation has grown out of what is read for one request. */
export class ConversationTooLong extends InvalidRequest {
  constructor(what: string) {
    super({
      param: 'previous_response_id',
      code: 'conversation_too_long',
      message: `The conversation that this response would continue has ${what}. Send the part of it that still matters as input instead.`,
    });
  }
}
