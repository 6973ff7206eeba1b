import { describe, expect, test } from '@jest/globals';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { fingerprintOf, idempotencyKeyOf } from '../../../shared/http/idempotency-key.ts';

const event = (fields: object): ApiEvent =>
  ({ resource: '/v1/chat/completions', body: '{}', isBase64Encoded: false, ...fields }) as ApiEvent;
const keyIn = (headers: object) => idempotencyKeyOf(event({ headers }));

describe('the header', () => {
  test.each(['Idempotency-Key', 'idempotency-key', 'IDEMPOTENCY-KEY'])('is read as %s', (name) => {
    expect(keyIn({ [name]: 'order-1' })).toBe('order-1');
  });

  test.each([[{}], [{ 'Idempotency-Key': undefined }], [null]])('can be missing: %j', (headers) => {
    expect(idempotencyKeyOf(event({ headers }))).toBeUndefined();
  });

  test.each(['!', '~', '"quoted"', 'x'.repeat(255)])('can be %s', (key) => {
    expect(keyIn({ 'Idempotency-Key': key })).toBe(key);
  });

  test.each(['', ' ', 'a b', 'a\n', 'a\tb', 'é', '\u007f', '鍵', 'x'.repeat(256)])('is a 400 with %j', (key) => {
    const refused = expect.objectContaining({ status: 400, param: 'Idempotency-Key', code: 'invalid_idempotency_key' });
    expect(() => keyIn({ 'Idempotency-Key': key })).toThrow(refused);
  });
});

describe('the fingerprint', () => {
  const prints = (fields: object) => fingerprintOf(event(fields));

  test('depends on the path and the bytes, however API Gateway encodes them', () => {
    const body = '{"a":"é👋"}';
    expect(prints({ body })).toBe(prints({ body: Buffer.from(body).toString('base64'), isBase64Encoded: true }));
  });

  test('differs for different paths, bodies and similar combinations', () => {
    const all = [
      {},
      { body: '{ }' },
      { body: '' },
      { resource: '/v1/completions' },
      { resource: '/v1/chat/completions\n', body: '{}' },
      { resource: '/v1', body: '/chat/completions\n{}' },
      { body: Buffer.from([0xff]).toString('base64'), isBase64Encoded: true },
      { body: Buffer.from([0xfe]).toString('base64'), isBase64Encoded: true },
    ].map(prints);
    expect(new Set(all).size).toBe(all.length);
  });

  test('is the same with a slash at the end of the path, and with the base path of a custom domain', () => {
    expect(prints({ path: '/v1/chat/completions/' })).toBe(prints({ path: '/v1/chat/completions' }));
    expect(prints({ path: '/llm/v1/chat/completions' })).toBe(prints({}));
  });

  test('is the same for no body and an empty one', () => {
    expect(prints({ body: null })).toBe(prints({ body: '' }));
  });
});
