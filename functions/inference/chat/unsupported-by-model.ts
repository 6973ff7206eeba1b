import { ApiError } from '../../../shared/http/errors.ts';

/** 400: the model does not support a field, and ignoring it would be worse than an error. */
export class UnsupportedByModel extends ApiError {
  constructor(field: string, model: string) {
    super({
      status: 400,
      type: 'invalid_request_error',
      code: 'unsupported_parameter',
      param: field,
      message: `The model '${model}' does not support '${field}'. Leave it out, or call a model that supports it.`,
    });
  }
}
