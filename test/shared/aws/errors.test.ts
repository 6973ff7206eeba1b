import { describe, expect, test } from '@jest/globals';
import {
  AwsError,
  CallTimeout,
  DamagedReply,
  isClockError,
  isConnectionError,
  isServerError,
  isThrottle,
  readAwsError,
} from '../../../shared/aws/errors.ts';

describe('the name of an error', () => {
  const URL_OF_TYPE = 'http://internal.amazon.com/coral/com.amazon.coral.validate/#anchor';
  test.each([
    ['in the body', undefined, { __type: 'ValidationException' }],
    ['without its namespace', undefined, { __type: 'com.amazonaws.dynamodb.v20120810#ValidationException' }],
    ['in the header', 'ValidationException', {}],
    ['before the URL of the header', `ValidationException:${URL_OF_TYPE}`, {}],
    ['between the namespace and the URL of the header', `com.amazon.coral#ValidationException:${URL_OF_TYPE}`, {}],
    ["the header's rather than the body's", 'ValidationException', { __type: 'Other', code: 'Another' }],
    ['in the code of the body', undefined, { code: 'ValidationException' }],
  ])('%s', (_, header, body) => {
    expect(readAwsError(400, header, JSON.stringify(body))).toMatchObject({ name: 'ValidationException', status: 400 });
  });

  test.each(['', '<html>', '"text"', 'null', '{"__type"'])('is UnknownError if neither the header nor the body %j has it', (body) => {
    expect(readAwsError(502, undefined, body)).toMatchObject({ name: 'UnknownError', status: 502 });
  });
});

test('gives an error the fields of its body and their message', () => {
  const facts = { OriginalStatusCode: 422, OriginalMessage: 'bad field' };
  expect(readAwsError(424, 'ModelError', JSON.stringify({ Message: 'one', ...facts }))).toMatchObject({ message: 'one', facts });
  expect(readAwsError(424, 'ModelError', '{"message":"two"}').message).toBe('two');
  expect(readAwsError(424, 'ModelError', '{}').message).toBe('AWS answered 424.');
  expect(readAwsError(502, undefined, '<html>').message).toBe('<html>');
});

test('gives an error of S3 the code and the message of its XML, and nothing else of it', () => {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message>
    <BucketName>payloads</BucketName><RequestId>4442587FB7D0A2F9</RequestId></Error>`;
  const error = readAwsError(404, undefined, xml);
  expect(error).toMatchObject({ name: 'NoSuchBucket', status: 404, message: 'The specified bucket does not exist' });
  expect(JSON.stringify(error.facts)).not.toContain('4442587FB7D0A2F9');
  const late = '<Error><Code>RequestTimeTooSkewed</Code><Message>The difference is too large.</Message></Error>';
  expect(isClockError(readAwsError(403, undefined, late))).toBe(true);
  expect(readAwsError(403, undefined, '<Error><Code>AccessDenied</Code>')).toMatchObject({ name: 'AccessDenied' });
  expect(readAwsError(500, undefined, '<Error><Message>Broken</Message>')).toMatchObject({ name: 'UnknownError', message: 'Broken' });
});

const coded = (code: unknown): Error => Object.assign(new Error('broken'), { code });
const awsError = (name: string, status = 400) => new AwsError(name, status, {});

describe('isConnectionError', () => {
  test.each(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'])(
    'is true of the network error %s',
    (code) => {
      expect(isConnectionError(coded(code))).toBe(true);
    },
  );

  test.each(['EPROTO', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR'])(
    'is true of the TLS error %s',
    (code) => expect(isConnectionError(coded(code))).toBe(true),
  );

  test.each(['HPE_INVALID_CONSTANT', 'HPE_INVALID_CHUNK_SIZE', 'HPE_HEADER_OVERFLOW'])(
    'is true of a reply that is not HTTP: %s',
    (code) => {
      expect(isConnectionError(coded(code))).toBe(true);
    },
  );

  test('is true of timeouts and damaged replies', () => {
    expect([new CallTimeout('x'), new DamagedReply('x')].map(isConnectionError)).toEqual([true, true]);
  });

  test.each([
    'ERR_INVALID_CHAR',
    'ERR_INVALID_ARG_TYPE',
    'ERR_HTTP_HEADERS_SENT',
    'ERR_OUT_OF_RANGE',
    'ABORT_ERR',
    'MODULE_NOT_FOUND',
    5,
    undefined,
  ])('is false of our own mistakes and aborts: %s', (code) => expect(isConnectionError(coded(code))).toBe(false));

  test('is false of errors of AWS', () => expect(isConnectionError(awsError('ThrottlingException', 500))).toBe(false));
});

test('recognizes throttles by their name or the status 429', () => {
  const names = ['ProvisionedThroughputExceededException', 'RequestLimitExceeded', 'ThrottlingException', 'TooManyRequestsException'];
  for (const name of names) expect(isThrottle(awsError(name))).toBe(true);
  expect(isThrottle(awsError('Other', 429))).toBe(true);
  expect(isThrottle(awsError('ValidationException'))).toBe(false);
  expect(isThrottle(coded('ThrottlingException'))).toBe(false);
});

test('retries a transaction that is still in progress as a throttle, as the SDK does', () => {
  expect(isThrottle(awsError('TransactionInProgressException'))).toBe(true);
});

test('recognizes server errors by a status of at least 500', () => {
  expect([499, 500, 503, 530].map((status) => isServerError(awsError('Any', status)))).toEqual([false, true, true, true]);
  expect(isServerError(Object.assign(new Error(), { status: 500 }))).toBe(false);
});

test('takes only a rejected signature for an error of the clock', () => {
  for (const name of ['InvalidSignatureException', 'RequestExpired', 'SignatureDoesNotMatch', 'RequestTimeTooSkewed', 'RequestInTheFuture'])
    expect(isClockError(awsError(name))).toBe(true);
  expect(isClockError(awsError('AccessDeniedException'))).toBe(false);
  expect(isClockError(new Error('RequestExpired'))).toBe(false);
});
