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

/** A published model that has no price in force: the operator's mistake. It is not given away. */
export class ModelNotPriced extends ApiError {
  constructor(model: string) {
    super({
      status: 503,
      type: 'server_error',
      code: 'model_not_ready',
      param: 'model',
      message: `The model '${model}' cannot be called yet. Ask your administrator.`,
      headers: { 'retry-after': '60', 'x-should-retry': 'false' },
    });
    this.cause = new Error(`The model '${model}' has no price whose effective_at has come.`);
  }
}
