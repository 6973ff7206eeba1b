import { describe, expect, test } from '@jest/globals';
import { compileFilter } from '../../../infra/assembly/event-filter.ts';

const record = (eventName: string, event: string) => ({ eventName, dynamodb: { Keys: { event: { S: event } } } });
const pattern = { eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { event: { S: [{ prefix: 'req_' }] } } } };

describe('a filter', () => {
  const passes = compileFilter(pattern, 'Reads');
  test.each([
    [record('INSERT', 'req_1'), true],
    [record('MODIFY', 'req_'), true],
    [record('REMOVE', 'req_1'), false],
    [record('INSERT', '16:40#key_1'), false],
    [{ eventName: 'INSERT' }, false],
    [{ eventName: 'INSERT', dynamodb: { Keys: { event: { N: '1' } } } }, false],
  ])('matches records that match all of its properties: %j %p', (value, expected) => {
    expect(passes(value)).toBe(expected);
  });

  test.each([
    [{ eventName: [{ 'anything-but': 'REMOVE' }] }, 'not by {"anything-but":"REMOVE"} (Reads)'],
    [{ eventName: [{ prefix: 'a', suffix: 'b' }] }, 'not by {"prefix":"a","suffix":"b"}'],
    [{ eventName: [1] }, 'not by 1'],
    [{ eventName: [null] }, 'not by null'],
    [{ eventName: 'INSERT' }, 'not by "INSERT"'],
  ])('throws an error that names an unsupported rule: %j', (unknown, words) => {
    expect(() => compileFilter(unknown, 'Reads')).toThrow(words);
  });
});
