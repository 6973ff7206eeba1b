import { expect, test } from '@jest/globals';
import { entityTag, unlessKnown } from '../../../shared/http/conditional.ts';
import { eventOf } from '../../support/emulators/api-event.ts';

const reply = { statusCode: 200, headers: { 'cache-control': 'public' }, body: 'hello' };
const tag = entityTag('hello');
const statusFor = (known: string): number => unlessKnown(eventOf('/', { headers: { 'If-None-Match': known } }), tag, reply).statusCode;

test('makes a strong entity tag, the same only for the same content', () => {
  expect(tag).toMatch(/^"[\w-]{27}"$/);
  expect(entityTag('hello')).toBe(tag);
  expect(entityTag('hullo')).not.toBe(tag);
});

test('replies 304 without a body, with the same headers, for a version that the caller has', () => {
  expect(unlessKnown(eventOf('/', { headers: { 'if-none-match': tag } }), tag, reply)).toEqual({
    statusCode: 304,
    headers: { 'cache-control': 'public', etag: tag },
    body: '',
  });
  expect([tag, `W/${tag}`, `"other", ${tag}`, '*'].map(statusFor)).toEqual([304, 304, 304, 304]);
});

test('sends a version that the caller does not have', () => {
  expect(unlessKnown(eventOf('/'), tag, reply)).toEqual({ ...reply, headers: { 'cache-control': 'public', etag: tag } });
  expect(['"other"', '', tag.slice(1, -1)].map(statusFor)).toEqual([200, 200, 200]);
});
