import { ApiError, Conflict } from '../http/errors.ts';
import { MODELS_PATH } from './models-path.ts';
import { nearestName } from './nearest-name.ts';

/** There is no such shared model: 404, with the one that was probably meant. */
export class ModelNotFound extends ApiError {
  readonly #model: string;
  readonly #names: readonly string[];

  /** @param names of models that the caller may see */
  constructor(model: string, names: readonly string[] = [], param = 'model') {
    const nearest = nearestName(model, names);
    const hint = nearest === undefined ? '' : ` Did you mean '${nearest}'?`;
    super({
      status: 404,
      type: 'invalid_request_error',
      code: 'model_not_found',
      param,
      message: `The model '${model.slice(0, 256)}' does not exist.${hint} GET ${MODELS_PATH} lists the models that do.`,
    });
    this.#model = model;
    this.#names = names;
  }

  /** Returns the same error with only the names that the caller may use. */
  showingOnly(isAllowed: (name: string) => boolean): ModelNotFound {
    return new ModelNotFound(this.#model, this.#names.filter(isAllowed), this.param ?? undefined);
  }

  /** Returns the same error for a name in another field of the request. */
  in(param: string): ModelNotFound {
    return new ModelNotFound(this.#model, this.#names, param);
  }
}

/** A published model without a price in force, which is the operator's mistake: 503. */
export class ModelNotPriced extends ApiError {
  constructor(model: string) {
    super({
      status: 503,
      type: 'server_error',
      code: 'model_not_ready',
      param: 'model',
      message: `The model '${model}' cannot be called yet. Ask your administrator.`,
      headers: { 'retry-after': '60', 'x-should-retry': 'false' },
      cause: new Error(`The model '${model}' has no price in effect yet.`),
    });
  }
}

/** A model with this name already exists: 409. */
export class ModelExists extends Conflict {
  constructor(model: string) {
    super({
      code: 'model_exists',
      param: 'name',
      message: `A model named '${model}' already exists. Update that model or choose another name.`,
    });
  }
}

const MAX_LISTED_NAMES = 5;

/** The key's organization has no such deployment: 404, with names that the key may use instead. */
export class DeploymentNotFound extends ApiError {
  readonly #model: string;
  readonly #names: readonly string[];

  /** @param names the deployments that the key may use */
  constructor(model: string, names: readonly string[], param = 'model') {
    const nearest = nearestName(model, names);
    const hint =
      nearest !== undefined
        ? ` Did you mean '${nearest}'? GET ${MODELS_PATH} lists what this API key may use.`
        : names.length > 0 && names.length <= MAX_LISTED_NAMES
          ? ` This API key may use: ${names.join(', ')}.`
          : ` GET ${MODELS_PATH} lists what this API key may use.`;
    super({
      status: 404,
      type: 'invalid_request_error',
      code: 'model_not_found',
      param,
      message: `Your organization has no deployment '${model.slice(0, 256)}'.${hint}`,
    });
    this.#model = model;
    this.#names = names;
  }

  /** Returns the same error with only the names that the caller may see. */
  showingOnly(isAllowed: (name: string) => boolean): DeploymentNotFound {
    return new DeploymentNotFound(this.#model, this.#names.filter(isAllowed), this.param ?? undefined);
  }

  /** Returns the same error for a name in another field of the request. */
  in(param: string): DeploymentNotFound {
    return new DeploymentNotFound(this.#model, this.#names, param);
  }
}

/** The deployment exists but is not in service: 503. */
export class DeploymentNotReady extends ApiError {
  readonly model: string;

  constructor(model: string, cause?: Error) {
    super({
      cause,
      status: 503,
      type: 'server_error',
      code: 'deployment_not_ready',
      param: 'model',
      message: `The deployment '${model}' is not in service at the moment. Try again in a few moments, or ask your administrator.`,
      headers: { 'retry-after': '30' },
    });
    this.model = model;
  }
}
