import { ApiError } from '../http/errors.ts';

export class ModelNotFound extends ApiError {
  constructor(model: string) {
    super({
      status: 404,
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'model',
      message: `The model '${model.slice(0, 256)}' does not exist. GET /v1/models lists the models that do.`,
    });
  }
}
