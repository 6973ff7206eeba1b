import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { environmentCredentials } from '../../../shared/aws/credentials.ts';
import { HOUR_MS } from '../../../shared/time/units.ts';
import { type Answer, type FakeAws, startFakeAws } from '../../support/emulators/fake-aws.ts';
import { signatureFault } from '../../support/faults/verify-signature.ts';
import { aCall, callerOf, credentials, textOf } from './caller-fixtures.ts';

let aws: FakeAws;
beforeAll(async () => {
  aws = await startFakeAws();
});
afterAll(() => aws.close());

// AWS rejects signatures whose time is more than five minutes off its own.
const awsAheadBy =
  (aheadMs: number): Answer =>
  (response, _, request) => {
    const nowMs = Date.now() + aheadMs;
    const fault = signatureFault(request, credentials, nowMs);
    response.writeHead(fault ? 400 : 200, { date: new Date(nowMs).toUTCString() });
    response.end(fault ? `{"__type":"com.amazon.coral.service#InvalidSignatureException","message":"${fault}"}` : '"well"');
  };

describe('a call if AWS has another time', () => {
  test.each([HOUR_MS, -HOUR_MS])('is sent again with the time of AWS, %d ms off, and later calls are right at once', async (aheadMs) => {
    aws.answers(awsAheadBy(aheadMs));
    const caller = callerOf(aws.url);
    expect(await caller.call(aCall, 1, textOf)).toBe('"well"');
    expect(aws.received).toHaveLength(2);
    for (let i = 0; i < 3; i++) await caller.call(aCall, 1, textOf);
    expect(aws.received).toHaveLength(5);
  });

  test('succeeds, also among others at the same time', async () => {
    aws.answers(awsAheadBy(HOUR_MS));
    const caller = callerOf(aws.url);
    const replies = await Promise.all(Array.from({ length: 8 }, () => caller.call(aCall, 1, textOf)));
    expect(replies).toEqual(Array.from({ length: 8 }, () => '"well"'));
  });

  test('follows a clock that is corrected later', async () => {
    const caller = callerOf(aws.url);
    for (const aheadMs of [HOUR_MS, 0, -HOUR_MS]) {
      aws.answers(awsAheadBy(aheadMs));
      expect(await caller.call(aCall, 1, textOf)).toBe('"well"');
    }
  });

  test('is sent once if the difference is less than five minutes', async () => {
    aws.answers(awsAheadBy(4 * 60_000));
    await callerOf(aws.url).call(aCall, 1, textOf);
    expect(aws.received).toHaveLength(1);
  });
});

describe('a signature that is wrong for another reason', () => {
  test.each([0, 30_000])('is not sent again if the clock of AWS is ahead by %d ms', async (aheadMs) => {
    aws.answers(awsAheadBy(aheadMs));
    const caller = callerOf(aws.url, { credentials: { ...credentials, secretAccessKey: 'other' } });
    await expect(caller.call(aCall, 3, textOf)).rejects.toMatchObject({ name: 'InvalidSignatureException', message: 'wrong' });
    expect(aws.received).toHaveLength(1);
  });

  test('is sent again once if the clock is wrong too', async () => {
    aws.answers(awsAheadBy(HOUR_MS));
    const caller = callerOf(aws.url, { credentials: { ...credentials, secretAccessKey: 'other' } });
    await expect(caller.call(aCall, 3, textOf)).rejects.toMatchObject({ name: 'InvalidSignatureException' });
    expect(aws.received).toHaveLength(2);
  });

  test('is not sent again if the reply has no date', async () => {
    aws.answers((response) => {
      response.sendDate = false;
      response.writeHead(403, { 'x-amzn-errortype': 'InvalidSignatureException' }).end('{}');
    });
    await expect(callerOf(aws.url).call(aCall, 3, textOf)).rejects.toMatchObject({ name: 'InvalidSignatureException' });
    expect(aws.received).toHaveLength(1);
  });
});

describe('the credentials of the environment', () => {
  const before = { ...process.env };
  afterEach(() => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']) {
      delete process.env[name];
      if (before[name] !== undefined) process.env[name] = before[name];
    }
  });

  test('sign each call as they are at that moment', async () => {
    const rotations = [
      { accessKeyId: 'FIRST', secretAccessKey: 'one', sessionToken: 'token-1' },
      { accessKeyId: 'SECOND', secretAccessKey: 'two', sessionToken: 'token-2' },
      { accessKeyId: 'THIRD', secretAccessKey: 'three', sessionToken: undefined },
    ];
    const caller = callerOf(aws.url, { credentials: undefined });
    for (const rotated of rotations) {
      Object.assign(process.env, {
        AWS_ACCESS_KEY_ID: rotated.accessKeyId,
        AWS_SECRET_ACCESS_KEY: rotated.secretAccessKey,
        // Lambda may also set an empty one.
        AWS_SESSION_TOKEN: rotated.sessionToken ?? '',
      });
      aws.answers((response) => response.end('{}'));
      await caller.call(aCall, 1, textOf);
      const [received] = aws.received;
      expect(signatureFault(received as (typeof aws.received)[0], rotated, Date.now())).toBeUndefined();
      expect(received?.headers.authorization).toContain(`Credential=${rotated.accessKeyId}/`);
      expect(received?.headers['x-amz-security-token']).toBe(rotated.sessionToken);
    }
  });

  test('must exist', () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) delete process.env[name];
    expect(environmentCredentials).toThrow('AWS_ACCESS_KEY_ID');
  });
});
