import { ApiError } from '../../../shared/http/errors.ts';

/** A model that was published without its tokenizer: 400. */
export class NoTokenizer extends ApiError {
  constructor(model: string) {
    super({
      status: 400,
      type: 'invalid_request_error',
      code: 'unsupported_parameter',
      param: 'model',
      message: `The model '${model}' has no tokenizer. Call a model that has one, or ask your administrator to add a tokenizer to this model.`,
    });
  }
}
