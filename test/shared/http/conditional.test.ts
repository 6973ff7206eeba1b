import { expect, test } from '@jest/globals';
import { entityTag, unlessKnown } from '../../../shared/http/conditional.ts';
import { eventOf } from '../../support/api-event.ts';

const reply = { statusCode: 200, headers: { 'cache-control': 'public' }, body: 'hello' };
const tag = entityTag('hello');
const statusFor = (known: string): number => unlessKnown(eventOf('/', { headers: { 'If-None-Match': known } }), tag, reply).statusCode;

test('an entity tag is strong, and the same for the same content only', () => {
  expect(tag).toMatch(/^"[\w-]{27}"$/);
  expect(entityTag('hello')).toBe(tag);
  expect(entityTag('hullo')).not.toBe(tag);
});

test('what the caller has already is a 304 without body, under the same headers', () => {
  expect(unlessKnown(eventOf('/', { headers: { 'if-none-match': tag } }), tag, reply)).toEqual({
    statusCode: 304,
    headers: { 'cache-control': 'public', etag: tag },
    body: '',
  });
  expect([tag, `W/${tag}`, `"other", ${tag}`, '*'].map(statusFor)).toEqual([304, 304, 304, 304]);
});

test('what the caller does not have is sent whole', () => {
  expect(unlessKnown(eventOf('/'), tag, reply)).toEqual({ ...reply, headers: { 'cache-control': 'public', etag: tag } });
  expect(['"other"', '', tag.slice(1, -1)].map(statusFor)).toEqual([200, 200, 200]);
});
