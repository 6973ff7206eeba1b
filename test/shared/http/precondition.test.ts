import { expect, test } from '@jest/globals';
import { expectedVersions } from '../../../shared/http/precondition.ts';
import { eventOf } from '../../support/emulators/api-event.ts';

const versionsIn = (tag: string | undefined) => expectedVersions(eventOf('/', { headers: tag === undefined ? {} : { 'If-Match': tag } }));

test('accepts any version without If-Match or with an asterisk, and with ETags theirs', () => {
  expect([undefined, '*', ' * '].map(versionsIn)).toEqual([undefined, undefined, undefined]);
  expect(versionsIn('"3"')).toEqual([3]);
  expect(versionsIn(' "3", "12" ')).toEqual([3, 12]);
});

test.each(['', ' ', '3', '"x"', '"3",', 'W/"3"', '"1234567890123456"'])('rejects the If-Match %j, and says what was expected', (tag) => {
  expect(() => versionsIn(tag)).toThrow(
    expect.objectContaining({ status: 400, param: 'If-Match', message: expect.stringContaining('ETag of an earlier response') }),
  );
});
