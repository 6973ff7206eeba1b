import { describe, expect, test } from '@jest/globals';
import { MessagesErrorBody } from '../../../../infra/tools/reference/error-reply.ts';
import { ApiError, Forbidden, InternalError, InvalidRequest, ServiceUnavailable } from '../../../../shared/http/errors.ts';
import { toMessagesFailure } from '../../../../shared/http/messages-failure.ts';
import { RefusedByModel, UpstreamFailed } from '../../../../shared/upstream/errors.ts';

const errorOf = (status: number, code: string | null, headers: Record<string, string> = {}, more: object = {}): ApiError =>
  new ApiError({ status, type: 'some_type', code, message: 'A text.', headers, ...more });

describe('an error of the Messages API', () => {
  test.each([
    [400, 'invalid_request_error', new InvalidRequest({ message: 'A text.', param: 'messages' })],
    [400, 'invalid_request_error', new RefusedByModel('You passed 5 tokens. The maximum context length is 4.')],
    [400, 'invalid_request_error', errorOf(422, 'idempotency_key_reused')],
    [401, 'authentication_error', errorOf(401, 'invalid_api_key')],
    [402, 'billing_error', errorOf(429, 'insufficient_quota')],
    [403, 'permission_error', new Forbidden({ message: 'A text.' })],
    [404, 'not_found_error', errorOf(404, 'model_not_found')],
    [405, 'invalid_request_error', errorOf(405, 'method_not_allowed')],
    [409, 'conflict_error', errorOf(409, 'idempotency_in_progress')],
    [413, 'request_too_large', errorOf(413, 'request_too_large')],
    [429, 'rate_limit_error', errorOf(429, 'rate_limit_exceeded')],
    [500, 'api_error', new InternalError()],
    [503, 'overloaded_error', new ServiceUnavailable()],
    [503, 'overloaded_error', new UpstreamFailed('no_capacity', '')],
    [503, 'overloaded_error', new UpstreamFailed('model_not_ready', '')],
    [503, 'overloaded_error', errorOf(503, 'deployment_waking')],
    [503, 'timeout_error', new UpstreamFailed('upstream_timeout', '')],
    [503, 'api_error', new UpstreamFailed('upstream_error', '')],
  ])('has the status %i and the type %s', (status, type, error) => {
    const failure = toMessagesFailure(error, 'req_1');
    expect(failure.status).toBe(status);
    expect(failure.body).toEqual({
      type: 'error',
      error: { type, message: error.message, details: { error_code: error.code, param: error.param } },
      request_id: 'req_1',
    });
    expect(MessagesErrorBody.parse(failure.body)).toEqual(failure.body);
  });

  test('has the details that other routes send in the error', () => {
    const { body } = toMessagesFailure(errorOf(503, 'deployment_waking', {}, { details: { wake: { p50_seconds: 90 } } }), 'req_1');
    expect(body.error).toMatchObject({ details: { error_code: 'deployment_waking', wake: { p50_seconds: 90 } } });
  });

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['without a wait', {}, {}],
    ['with a wait of a minute', { 'retry-after': '60' }, { 'retry-after': '60' }],
    ['with a longer wait', { 'retry-after': '61' }, { 'retry-after': '61', 'x-should-retry': 'false' }],
    [
      'with a longer wait and its own advice',
      { 'retry-after': '61', 'x-should-retry': 'true' },
      { 'retry-after': '61', 'x-should-retry': 'true' },
    ],
  ])('advises against a retry that comes too late: %s', (_, headers, sent) => {
    expect(toMessagesFailure(errorOf(429, 'rate_limit_exceeded', headers), 'req_1').headers).toEqual(sent);
  });

  test('advises against a retry if there is no money', () => {
    expect(toMessagesFailure(errorOf(429, 'insufficient_quota', { 'retry-after': '1' }), 'req_1').headers).toEqual({
      'retry-after': '1',
      'x-should-retry': 'false',
    });
  });
});
