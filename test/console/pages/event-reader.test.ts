import { describe, expect, test } from '@jest/globals';
import { createEventReader, MAX_EVENT_CHARACTERS } from '../../../console/pages/playground/event-reader.ts';

const read = (...parts: readonly string[]): string[] => {
  const reader = createEventReader();
  return parts.flatMap((part) => reader.read(part));
};

const STREAM = ': keep-alive\r\n\r\ndata: {"a":1}\r\n\r\nevent: more\ndata: first\ndata: second\nid: 7\n\ndata:[DONE]\r\r';
const EVENTS = ['{"a":1}', 'first\nsecond', '[DONE]'];

describe('createEventReader', () => {
  test('reads each event, with any line ends, and skips comments and other fields', () => {
    expect(read(`${STREAM}\n`)).toEqual(EVENTS);
  });

  test('reads the same events from a stream that is cut at any character', () => {
    const text = `${STREAM}\n`;
    for (let at = 0; at <= text.length; at++) expect(read(text.slice(0, at), text.slice(at))).toEqual(EVENTS);
    expect(read(...text)).toEqual(EVENTS);
  });

  test('makes no event of one that the end of the stream cuts off', () => {
    expect(read('data: whole\n\ndata: cut')).toEqual(['whole']);
    expect(read('data: whole\n\ndata: cut\n')).toEqual(['whole']);
  });

  test('keeps spaces but the first, and takes data without a value as an empty line', () => {
    expect(read('data:  two\ndata\ndata:\ndatabase: no\n\n\n\n')).toEqual([' two\n\n']);
  });

  test('rejects an event that is too long, in one line or in many', () => {
    const part = 'x'.repeat(MAX_EVENT_CHARACTERS / 4);
    expect(() => read('data: ', part, part, part, part, part)).toThrow(RangeError);
    const reader = createEventReader();
    expect(() => {
      for (let i = 0; i < 5; i++) reader.read(`data: ${part}\n`);
    }).toThrow(RangeError);
    expect(read(`data: ${part}\n\n`, `data: ${part}\n\n`, `data: ${part}\n\n`, `data: ${part}\n\n`, `data: ${part}\n\n`)).toHaveLength(5);
  });
});
