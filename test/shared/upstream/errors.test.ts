import { describe, expect, test } from '@jest/globals';
import { DamagedReply } from '../../../shared/aws/errors.ts';
import { ErrorInStream } from '../../../shared/upstream/error-in-stream.ts';
import { MistranslatedRequest, publicText, toUpstreamError, type UpstreamFailed } from '../../../shared/upstream/errors.ts';

const thrown = (name: string, { code, ...facts }: Record<string, unknown> = {}, message = 'text of AWS for account 123456789012'): Error =>
  Object.assign(new Error(message), { name, facts, ...(code !== undefined && { code }) });

describe('an upstream error', () => {
  test.each([
    [thrown('ThrottlingException'), 'no_capacity'],
    [thrown('ServiceUnavailable'), 'no_capacity'],
    [thrown('ModelNotReadyException'), 'model_not_ready'],
    [thrown('AccessDeniedException'), 'model_not_ready'],
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
  ])('is a 503 with Retry-After and nothing internal: %s, %s', (error, code) => {
    const upstreamError = toUpstreamError(error);
    expect(upstreamError).toMatchObject({ status: 503, code, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
    expect(upstreamError.message).not.toMatch(/123456789012|AWS|Traceback/);
  });

  test("is a 400 with the container's message for a container's 4xx", () => {
    const body = JSON.stringify({ error: { message: "This model's maximum context length is 8192 tokens.", code: 400 } });
    expect(toUpstreamError(thrown('ModelError', { OriginalStatusCode: 400, OriginalMessage: body }))).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      message: "This model's maximum context length is 8192 tokens. Shorten the messages or lower max_tokens.",
    });
    expect(
      toUpstreamError(thrown('ModelError', { OriginalStatusCode: 422, OriginalMessage: '{"detail":"top_p is out of range"}' })),
    ).toMatchObject({ status: 400, param: 'top_p', message: 'top_p is out of range' });
    expect(toUpstreamError(thrown('ModelError', { OriginalStatusCode: 400, OriginalMessage: 'plain words' }))).toMatchObject({
      status: 400,
      message: 'plain words',
    });
  });

  test('uses the route’s field names', () => {
    const refusal = (message: string) => thrown('ModelError', { OriginalStatusCode: 400, OriginalMessage: message });
    const names = { messages: 'input', max_tokens: 'max_output_tokens' };
    const tooLong = refusal('The maximum context length is 9 tokens.');
    expect(toUpstreamError(tooLong)).toMatchObject({ param: 'messages' });
    expect(toUpstreamError(tooLong, names)).toMatchObject({ code: 'context_length_exceeded', param: 'input' });
    expect(toUpstreamError(refusal('max_tokens is too large'), names)).toMatchObject({ param: 'max_output_tokens' });
    expect(toUpstreamError(refusal('top_p is too large'), names)).toMatchObject({ param: 'top_p' });
  });

  const names = { messages: 'input', max_tokens: 'max_output_tokens' };
  test.each([
    [
      "This model's maximum context length is 9 tokens. However, you requested 12 tokens (4 in the messages, 8 in the completion). Please reduce the length of the messages or completion.",
      "This model's maximum context length is 9 tokens. However, you requested 12 tokens (4 in the input, 8 in the completion). Shorten the input or lower max_output_tokens.",
    ],
    [
      "This model's maximum context length is 9 tokens. However, your prompt contains at least 10 input tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=10)",
      "This model's maximum context length is 9 tokens. However, your prompt contains at least 10 input tokens. Shorten the input or lower max_output_tokens.",
    ],
    ['The maximum context length is 9 tokens', 'The maximum context length is 9 tokens. Shorten the input or lower max_output_tokens.'],
  ])('says in the route’s field names what to do about the window: %s', (OriginalMessage, message) => {
    expect(toUpstreamError(thrown('ModelError', { OriginalStatusCode: 400, OriginalMessage }), names)).toMatchObject({
      param: 'input',
      message,
    });
  });

  test('uses the route’s field names in the container’s words', () => {
    const rejection = thrown('ModelError', { OriginalStatusCode: 400, OriginalMessage: 'max_tokens must be at least 1, got 0.' });
    expect(toUpstreamError(rejection, names).message).toBe('max_output_tokens must be at least 1, got 0.');
    expect(toUpstreamError(rejection).message).toBe('max_tokens must be at least 1, got 0.');
  });

  test.each([
    'Cannot find suitable handler for request. Expected one of: […]',
    "1 validation error:\n  {'type': 'bool_parsing', 'loc': ('body', 'echo'), 'msg': 'Input should be a valid boolean'}",
    'Either prompt or prompt_embeds must be provided and non-empty. (parameter=prompt)',
  ])('is our own bug if the container can’t parse the request: %s', (message) => {
    const body = JSON.stringify({ error: { message } });
    expect(toUpstreamError(thrown('ModelError', { OriginalStatusCode: 400, OriginalMessage: body }))).toBeInstanceOf(MistranslatedRequest);
  });

  const silent = new ErrorInStream('{"error":{"message":"","type":"InternalServerError","param":null,"code":500}}');
  test('is a 400 if a runtime rejects what only it can validate without a reason', () => {
    for (const field of ['strict', 'json_schema', 'bad_words'])
      expect(toUpstreamError(silent, {}, `{"messages":[],"${field}":true}`)).toMatchObject({
        status: 400,
        param: null,
        message: expect.stringContaining('without a reason'),
      });
  });

  test.each([
    ['the request has nothing of that kind', silent, '{"messages":[]}'],
    ['a message only mentions it', silent, JSON.stringify({ messages: [{ content: '{"strict":true}' }] })],
    ['it has a reason', new ErrorInStream('{"error":{"message":"Internal server error","code":500}}'), '{"strict":true}'],
    ['it is a reply with that status', thrown('ModelError', { OriginalStatusCode: 500, OriginalMessage: '' }), '{"strict":true}'],
  ])('is a 503 for a runtime’s status 500 if %s', (_, error, sent) => {
    expect(toUpstreamError(error, {}, sent)).toMatchObject({ status: 503, code: 'upstream_error' });
  });

  test.each([
    ['names what only we set', '{"error":{"message":"cache_salt must be a string"}}'],
    ['lists what its schema found', '{"detail":[{"loc":["body","x"],"msg":"bad"}]}'],
  ])('is our own bug if the rejection %s', (_, OriginalMessage) => {
    expect(toUpstreamError(thrown('ModelError', { OriginalStatusCode: 422, OriginalMessage }))).toBeInstanceOf(MistranslatedRequest);
  });

  test.each([
    [
      thrown('ModelError', { OriginalStatusCode: 500, ErrorCode: 'INTERNAL_FAILURE_FROM_MODEL' }, 'pelican'),
      'ModelError 500 INTERNAL_FAILURE_FROM_MODEL',
    ],
    [thrown('Error', { code: 'ECONNREFUSED' }, 'pelican'), 'Error ECONNREFUSED'],
    [thrown('the pelican', { ErrorCode: 'the pelican' }, 'pelican'), ''],
    [new DamagedReply('pelican'), 'The connection broke before the end of the answer: DamagedReply'],
  ])('is logged by its class, status and length, never with its text: %s', (error, failure) => {
    const { logged, detail } = toUpstreamError(error) as UpstreamFailed;
    expect(logged).toEqual({ failure, failure_length: detail.length });
    expect(detail).toContain('pelican');
  });

  test('does not have the container’s text if it is our own bug', () => {
    const error = thrown('ModelError', { OriginalStatusCode: 422, OriginalMessage: '{"detail":[{"input":"pelican"}]}' }, 'pelican');
    expect(String(toUpstreamError(error).stack)).not.toContain('pelican');
    expect(toUpstreamError(error).message).toBe('The container could not parse our request: ModelError 422, with a text of 32 characters.');
  });

  test('cuts hostile messages before it searches them', () => {
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
    ['bad_words is empty. (parameter=bad_words, value=[" "])', 'bad_words is empty.'],
    ['Traceback (most recent call last):\n  File "x.py"', 'The model rejected the request.'],
    ['', 'The model rejected the request.'],
  ])('shows callers %p as %p', (text, shown) => {
    expect(publicText(text)).toBe(shown);
  });
});
