import { ApiError } from '../../../../shared/http/errors.ts';
import { waitHeaders } from '../../../../shared/http/wait-headers.ts';

// Files are rendered within a few seconds of the issue.
const RETRY_MS = 5_000;

/** The files of a document are still being rendered: 409 with `Retry-After`. */
export class NotRenderedYet extends ApiError {
  constructor(number: string) {
    super({
      status: 409,
      type: 'invalid_request_error',
      code: 'not_rendered_yet',
      message: `The files of ${number} are being made. Try again in a few seconds.`,
      headers: waitHeaders(RETRY_MS),
    });
  }
}
