import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createMemoryStore, type ObjectStore } from '../../../../infra/local/s3/object-store.ts';
import { type S3Emulator, startS3 } from '../../../../infra/local/s3/server.ts';

const BUCKET = 'uploads';
const NOW_MS = Date.UTC(2026, 10, 1);
const KEYS = { accessKeyIds: ['AKIA'], secretAccessKey: 'secret' };
const SCOPE = ['20261101', 'us-east-1', 's3', 'aws4_request'];

let store: ObjectStore;
let emulator: S3Emulator;
beforeAll(async () => {
  store = createMemoryStore();
  emulator = await startS3(new Set([BUCKET, 'others']), store, () => NOW_MS, KEYS);
});
afterAll(() => emulator.close());

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sign = (policy: string): string =>
  hmac(SCOPE.reduce<Buffer | string>(hmac, `AWS4${KEYS.secretAccessKey}`) as Buffer, policy).toString('hex');

const SIGNED = {
  'x-amz-algorithm': 'AWS4-HMAC-SHA256',
  'x-amz-credential': `${KEYS.accessKeyIds[0]}/${SCOPE.join('/')}`,
  'x-amz-date': '20261101T000000Z',
};
const OWN = Object.entries(SIGNED).map(([name, value]) => ['eq', `$${name}`, value]);

const policyOf = (conditions: unknown[], expiration = '2026-11-01T00:00:01Z'): string =>
  Buffer.from(JSON.stringify({ expiration, conditions: [{ bucket: BUCKET }, ...OWN, ...conditions] })).toString('base64');

// The form is signed for its policy. Returns the status and the code of the error.
const submit = async (
  policy: string,
  fields: Record<string, string>,
  { bucket = BUCKET, content = 'text', last = {} as Record<string, string> } = {},
) => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...SIGNED, policy, 'x-amz-signature': sign(policy), ...fields })) form.append(name, value);
  form.append('file', new Blob([content]), 'a.txt');
  for (const [name, value] of Object.entries(last)) form.append(name, value);
  const response = await fetch(`${emulator.url}/${bucket}`, { method: 'POST', body: form });
  const text = await response.text();
  return [response.status, /<Code>(\w+)</.exec(text)?.[1]];
};

const KEY = { key: 'in/a' };
const CONDITION = ['starts-with', '$key', 'in/'];

test('a form whose policy covers it is stored with its type, in any case of its names', async () => {
  const policy = policyOf([CONDITION, { 'content-type': 'text/csv' }, ['content-length-range', 1, 10]]);
  expect(await submit(policy, { Key: 'in/a', 'Content-Type': 'text/csv', 'x-ignore-me': '1' })).toEqual([204, undefined]);
  expect(String(await store.get(BUCKET, 'in/a'))).toBe('text');
  expect(await store.headersOf(BUCKET, 'in/a')).toEqual({ 'content-type': 'text/csv' });
});

describe('a form is rejected', () => {
  test.each([
    ['with a key that the policy does not allow', [CONDITION], { key: 'out/a' }, {}, 'AccessDenied'],
    ['for another bucket', [CONDITION], KEY, { bucket: 'others' }, 'AccessDenied'],
    ['with a field that the policy does not have', [CONDITION], { ...KEY, acl: 'public-read' }, {}, 'AccessDenied'],
    ['without a field that the policy has', [CONDITION, { acl: 'private' }], KEY, {}, 'AccessDenied'],
    ['with a file that is too large', [CONDITION, ['content-length-range', 0, 3]], KEY, {}, 'EntityTooLarge'],
    ['with a file that is too small', [CONDITION, ['content-length-range', 5, 9]], KEY, {}, 'EntityTooSmall'],
    ['without a key', [CONDITION], {}, {}, 'MalformedPOSTRequest'],
    ['with its key after the file', [CONDITION], {}, { last: KEY }, 'MalformedPOSTRequest'],
    ['with an unknown condition', [CONDITION, ['ends-with', '$key', 'a']], KEY, {}, 'InvalidPolicyDocument'],
    ['with a key of another account', [CONDITION], { ...KEY, 'x-amz-credential': `AKIB/${SCOPE.join('/')}` }, {}, 'SignatureDoesNotMatch'],
    [
      'of another service',
      [CONDITION],
      { ...KEY, 'x-amz-credential': `AKIA/20261101/us-east-1/sqs/aws4_request` },
      {},
      'SignatureDoesNotMatch',
    ],
    ['of another day', [CONDITION], { ...KEY, 'x-amz-date': '20261102T000000Z' }, {}, 'SignatureDoesNotMatch'],
    ['with a changed policy', [CONDITION], { ...KEY, policy: policyOf([]) }, {}, 'SignatureDoesNotMatch'],
  ])('%s', async (_why, conditions, fields, options, code) => {
    expect((await submit(policyOf(conditions), fields as Record<string, string>, options))[1]).toBe(code);
  });

  test('from the moment on that its policy expires', async () => {
    expect(await submit(policyOf([CONDITION], '2026-11-01T00:00:00Z'), KEY)).toEqual([403, 'AccessDenied']);
    expect(await submit(policyOf([CONDITION], '2026-11-01T00:00:00.001Z'), KEY)).toEqual([204, undefined]);
  });

  test('if it is none, and the page that sent it can read why', async () => {
    const response = await fetch(`${emulator.url}/${BUCKET}`, { method: 'POST', body: 'text' });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('MalformedPOSTRequest')]);
  });
});

test('lets a page that shows the progress of an upload ask first', async () => {
  const response = await fetch(`${emulator.url}/${BUCKET}`, { method: 'OPTIONS' });
  const allowed = ['origin', 'methods'].map((name) => response.headers.get(`access-control-allow-${name}`));
  expect([response.status, ...allowed]).toEqual([200, '*', 'POST']);
});
