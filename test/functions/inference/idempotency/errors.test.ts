import { describe, expect, test } from '@jest/globals';
import { IdempotencyInProgress, IdempotentResultNotStored } from '../../../../functions/inference/idempotency/errors.ts';
import { toWire } from '../../../../shared/http/errors.ts';
import { IdempotencyKeyReused } from '../../../../shared/http/idempotency-key.ts';

describe('a repetition while the first request is in progress', () => {
  test.each([
    [-5_000, '1', '1000'],
    [0, '1', '1000'],
    [1_000, '1', '1000'],
    [1_000.5, '2', '1001'],
    [4_200, '5', '4200'],
    [900_000, '10', '10000'],
  ])('says, with %d ms left of the lease, to retry in %s s', (leaseMs, seconds, milliseconds) => {
    const error = new IdempotencyInProgress({ leaseMs });
    expect(error.headers).toEqual({ 'retry-after': seconds, 'retry-after-ms': milliseconds, 'x-should-retry': 'true' });
    expect(error.message).toContain(`${seconds} s`);
  });

  test('is a 409', () => {
    expect(new IdempotencyInProgress({ leaseMs: 1 })).toMatchObject({
      status: 409,
      type: 'invalid_request_error',
      code: 'idempotency_in_progress',
    });
  });
});

describe('a different request with the same key', () => {
  test('is a 422 that must not be retried', () => {
    expect(new IdempotencyKeyReused()).toMatchObject({
      status: 422,
      type: 'invalid_request_error',
      code: 'idempotency_key_reused',
      headers: { 'x-should-retry': 'false' },
    });
  });
});

describe('a result that was not stored', () => {
  test('is a 409 that names the request and must not be retried', () => {
    const error = new IdempotentResultNotStored({ requestId: 'req_first' });
    expect(error).toMatchObject({ status: 409, headers: { 'x-should-retry': 'false', 'x-sluice-idempotency': 'not-stored' } });
    expect(toWire(error, 'req_2')).toMatchObject({
      error: { code: 'idempotent_result_not_stored', message: expect.stringContaining('req_first') },
      request_id: 'req_2',
    });
  });
});
