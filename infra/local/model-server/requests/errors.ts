// Clients see vLLM's fields.
class ContainerError extends Error {
  readonly status: number;
  readonly type: string;
  readonly param: string | null;

  constructor(status: number, type: string, message: string, param: string | null = null) {
    super(message);
    this.status = status;
    this.type = type;
    this.param = param;
  }
}

export class BadRequest extends ContainerError {
  constructor(message: string, param: string | null = null) {
    super(400, 'BadRequestError', message, param);
  }
}

export class NotFound extends ContainerError {
  constructor(message: string, param: string | null = null) {
    super(404, 'NotFoundError', message, param);
  }
}

export class TooLarge extends ContainerError {
  constructor(limitBytes: number) {
    super(413, 'RequestEntityTooLarge', `The body is larger than ${limitBytes} bytes.`);
  }
}

/** Returns vLLM's error body for an error. The message of an unknown error is not sent. */
export const toErrorBody = (error: unknown): { error: { message: string; type: string; param: string | null; code: number } } => {
  if (error instanceof ContainerError) {
    return { error: { message: error.message, type: error.type, param: error.param, code: error.status } };
  }
  return { error: { message: 'Internal server error', type: 'InternalServerError', param: null, code: 500 } };
};
