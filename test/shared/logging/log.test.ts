import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ServiceUnavailable } from '../../../shared/http/errors.ts';
import { logError, logInfo, logToStandardError } from '../../../shared/logging/log.ts';

let lines: string[];
beforeEach(() => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
});
afterEach(() => {
  jest.restoreAllMocks();
});

test('writes a message as one line of JSON, with amounts of money as text, also within objects', () => {
  logInfo('request', { cost_nanos: 2n ** 60n, text: 'two\nlines' });
  logInfo('request', { usage: { cost_nanos: 1n }, left_out: undefined });
  expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
  const [first, second] = lines.map((line) => JSON.parse(line));
  expect(first).toMatchObject({ level: 'INFO', message: 'request', cost_nanos: '1152921504606846976', text: 'two\nlines' });
  expect(second).toMatchObject({ level: 'INFO', message: 'request', usage: { cost_nanos: '1' } });
  expect(second).not.toHaveProperty('left_out');
});

test('writes to standard error until a command has ended', () => {
  const errors = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  {
    using _ = logToStandardError();
    logInfo('marked');
  }
  expect(lines).toEqual([]);
  expect(errors).toHaveBeenCalledWith(expect.stringContaining('"marked"'));
  logInfo('request');
  expect(lines).toHaveLength(1);
});

test('writes the name, the message and the place of a failure', () => {
  logError('call_failed', new RangeError('too far'), { request_id: 'r' });
  logError('call_failed', 'a text');
  const [first, second] = lines.map((line) => JSON.parse(line));
  expect(first).toMatchObject({ level: 'ERROR', error: 'RangeError', detail: 'too far', request_id: 'r' });
  expect(first.stack).toContain('log.test.ts');
  expect(second).toMatchObject({ level: 'ERROR', detail: 'a text' });
});

test('writes the causes of a failure, whose own message can be one for callers, unless it repeats them', () => {
  const network = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  logError(
    'call_failed',
    new ServiceUnavailable(new RangeError('Lambda failed: too far', { cause: new Error('too far', { cause: network }) })),
  );
  const { error, detail } = JSON.parse(lines[0] ?? '');
  expect(error).toBe('ServiceUnavailable');
  expect(detail).toMatch(/support ticket\. Cause: RangeError: Lambda failed: too far Cause: Error: socket hang up$/);
});

test('writes of a cause that is a syntax error only the class, and no more than three causes', () => {
  try {
    JSON.parse('pelican-barometer');
  } catch (cause) {
    logError('call_failed', new Error('A reply is not JSON.', { cause }));
  }
  logError(
    'call_failed',
    ['d', 'c', 'b', 'a', 'first'].reduce<unknown>((cause, text) => new Error(text, { cause }), undefined),
  );
  expect(lines.map((line) => JSON.parse(line).detail)).toEqual([
    'A reply is not JSON. Cause: SyntaxError',
    'first Cause: Error: a Cause: Error: b Cause: Error: c',
  ]);
});

test('logs class, position and length of the message of a syntax error, but not the text that it quotes', () => {
  try {
    JSON.parse('pelican-barometer');
  } catch (error) {
    logError('call_failed', error, { request_id: 'r' });
  }
  expect(lines.join('')).not.toContain('pelican');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'ERROR',
    error: 'SyntaxError',
    detail_length: expect.any(Number),
    request_id: 'r',
    stack: expect.stringContaining('log.test.ts'),
  });
});
