import { getEventListeners } from 'node:events';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DamagedReply } from '../../../shared/aws/errors.ts';
import { type Answer, type FakeAws, startFakeAws } from '../../support/emulators/fake-aws.ts';
import { aCall, callerOf, SHORT_MS, textOf } from './caller-fixtures.ts';

let aws: FakeAws;
beforeAll(async () => {
  aws = await startFakeAws();
});
afterAll(() => aws.close());

const rejects =
  (status: number, name: string): Answer =>
  (response) =>
    response.writeHead(status, { 'x-amzn-errortype': name }).end('{"message":"no"}');
const BODY = '{"a":1}';
const withChecksum =
  (checksum: number, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'x-amz-crc32': String(checksum), 'x-amzn-errortype': 'ConditionalCheckFailedException' }).end(BODY);

const TIMEOUT = 'a timeout';
// A wait is short only where it is the failure, because a busy machine answers late.
const boundsOf = (failure: string) => (failure === TIMEOUT ? { silenceMs: 5 * SHORT_MS } : {});

describe('a call with three attempts', () => {
  const passing: [string, Answer][] = [
    ['a broken connection', (response) => response.destroy()],
    [TIMEOUT, () => undefined],
    ['a body that breaks off', (response) => response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy())],
    ['a wrong checksum', withChecksum(crc32(BODY) ^ 1)],
    ['a wrong checksum of an error', withChecksum(crc32(BODY) ^ 1, 400)],
    ['a status that AWS does not use', (response) => response.writeHead(300).end(BODY)],
    ['a 500', rejects(500, 'InternalServerError')],
    ['a 503', rejects(503, 'ServiceUnavailable')],
    ['a 429', rejects(429, 'Anything')],
    ['a throttle', rejects(400, 'ProvisionedThroughputExceededException')],
    ['a transaction in progress', rejects(400, 'TransactionInProgressException')],
  ];

  test.each(passing)('succeeds at the second after %s, and fails after the third', async (failure, answer) => {
    const caller = callerOf(aws.url, boundsOf(failure));
    aws.answers((response, attempt, request) => (attempt === 1 ? answer(response, attempt, request) : response.end(BODY)));
    expect(await caller.call(aCall, 3, textOf)).toBe(BODY);
    expect(aws.received).toHaveLength(2);
    aws.answers(answer);
    await expect(caller.call(aCall, 3, textOf)).rejects.toThrow();
    expect(aws.received).toHaveLength(3);
  });

  test.each(passing)('has only one if just one is allowed: %s', async (failure, answer) => {
    aws.answers(answer);
    await expect(callerOf(aws.url, boundsOf(failure)).call(aCall, 1, textOf)).rejects.toThrow();
    expect(aws.received).toHaveLength(1);
  });

  test.each([
    [400, 'ValidationException'],
    [400, 'ConditionalCheckFailedException'],
    [400, 'TransactionCanceledException'],
    [403, 'AccessDeniedException'],
    [404, 'ResourceNotFoundException'],
    [413, 'RequestTooLargeException'],
    [424, 'ModelError'],
  ])('has only one if AWS rejects it: %d %s', async (status, name) => {
    aws.answers(rejects(status, name));
    await expect(callerOf(aws.url).call(aCall, 3, textOf)).rejects.toMatchObject({ name, status, message: 'no' });
    expect(aws.received).toHaveLength(1);
  });

  test('retries a reply that its reader found damaged, and none that its reader rejected', async () => {
    aws.answers((response) => response.end(BODY));
    const reading = (error: Error) =>
      callerOf(aws.url).call(aCall, 3, () => {
        throw error;
      });
    await expect(reading(new DamagedReply('damaged'))).rejects.toThrow('damaged');
    expect(aws.received).toHaveLength(3);
    await expect(reading(new Error('a mistake of ours'))).rejects.toThrow('a mistake of ours');
    expect(aws.received).toHaveLength(4);
  });
});

test('makes an open call once, whatever fails', async () => {
  for (const answer of [
    (response) => response.destroy(),
    rejects(500, 'InternalFailure'),
    rejects(429, 'ThrottlingException'),
  ] as Answer[]) {
    aws.answers(answer);
    await expect(callerOf(aws.url).open(aCall)).rejects.toThrow();
    expect(aws.received).toHaveLength(1);
  }
});

describe('the checksum of a reply', () => {
  test.each([
    ['is verified', withChecksum(crc32(BODY))],
    ['may be missing', (response) => response.end(BODY)],
  ] as [string, Answer][])('%s', async (_, answer) => {
    aws.answers(answer);
    expect(await callerOf(aws.url).call(aCall, 1, textOf)).toBe(BODY);
  });

  test.each([200, 400])('must be right, also that of a %d', async (status) => {
    aws.answers(withChecksum(crc32(BODY) ^ 1, status));
    await expect(callerOf(aws.url).call(aCall, 1, textOf)).rejects.toBeInstanceOf(DamagedReply);
  });
});

describe('an aborted call', () => {
  const aborting = async (answer: Answer, abortAt: 'start' | 'request' | 'never'): Promise<Error> => {
    const abort = new AbortController();
    aws.answers((response, attempt, request) => {
      answer(response, attempt, request);
      if (abortAt === 'request') setImmediate(() => abort.abort());
    });
    if (abortAt === 'start') abort.abort();
    const call = callerOf(aws.url).call({ ...aCall, signal: abort.signal }, 3, textOf);
    return call.then(
      () => new Error('not aborted'),
      (error: Error) => error,
    );
  };

  test('is not sent if it was aborted before', async () => {
    expect(await aborting((response) => response.end(), 'start')).toMatchObject({ name: 'AbortError' });
    expect(aws.received).toHaveLength(0);
  });

  test('ends without another attempt while it waits for the reply', async () => {
    expect(await aborting(() => undefined, 'request')).toMatchObject({ name: 'AbortError' });
    expect(aws.received).toHaveLength(1);
  });

  test('ends without another attempt while it reads the body', async () => {
    const error = await aborting((response) => response.writeHead(200, { 'content-length': 9 }).write('{'), 'request');
    expect(error.message).not.toBe('not aborted');
    expect(aws.received).toHaveLength(1);
  });

  test('ends without another attempt while it waits for the next one', async () => {
    expect(await aborting(rejects(500, 'InternalServerError'), 'request')).not.toMatchObject({ message: 'not aborted' });
    expect(aws.received).toHaveLength(1);
  });

  test('leaves no listener on its signal', async () => {
    const { signal } = new AbortController();
    aws.answers((response) => response.end(BODY));
    const caller = callerOf(aws.url);
    for (let i = 0; i < 3; i++) await caller.call({ ...aCall, signal }, 1, textOf);
    expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1);
  });
});
