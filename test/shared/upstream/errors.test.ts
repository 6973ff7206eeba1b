import { describe, expect, test } from '@jest/globals';
import { MistranslatedRequest, publicText, toUpstreamError } from '../../../shared/upstream/errors.ts';

const thrown = (name: string, facts: Record<string, unknown> = {}, message = 'text of AWS for account 123456789012'): Error =>
  Object.assign(new Error(message), { name, ...facts });

describe('an upstream error', () => {
  test.each([
    [thrown('ThrottlingException'), 'no_capacity'],
    [thrown('ServiceUnavailable'), 'no_capacity'],
    [thrown('ModelNotReadyException'), 'model_not_ready'],
    [thrown('InternalFailure'), 'upstream_error'],
    [thrown('InternalDependencyException'), 'upstream_error'],
    [thrown('InternalStreamFailure'), 'upstream_error'],
    [thrown('ModelStreamError', { ErrorCode: 'StreamBroken' }), 'upstream_error'],
    [thrown('ModelStreamError', { ErrorCode: 'ModelInvocationTimeExceeded' }), 'upstream_timeout'],
    [thrown('ValidationError', {}, 'Inference Component has no capacity to process this request.'), 'no_capacity'],
    [thrown('ValidationError', {}, 'Endpoint x of account 123456789012 not found.'), 'model_not_ready'],
    [thrown('ValidationError', {}, 'Something else is wrong.'), 'upstream_error'],
    [thrown('TimeoutError'), 'upstream_timeout'],
    [thrown('TimeoutError', { code: 'ECONNRESET' }), 'upstream_error'],
    [thrown('Error', { code: 'ECONNREFUSED' }), 'upstream_error'],
    [thrown('ModelError', { OriginalStatusCode: 500, OriginalMessage: 'Traceback' }), 'upstream_error'],
    [thrown('ModelError', { OriginalStatusCode: 404, OriginalMessage: 'no such model' }), 'upstream_error'],
    [thrown('ModelError', { OriginalStatusCode: 429, OriginalMessage: 'busy' }), 'no_capacity'],
  ])('%s becomes a 503 %s with Retry-After and without internals', (error, code) => {
    const publicError = toUpstreamError(error);
    expect(publicError).toMatchObject({ status: 503, code, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
    expect(publicError.message).not.toMatch(/123456789012|AWS|Traceback/);
  });

  test("with a container's 4xx becomes a 400 with the container's message", () => {
    const body = JSON.stringify({ error: { message: "This model's maximum context length is 8192 tokens.", code: 400 } });
    expect(toUpstreamError(thrown('ModelError', { OriginalStatusCode: 400, OriginalMessage: body }))).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      message: "This model's maximum context length is 8192 tokens.",
    });
    expect(
      toUpstreamError(thrown('ModelError', { OriginalStatusCode: 422, OriginalMessage: '{"detail":"top_p is out of range"}' })),
    ).toMatchObject({ status: 400, param: 'top_p', message: 'top_p is out of range' });
    expect(toUpstreamError(thrown('ModelError', { OriginalStatusCode: 400, OriginalMessage: 'plain words' }))).toMatchObject({
      status: 400,
      message: 'plain words',
    });
  });

  test('names the field as the route calls it', () => {
    const refusal = (message: string) => thrown('ModelError', { OriginalStatusCode: 400, OriginalMessage: message });
    const names = { messages: 'input', max_tokens: 'max_output_tokens' };
    const tooLong = refusal('The maximum context length is 9 tokens.');
    expect(toUpstreamError(tooLong)).toMatchObject({ param: 'messages' });
    expect(toUpstreamError(tooLong, names)).toMatchObject({ code: 'context_length_exceeded', param: 'input' });
    expect(toUpstreamError(refusal('max_tokens is too large'), names)).toMatchObject({ param: 'max_output_tokens' });
    expect(toUpstreamError(refusal('top_p is too large'), names)).toMatchObject({ param: 'top_p' });
  });

  test('is our fault when the container cannot read the request', () => {
    const body = JSON.stringify({ error: { message: 'Cannot find suitable handler for request. Expected one of: […]' } });
    expect(toUpstreamError(thrown('ModelError', { OriginalStatusCode: 400, OriginalMessage: body }))).toBeInstanceOf(MistranslatedRequest);
  });

  test.each([
    ['names a field that only the gateway sets', '{"error":{"message":"cache_salt must be a string"}}'],
    ['lists faults of the schema', '{"detail":[{"loc":["body","x"],"msg":"bad"}]}'],
  ])('is our fault when the rejection %s', (_, OriginalMessage) => {
    expect(toUpstreamError(thrown('ModelError', { OriginalStatusCode: 422, OriginalMessage }))).toBeInstanceOf(MistranslatedRequest);
  });

  test('truncates a long message before it searches it', () => {
    expect(publicText('a-'.repeat(1_000_000))).toHaveLength(1_000);
  });

  test.each([
    ['arn:aws:sagemaker:us-east-1:123456789012:endpoint/x failed', '[…] failed'],
    ['see https://us-east-1.console.aws.amazon.com/x?y=1 for more', 'see […] for more'],
    ['at ip-10-0-1-2.ec2.internal:8080', 'at […]'],
    ['at 10.0.1.2:8080 too', 'at […] too'],
    [`${'x'.repeat(990)} 123456789012`, `${'x'.repeat(990)} […]`],
    ['account 123456789012 is full', 'account […] is full'],
    ['in /opt/ml/model/config.json', 'in […]'],
    ['Traceback (most recent call last):\n  File "x.py"', 'The model refused the request.'],
    ['', 'The model refused the request.'],
  ])('shows %p to the caller as %p', (text, shown) => {
    expect(publicText(text)).toBe(shown);
  });
});
