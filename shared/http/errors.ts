interface ErrorFacts {
  status: number;
  type: string;
  code: string | null;
  message: string;
  param?: string | null;
  headers?: Record<string, string>;
  /** More properties of `error` in the reply's body. */
  details?: Record<string, unknown> | undefined;
  /** For the log only; never sent. */
  cause?: unknown;
}

/** The only error class that reaches callers. Subclasses live with their concept and take facts, not sentences. */
export class ApiError extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly headers: Record<string, string>;
  readonly details: Record<string, unknown> | undefined;

  constructor({ status, type, code, message, param = null, headers = {}, details, cause }: ErrorFacts) {
    super(message, cause === undefined ? {} : { cause });
    this.name = new.target.name;
    this.status = status;
    this.type = type;
    this.code = code;
    this.param = param;
    this.headers = headers;
    this.details = details;
  }

  /** Returns the same error with more headers on its reply, and with a message that says the same. */
  withHeaders(headers: Record<string, string>, message = this.message): ApiError {
    const { status, type, code, param, details, cause } = this;
    return new ApiError({ status, type, code, message, param, details, cause, headers: { ...this.headers, ...headers } });
  }
}

/** An invalid request: 400, with the field in `param`. */
export class InvalidRequest extends ApiError {
  constructor(facts: { message: string; param?: string | null; code?: string | null }) {
    super({ status: 400, type: 'invalid_request_error', code: facts.code ?? null, message: facts.message, param: facts.param ?? null });
  }
}

/** An invalid value of a field: 400. */
export class InvalidValue extends InvalidRequest {
  /** @param reason what was expected and what to do, without a period at the end */
  constructor(param: string, reason: string, code: string | null = null) {
    super({ param, code, message: `Invalid value for '${param}': ${reason}.` });
  }
}

/** A resource that does not exist or belongs to another organization: 404. */
export class ResourceNotFound extends ApiError {
  constructor(kind: string, id: string, param: string | null = null, advice = 'Check the id.') {
    super({
      status: 404,
      type: 'invalid_request_error',
      code: `${kind.toLowerCase().replaceAll(' ', '_')}_not_found`,
      param,
      message: `The ${kind} '${id.slice(0, 256)}' does not exist, or you don't have access to it. ${advice}`,
    });
  }
}

/** The caller's role does not allow the request: 403. */
export class Forbidden extends ApiError {
  constructor({ message, code = 'insufficient_role', param = null }: { message: string; code?: string; param?: string | null }) {
    super({ status: 403, type: 'permission_error', code, param, message });
  }
}

/** The state of a resource does not allow the request: 409. */
export class Conflict extends ApiError {
  constructor({ code, message, param = null }: { code: string; message: string; param?: string | null }) {
    super({ status: 409, type: 'invalid_request_error', code, param, message });
  }
}

/** The resource was changed after the caller read it: 412. */
export class PreconditionFailed extends ApiError {
  constructor() {
    super({
      status: 412,
      type: 'invalid_request_error',
      code: 'version_conflict',
      param: 'If-Match',
      message:
        'The resource has changed since you read it, or is being changed now. Read it again, then send your change with its new ETag in If-Match.',
    });
  }
}

/** An error of our own: 500. The cause is logged, never sent. */
export class InternalError extends ApiError {
  constructor() {
    super({
      status: 500,
      type: 'server_error',
      code: 'internal_error',
      message: 'Sluice failed to handle this request. The error has been logged; quote the request id in a support ticket.',
    });
  }
}

/** A dependency does not answer: 503, which callers can retry. */
export class ServiceUnavailable extends ApiError {
  constructor(cause?: unknown) {
    super({
      cause,
      status: 503,
      type: 'server_error',
      code: 'service_unavailable',
      message:
        "Sluice can't handle this request right now. Try again shortly. If that does not help, quote the request id in a support ticket.",
      headers: { 'retry-after': '1' },
    });
  }
}

/** Converts anything thrown to an error for callers: anything but an ApiError is our own fault, a 500. */
export const toApiError = (error: unknown): ApiError => (error instanceof ApiError ? error : new InternalError());

/** The error code that callers see for a failure; undefined if there is none. */
export const codeOf = (error: unknown): string | undefined => (error === undefined ? undefined : (toApiError(error).code ?? undefined));

/**
 * The error body of interface 2.6. `error` is a string for a 401 (interface 7), otherwise an object. Used for replies
 * and for the event that ends a failed stream.
 */
export const toWire = (error: ApiError, requestId: string): Record<string, unknown> =>
  error.status === 401
    ? { error: error.message, code: error.code, request_id: requestId }
    : {
        error: { message: error.message, type: error.type, param: error.param, code: error.code, ...error.details },
        request_id: requestId,
      };

/** A route's names for a chat completion's fields, where they differ, by the chat completion's names. */
export type FieldNames = Readonly<Record<string, string>>;

/** A text about fields of a chat completion, with the route's names for them. */
export const withNames = (text: string, names: FieldNames = {}): string =>
  Object.entries(names).reduce((renamed, [field, name]) => renamed.replaceAll(new RegExp(`\\b${field}\\b`, 'g'), name), text);

/** A route's name for a field of a chat completion. */
export const nameOf = (field: string, names: FieldNames = {}): string => (Object.hasOwn(names, field) ? names[field] : undefined) ?? field;
