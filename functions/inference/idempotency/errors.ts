import { ApiError } from '../../../shared/http/errors.ts';
import { IDEMPOTENCY_HEADER } from '../../../shared/http/idempotency-key.ts';
import { waitHeaders } from '../../../shared/http/wait-headers.ts';

const MIN_WAIT_MS = 1_000;
// A request can end long before its lease, so the advised wait is never longer than this.
const MAX_WAIT_MS = 10_000;

/** The first request with this key is still in progress: 409, with the wait in whole seconds and in milliseconds. */
export class IdempotencyInProgress extends ApiError {
  /** @param leaseMs the remaining time of the first request's lease */
  constructor({ leaseMs }: { leaseMs: number }) {
    const wait = waitHeaders(Math.min(Math.max(leaseMs, MIN_WAIT_MS), MAX_WAIT_MS));
    super({
      status: 409,
      type: 'invalid_request_error',
      code: 'idempotency_in_progress',
      param: IDEMPOTENCY_HEADER,
      message: `The first request with this idempotency key is still in progress. Try again in ${wait['retry-after']} s to get its result.`,
      headers: { ...wait, 'x-should-retry': 'true' },
    });
  }
}

/** The first request with this key completed, but its result is not stored: 409. */
export class IdempotentResultNotStored extends ApiError {
  /** @param requestId the id of the first request */
  constructor({ requestId }: { requestId: string }) {
    super({
      status: 409,
      type: 'invalid_request_error',
      code: 'idempotent_result_not_stored',
      param: IDEMPOTENCY_HEADER,
      message: `The first request with this idempotency key, ${requestId}, completed and was charged once. Its result isn't stored, because it was too large, was deleted, or its key or request allows no storage. Use a new idempotency key.`,
      headers: { 'x-should-retry': 'false', 'x-sluice-idempotency': 'not-stored' },
    });
  }
}
